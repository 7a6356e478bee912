"""Everything on one machine: `maquette up`, its embedded Valkey, its demo, and a small client of our own API."""
