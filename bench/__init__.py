"""Measurements of this machine and these models. Every figure in the documentation comes from one of them."""
