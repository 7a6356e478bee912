"""A small picture nobody asked for, drawn so that the first caller does not wait for lazy initialisation."""

from __future__ import annotations

from backends.flux_folder import FluxFolder
from cascade.plans import PoolName, Stage, VariantName
from cascade.requests import GenerationRequest


def rehearsal(folder: FluxFolder) -> tuple[GenerationRequest, Stage]:
    """One step of an empty prompt at the model's native size."""
    width, height = folder.native
    stage = Stage(
        variant=VariantName("rehearsal"),
        pool=PoolName("rehearsal"),
        steps=1,
        guidance=None,
        weights="",
        discriminator=None,
        threshold=0,
        predicted_gpu_ms=0,
        ceiling_gpu_ms=0,
    )
    return GenerationRequest(prompt="", width=width, height=height, seed=0), stage


def unheard(done: int, total: int) -> None:
    """A progress listener that does not listen."""
