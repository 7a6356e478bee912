"""What the tests of this folder say often."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from cascade.jobs import Artifact
from cascade.requests import GenerationRequest

BUNDLED = Path(__file__).parents[2] / "shapes" / "weights"
PROMPTS = ("", "a red circle", "a red circle above the blue square", "an unknown zebra", "red " * 60)
SIZES = ((64, 64), (32, 32), (96, 64), (64, 96), (47, 31))


def request(prompt: str) -> GenerationRequest:
    return GenerationRequest(prompt, 64, 64, 0)


def picture(seed: int, width: int, height: int) -> Artifact:
    """Coloured blocks, so that resizing has something to do."""
    blocks = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(blocks).resize((width, height), Image.Resampling.BILINEAR).save(stream, "PNG")
    return Artifact(stream.getvalue(), width, height)
