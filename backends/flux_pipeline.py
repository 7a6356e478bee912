"""diffusers' FluxPipeline with progress, a hard cancel and our errors.

Imports torch, so only `diffusers_flux` may import it, and late.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from diffusers import FluxPipeline
from diffusers.utils import logging as diffusers_logging
from numpy.typing import NDArray
from safetensors import SafetensorError
from transformers.utils import logging as transformers_logging

from backends.flux_folder import FluxFolder
from cascade.errors import GenerationError, ModelFilesError
from cascade.plans import Stage
from cascade.ports import OnStep
from cascade.requests import GenerationRequest
from cascade.threads import StoppedError

LOAD_ERRORS = (
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    KeyError,
    ImportError,
    AssertionError,
    SafetensorError,
)
"""diffusers and transformers have no error of their own; a torch built without CUDA asserts."""

RUN_ERRORS = (RuntimeError, ValueError, TypeError, IndexError, MemoryError)
"""torch.OutOfMemoryError is a RuntimeError."""


class Pipeline:
    """A loaded FluxPipeline. One thread at a time: its scheduler counts steps."""

    def __init__(self, folder: FluxFolder, threads: int, device: str) -> None:
        """Load from local safetensors only.

        Raises:
            ModelFilesError: diffusers cannot load the folder, or torch has no such device.
        """
        _hush()
        torch.set_num_threads(threads)
        self._folder = folder
        try:
            self._pipeline: Any = FluxPipeline.from_pretrained(
                folder.files.path,
                dtype=torch.float32 if torch.device(device).type == "cpu" else torch.bfloat16,
                local_files_only=True,
                use_safetensors=True,
            ).to(device)
        except LOAD_ERRORS as error:
            raise ModelFilesError(
                f"diffusers cannot load model folder {folder.files.path.name} on {device} ({type(error).__name__}). "
                "Compare its configurations with its weights."
            ) from error
        self._pipeline.set_progress_bar_config(disable=True)

    def draw(
        self, request: GenerationRequest, stage: Stage, seed: int, on_step: OnStep, stop: threading.Event
    ) -> NDArray[np.float32]:
        """Draw one picture.

        Returns:
            [3, H, W] float32, nominally in -1..1.

        Raises:
            GenerationError: torch or diffusers failed.
            StoppedError: `stop` was set; the pipeline is as if the call had not been made.
        """
        with torch.no_grad(), self._as_generation_errors():
            latents = self._denoise(request, stage, seed, on_step, stop)
            if stop.is_set():
                raise StoppedError
            return self._decode(latents, request)

    def _denoise(
        self, request: GenerationRequest, stage: Stage, seed: int, on_step: OnStep, stop: threading.Event
    ) -> torch.Tensor:
        """[1, N, 4C] final latents, still packed: decoding is a step of its own, so that a cancel can forgo it."""

        def after_step(_: Any, index: int, __: Any, tensors: dict[str, Any]) -> dict[str, Any]:
            on_step(index + 1, stage.steps)
            if stop.is_set():
                raise StoppedError
            return tensors

        if stop.is_set():
            raise StoppedError
        latents: torch.Tensor = self._pipeline(
            prompt=request.prompt,
            negative_prompt=request.negative_prompt or None,
            true_cfg_scale=self._folder.negative_scale(stage),
            width=request.width,
            height=request.height,
            num_inference_steps=stage.steps,
            guidance_scale=self._folder.guidance(stage),
            generator=torch.Generator("cpu").manual_seed(seed),
            max_sequence_length=self._folder.sequence,
            output_type="latent",
            callback_on_step_end=after_step,
        ).images
        return latents

    def _decode(self, latents: torch.Tensor, request: GenerationRequest) -> NDArray[np.float32]:
        """[3, H, W] float32 pixels of [1, N, 4C] latents, exactly as the pipeline's own last lines do it."""
        vae = self._pipeline.vae
        unpacked = self._pipeline._unpack_latents(  # noqa: SLF001  (no public way to decode in a second step)
            latents, request.height, request.width, self._pipeline.vae_scale_factor
        )
        pixels: torch.Tensor = vae.decode(unpacked / self._folder.scaling + self._folder.shift, return_dict=False)[0]
        return np.asarray(pixels[0].float().cpu().numpy(), np.float32)

    @contextmanager
    def _as_generation_errors(self) -> Iterator[None]:
        """Translate the libraries' errors; after any, give offloaded modules their places back."""
        try:
            yield
        except RUN_ERRORS as error:
            self._pipeline.maybe_free_model_hooks()
            raise GenerationError(f"The engine failed on this picture ({type(error).__name__}).") from error
        except StoppedError:
            self._pipeline.maybe_free_model_hooks()
            raise


def _hush() -> None:
    """No progress bars, and no warnings: those about long prompts print the prompt."""
    diffusers_logging.disable_progress_bar()
    diffusers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()
