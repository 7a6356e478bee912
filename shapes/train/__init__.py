"""Trainers of the tiny world's models: `python -m shapes.train <what>`.

One stage per module, each seeded, resumable, and reading only what earlier stages left in the run folder:
`autoencoder` → `latents` → `dev` → `schnell`, `clip` beside them, then `pairs` → `head` → `export` → `evaluate`.
Needs torch, diffusers, transformers, open_clip and onnx; nothing else in the project imports this package.
"""
