"""Flux latents: a token of the transformer is a 2×2 patch of the autoencoder's latents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pack(latents: NDArray[np.float32]) -> NDArray[np.float32]:
    """[B, C, h, w] latents, sides even, to [B, h/2 · w/2, 4C] tokens in reading order."""
    batch, channels, height, width = latents.shape
    patches = latents.reshape(batch, channels, height // 2, 2, width // 2, 2).transpose(0, 2, 4, 1, 3, 5)
    return np.ascontiguousarray(patches).reshape(batch, (height // 2) * (width // 2), channels * 4)


def unpack(tokens: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    """[B, h/2 · w/2, 4C] tokens back to [B, C, h, w] latents of `height` by `width`."""
    batch, _, channels = tokens.shape
    patches = tokens.reshape(batch, height // 2, width // 2, channels // 4, 2, 2).transpose(0, 3, 1, 4, 2, 5)
    return np.ascontiguousarray(patches).reshape(batch, channels // 4, height, width)


def image_ids(height: int, width: int) -> NDArray[np.float32]:
    """[h/2 · w/2, 3] where each token lies: (0, row, column), for latents of `height` by `width`."""
    rows, columns = np.indices((height // 2, width // 2), dtype=np.float32)
    return np.stack((np.zeros_like(rows), rows, columns), axis=-1).reshape(-1, 3)
