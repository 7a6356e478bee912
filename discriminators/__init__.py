"""Judges pixels: adapters of the cascade's `Discriminator` port.

Knows nothing of thresholds, tenants or engines. Start with `clip_head.py`.
"""
