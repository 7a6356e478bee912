"""What the tests of this folder say often."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backends.diffusers_flux import DiffusersFlux
from backends.onnx_flux import OnnxFlux
from cascade.jobs import Artifact
from cascade.plans import PoolName, Stage, VariantName
from cascade.ports import Backend

BUNDLED = Path(__file__).parents[2] / "shapes" / "weights"
KINDS = ("onnx", "diffusers")


def open_backend(kind: str, folder: Path) -> Backend:
    return OnnxFlux(folder, threads=1) if kind == "onnx" else DiffusersFlux(folder, threads=1)


def stage(steps: int = 3, guidance: float | None = None) -> Stage:
    return Stage(
        variant=VariantName("tiny"),
        pool=PoolName("tiny"),
        steps=steps,
        guidance=guidance,
        weights="",
        discriminator=None,
        threshold=0,
        predicted_gpu_ms=0,
        ceiling_gpu_ms=0,
    )


def pixels(artifact: Artifact) -> NDArray[np.int16]:
    """[H, W, 3] in 0..255, of a kind that can be subtracted."""
    return np.asarray(Image.open(io.BytesIO(artifact.content)), np.int16)
