"""Does the cascade earn its discriminator? Measured on prompts that no model was trained on, read by the oracle.

The measurement behind `maquette bench cascade`. Start with `run.py`; what is compared with what stands in
`policies.py`, and every figure in `figures.py`.
"""
