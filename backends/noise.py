"""The normal noise that torch's CPU generator draws, without torch: one seed, one picture, whatever the engine."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

LEAST = 16
"""torch fills smaller tensors by another method; no latent is that small."""

_HALF = 8


def standard_normal(seed: int, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """What `torch.randn(shape, generator=torch.Generator("cpu").manual_seed(seed))` returns, to 1e-6.

    Args:
        seed: 0 … 2**32 - 1; torch's generator reads no more bits of it.
        shape: at least `LEAST` numbers in all.

    Raises:
        ValueError: the shape holds fewer numbers, or the seed is outside its range.
    """
    size = math.prod(shape)
    if size < LEAST:
        raise ValueError(f"at least {LEAST} numbers, got {size}")
    rest = size % LEAST
    # numpy's legacy generator: its stream is frozen, and is the Mersenne twister that torch seeds.
    twister = np.random.RandomState(seed)
    words = twister.randint(0, 2**32, size + (LEAST if rest else 0), dtype=np.uint32)
    uniforms = (words & np.uint32(2**24 - 1)).astype(np.float32) * np.float32(2**-24)  # [0, 1)
    normals = np.empty(size, np.float32)
    normals[: size - rest] = _box_muller(uniforms[: size - rest])
    if rest:  # torch draws the last sixteen anew, over some that it had already drawn
        normals[size - LEAST :] = _box_muller(uniforms[size:])
    return normals.reshape(shape)


def _box_muller(uniforms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Blocks of sixteen uniforms, the first eight for the radius, the others for the angle, to sixteen normals."""
    blocks = uniforms.reshape(-1, 2, _HALF)
    radius = np.sqrt(np.float32(-2) * np.log(np.float32(1) - blocks[:, 0]))
    angle = np.float32(2 * math.pi) * blocks[:, 1]
    return np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1).reshape(-1)
