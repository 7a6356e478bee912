"""The engine without torch: FluxPipeline's sampling in numpy over ONNX graphs.

Draws the picture that plain diffusers draws for the same folder, prompt and seed; `tests/backends` holds it to that.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from backends.flow_match import euler_step, timestep
from backends.flux_folder import read_flux_folder
from backends.latents import image_ids, pack, unpack
from backends.networks import Network
from backends.noise import standard_normal
from backends.pictures import to_artifact
from backends.prompts import PromptEmbeddings, PromptEncoder
from backends.rehearsal import rehearsal, unheard
from cascade.jobs import Artifact
from cascade.plans import Stage
from cascade.ports import Backend, OnStep
from cascade.requests import GenerationRequest
from cascade.threads import StoppedError, in_thread

_TRANSFORMER_INPUTS = frozenset(
    {
        "hidden_states",
        "encoder_hidden_states",
        "pooled_projections",
        "timestep",
        "img_ids",
        "txt_ids",
        "guidance",
    }
)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the transformer is told at every step.

    Attributes:
        wanted: the prompt.
        unwanted: the negative prompt, or `None`.
        scale: how strongly to move from `unwanted` to `wanted`.
        guidance: [1] float32, the transformer's own guidance scale.
        places: [N, 3] float32 where the image tokens lie.
    """

    wanted: PromptEmbeddings
    unwanted: PromptEmbeddings | None
    scale: float
    guidance: NDArray[np.float32]
    places: NDArray[np.float32]


class OnnxFlux(Backend):
    """A FluxPipeline folder with `onnx/` graphs, on the CPU, one picture at a time."""

    def __init__(self, folder: Path, threads: int) -> None:
        """Load the graphs.

        Args:
            folder: the model folder.
            threads: CPU threads within one operator.

        Raises:
            ModelFilesError: the folder is missing, incomplete or corrupt.
        """
        self._folder = read_flux_folder(folder)
        files = self._folder.files
        self._prompts = PromptEncoder(self._folder, threads)
        self._transformer = Network(files, "onnx/transformer.onnx", _TRANSFORMER_INPUTS, threads)
        self._decoder = Network(files, "onnx/vae_decoder.onnx", frozenset({"latents"}), threads)
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
        folder = self._folder
        height, width = request.height // folder.reduction, request.width // folder.reduction
        wish = self._wish(request, stage, image_ids(height, width))
        tokens = pack(standard_normal(seed, (1, folder.channels, height, width)))
        sigmas = folder.schedule.sigmas(stage.steps, tokens.shape[1])
        for done, (sigma, following) in enumerate(pairwise(sigmas), start=1):
            if stop.is_set():
                raise StoppedError
            tokens = euler_step(tokens, self._velocity(tokens, sigma, wish), sigma, following)
            on_step(done, stage.steps)
        if stop.is_set():
            raise StoppedError
        latents = unpack(tokens, height, width) / np.float32(folder.scaling) + np.float32(folder.shift)
        return to_artifact(self._decoder.run({"latents": latents})[0])

    def _wish(self, request: GenerationRequest, stage: Stage, places: NDArray[np.float32]) -> _Wish:
        scale = self._folder.negative_scale(stage)
        avoid = bool(request.negative_prompt) and scale > 1
        return _Wish(
            wanted=self._prompts.encode(request.prompt),
            unwanted=self._prompts.encode(request.negative_prompt) if avoid else None,
            scale=scale,
            guidance=np.array([self._folder.guidance(stage)], np.float32),
            places=places,
        )

    def _velocity(self, tokens: NDArray[np.float32], sigma: np.float32, wish: _Wish) -> NDArray[np.float32]:
        """[1, N, 4C] velocity of the [1, N, 4C] tokens at noise level `sigma`."""
        wanted = self._evaluate(tokens, sigma, wish, wish.wanted)
        if wish.unwanted is None:
            return wanted
        unwanted = self._evaluate(tokens, sigma, wish, wish.unwanted)
        return unwanted + np.float32(wish.scale) * (wanted - unwanted)

    def _evaluate(
        self, tokens: NDArray[np.float32], sigma: np.float32, wish: _Wish, prompt: PromptEmbeddings
    ) -> NDArray[np.float32]:
        return self._transformer.run(
            {
                "hidden_states": tokens,
                "encoder_hidden_states": prompt.sequence,
                "pooled_projections": prompt.pooled,
                "timestep": timestep(sigma),
                "img_ids": wish.places,
                "txt_ids": np.zeros((prompt.sequence.shape[1], 3), np.float32),
                "guidance": wish.guidance,
            }
        )
