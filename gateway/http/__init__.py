"""The wire: what `gateway.app` is made of. Nothing outside this folder and `gateway.app` knows HTTP."""
