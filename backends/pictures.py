"""Pixels to deterministic PNG bytes, rounded as by diffusers' VaeImageProcessor."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cascade.errors import GenerationError
from cascade.jobs import Artifact


def to_artifact(pixels: NDArray[np.float32]) -> Artifact:
    """Encode one picture.

    Args:
        pixels: [3, H, W] float32, nominally in -1..1; what lies outside is clamped.

    Raises:
        GenerationError: a pixel is not a number.
    """
    if not np.isfinite(pixels).all():
        raise GenerationError("The model drew pixels that are not numbers. Try another seed or fewer steps.")
    unit = np.clip(pixels * np.float32(0.5) + np.float32(0.5), 0, 1).transpose(1, 2, 0)  # [H, W, 3] in 0..1
    image = Image.fromarray((unit * np.float32(255)).round().astype(np.uint8))
    stream = io.BytesIO()
    image.save(stream, "PNG")  # no metadata: the same pixels give the same bytes
    return Artifact(content=stream.getvalue(), width=image.width, height=image.height)
