"""Makes pixels: adapters of the cascade's `Backend` port, one file per engine.

Knows nothing of tenants, queues or HTTP. Start with `onnx_flux.py`, the engine that needs no torch;
`diffusers_flux.py` draws the same picture with plain diffusers.
"""
