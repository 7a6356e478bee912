"""The engine with torch: any Flux-class folder through diffusers' own FluxPipeline, in this process.

Importing this module imports no torch; constructing the class does.
"""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from pathlib import Path

from typing_extensions import override

from backends.flux_folder import read_flux_folder
from backends.pictures import to_artifact
from backends.rehearsal import rehearsal, unheard
from cascade.errors import ModelFilesError
from cascade.jobs import Artifact
from cascade.plans import Stage
from cascade.ports import Backend, OnStep
from cascade.requests import GenerationRequest
from cascade.threads import in_thread

_WEIGHTS = (
    "text_encoder/model",
    "text_encoder_2/model",
    "transformer/diffusion_pytorch_model",
    "vae/diffusion_pytorch_model",
)


class DiffusersFlux(Backend):
    """A FluxPipeline folder on a torch device, one picture at a time."""

    def __init__(self, folder: Path, threads: int, device: str = "cpu") -> None:
        """Load the pipeline: float32 on the CPU, bfloat16 elsewhere.

        Args:
            folder: the model folder.
            threads: CPU threads of torch. Torch has one such number per process, so this sets it for all.
            device: a torch device.

        Raises:
            ModelFilesError: the folder is missing, incomplete or corrupt, or torch and diffusers are not installed.
        """
        self._folder = read_flux_folder(folder)
        for stem in _WEIGHTS:
            self._folder.files.check_weights(stem)
        try:
            from backends.flux_pipeline import Pipeline  # noqa: PLC0415  (torch, only for who draws with it)
        except ModuleNotFoundError as error:
            raise ModelFilesError(
                f"The diffusers backend needs {error.name}: install the `engine` extra, maquette[engine]."
            ) from error
        self._pipeline = Pipeline(self._folder, threads, device)
        self._one_at_a_time = asyncio.Lock()

    @override
    async def generate(self, request: GenerationRequest, stage: Stage, seed: int, on_step: OnStep) -> Artifact:
        self._folder.check_size(request.width, request.height)
        async with self._one_at_a_time:
            return await in_thread(partial(self._draw, request, stage, seed, on_step))

    @override
    async def warm_up(self) -> None:
        request, stage = rehearsal(self._folder)
        await self.generate(request, stage, request.seed, unheard)

    def _draw(
        self, request: GenerationRequest, stage: Stage, seed: int, on_step: OnStep, stop: threading.Event
    ) -> Artifact:
        return to_artifact(self._pipeline.draw(request, stage, seed, on_step, stop))
