"""transformers' CLIPModel and its processor with our errors.

Imports torch, so only `pickscore` may import it, and late.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import CLIPModel, CLIPProcessor
from transformers.utils import logging as transformers_logging

from cascade.errors import DiscriminatorError, ModelFilesError
from cascade.model_folder import ModelFolder
from discriminators.torch_errors import LOAD_ERRORS, RUN_ERRORS

_TOKENS = 77
_OLD_BUFFER = "position_ids"
"""Saved among the weights by transformers before 4.31, with which PickScore was published."""


class PickScoreModel:
    """A loaded CLIPModel in evaluation mode, float32."""

    def __init__(self, files: ModelFolder, threads: int, device: str) -> None:
        """Load from local safetensors only.

        Raises:
            ModelFilesError: transformers cannot load the folder, its weights are not those of its configuration, or
                torch has no such device.
        """
        if files.settings("config.json").text("model_type", "") != "clip":
            raise files.broken("config.json", "must give model_type as clip")
        transformers_logging.set_verbosity_error()  # warnings about long prompts
        transformers_logging.disable_progress_bar()
        torch.set_num_threads(threads)
        self._device = device
        self._tokenizing = threading.Lock()  # a tokenizer that is asked from two threads at once refuses
        try:
            self._processor: Any = CLIPProcessor.from_pretrained(files.path, local_files_only=True)
            self._model, report = CLIPModel.from_pretrained(
                files.path,
                local_files_only=True,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
            )
            self._model.eval().to(device)
        except LOAD_ERRORS as error:
            raise ModelFilesError(
                f"transformers cannot load model folder {files.path.name} on {device} ({type(error).__name__}). "
                "It must hold a CLIPModel and the files of its processor."
            ) from error
        unknown = [name for name in report["unexpected_keys"] if not name.endswith(_OLD_BUFFER)]
        if unknown or report["missing_keys"] or report["mismatched_keys"]:
            raise files.broken("model.safetensors", "does not hold the weights that config.json describes")
        self.scale = float(self._model.logit_scale.detach().exp())
        """exp(logit_scale): what a cosine is multiplied by."""

    def image(self, picture: Image.Image) -> NDArray[np.float32]:
        """[D] float32 of length 1.

        Raises:
            DiscriminatorError: torch failed.
        """
        try:
            pixels = self._processor(images=picture, return_tensors="pt")["pixel_values"].to(self._device)
            with torch.inference_mode():
                return _unit(self._model.get_image_features(pixels))
        except RUN_ERRORS as error:
            raise DiscriminatorError(f"PickScore failed on this picture ({type(error).__name__}).") from error

    def text(self, prompt: str) -> NDArray[np.float32]:
        """[D] float32 of length 1, of at most 77 tokens of the prompt.

        Raises:
            DiscriminatorError: it is not Unicode text, or torch failed.
        """
        try:
            prompt.encode()
            with self._tokenizing:
                tokens = self._processor(
                    text=prompt, padding=True, truncation=True, max_length=_TOKENS, return_tensors="pt"
                )
            with torch.inference_mode():
                return _unit(self._model.get_text_features(**tokens.to(self._device)))
        except UnicodeEncodeError as error:  # a lone surrogate
            raise DiscriminatorError("The prompt is not valid Unicode text.") from error
        except RUN_ERRORS as error:
            raise DiscriminatorError(f"PickScore failed on this prompt ({type(error).__name__}).") from error


def _unit(output: Any) -> NDArray[np.float32]:
    """The projected vector of a tower, normalised."""
    features = torch.nn.functional.normalize(output.pooler_output, dim=-1)
    return np.asarray(features[0].float().cpu().numpy(), np.float32)
