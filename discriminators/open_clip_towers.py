"""open_clip's two towers with our errors.

Imports torch, so only `open_clip_embeddings` may import it, and late.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import open_clip
import torch
from numpy.typing import NDArray
from open_clip.transformer import VisionTransformer
from PIL import Image
from transformers.utils import logging as transformers_logging

from cascade.errors import DiscriminatorError, ModelFilesError
from cascade.model_folder import ModelFolder
from discriminators.torch_errors import LOAD_ERRORS, RUN_ERRORS


class Towers:
    """A loaded CLIP in evaluation mode, float32."""

    def __init__(self, files: ModelFolder, threads: int, device: str) -> None:
        """Load from the folder only, and embed one picture and one prompt to see that both towers work.

        Raises:
            ModelFilesError: open_clip cannot load the folder, or torch has no such device.
        """
        transformers_logging.set_verbosity_error()  # warnings about long prompts
        torch.set_num_threads(threads)
        source = f"local-dir:{files.path}"
        try:
            self._model, _, self._preprocess = open_clip.create_model_and_transforms(source, device=device)
            self._tokens = open_clip.get_tokenizer(source)
        except LOAD_ERRORS as error:
            raise ModelFilesError(
                f"open_clip cannot load model folder {files.path.name} on {device} ({type(error).__name__}). "
                "Compare its open_clip_config.json with its weights and tokenizer."
            ) from error
        self._model.eval()
        self._device = device
        self._tokenizing = threading.Lock()  # a tokenizer that is asked from two threads at once refuses
        self._shows_patches = _shows_patches(self._model.visual)
        self._rehearse(files)

    def image(self, picture: Image.Image) -> NDArray[np.float32]:
        """[1, F] float32: the unit embedding, then the patches' mean and maximum if there are patches.

        Raises:
            DiscriminatorError: torch failed.
        """
        try:
            with torch.inference_mode():
                pixels = self._preprocess(picture)[None].to(self._device)
                return _to_numpy(self._features(pixels))
        except RUN_ERRORS as error:
            raise DiscriminatorError(f"open_clip failed on this picture ({type(error).__name__}).") from error

    def text(self, prompt: str) -> NDArray[np.float32]:
        """[1, D] float32 of length 1.

        Raises:
            DiscriminatorError: it is not Unicode text, or torch failed.
        """
        try:
            prompt.encode()
            with self._tokenizing:
                ids = self._tokens([prompt])
            with torch.inference_mode():
                return _to_numpy(self._model.encode_text(ids.to(self._device), normalize=True))
        except UnicodeEncodeError as error:  # a lone surrogate
            raise DiscriminatorError("The prompt is not valid Unicode text.") from error
        except RUN_ERRORS as error:
            raise DiscriminatorError(f"open_clip failed on this prompt ({type(error).__name__}).") from error

    def _features(self, pixels: torch.Tensor) -> torch.Tensor:
        if not self._shows_patches:
            whole: torch.Tensor = self._model.encode_image(pixels, normalize=True)
            return whole
        embedding, patches = self._model.visual(pixels)  # [1, D] and [1, N, W]
        unit = torch.nn.functional.normalize(embedding, dim=-1)
        return torch.cat((unit, patches.mean(dim=1), patches.amax(dim=1)), dim=-1)

    def _rehearse(self, files: ModelFolder) -> None:
        try:
            features, text = self.image(Image.new("RGB", (64, 64))), self.text("a")
        except DiscriminatorError as error:
            raise files.broken("open_clip_config.json", "does not fit the weights and the tokenizer") from error
        self.width, self.feature_width = text.shape[-1], features.shape[-1]
        if features.ndim != 2 or self.feature_width < self.width:  # noqa: PLR2004
            raise files.broken("open_clip_config.json", "makes towers of two widths")


def _shows_patches(visual: Any) -> bool:
    """Have a vision transformer return its patches too; other towers, and pooled ones, have none to show."""
    if not isinstance(visual, VisionTransformer) or visual.attn_pool is not None:
        return False
    visual.output_tokens = True
    return True


def _to_numpy(tensor: torch.Tensor) -> NDArray[np.float32]:
    return np.asarray(tensor.float().cpu().numpy(), np.float32)
