"""A CLIP of an open_clip folder through ONNX: pictures and prompts to unit vectors of one space."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from tokenizers import Tokenizer
from typing_extensions import override

from cascade.errors import DiscriminatorError
from cascade.model_folder import ModelFolder, Settings
from discriminators.embeddings import Embeddings
from discriminators.networks import Network
from discriminators.pictures import decode

REMEMBERED = 256
"""Prompts whose embeddings are kept: all pictures of a request, and its stages, share one."""

_CHANNELS = 3


class ClipEmbeddings(Embeddings):
    """Both towers of one CLIP, without torch."""

    def __init__(self, folder: Path, threads: int) -> None:
        """Load the towers.

        Args:
            folder: an open_clip folder with `onnx/` graphs and `maquette.json`, which gives `embedding_width` and, when
                the image graph also gives pooled patches, `feature_width`.
            threads: CPU threads within one operator.

        Raises:
            ModelFilesError: the folder is missing, incomplete or corrupt.
        """
        files = ModelFolder(folder)
        ours = files.settings("maquette.json")
        self.digest = ours.text("digest")
        self.width = ours.whole("embedding_width")
        self.feature_width = ours.whole("feature_width", self.width)
        if not 0 < self.width <= self.feature_width:
            raise files.broken(ours.name, "must give embedding_width above 0 and feature_width no smaller")
        self._side = ours.whole("image_size")
        self._squash = _squashes(files.settings("open_clip_config.json").inner("preprocess_cfg"))
        self._mean = np.array(ours.numbers("mean"), np.float32)
        self._std = np.array(ours.numbers("std"), np.float32)
        if self._mean.shape != (_CHANNELS,) or self._std.shape != (_CHANNELS,) or not self._std.all():
            raise files.broken(ours.name, "must give mean and std as three numbers each")
        self._tokens = _load_tokenizer(files, "tokenizer.json", ours.whole("context_length"))
        self._image = Network(files, "onnx/image.onnx", frozenset({"pixels"}), threads)
        self._text = Network(files, "onnx/text.onnx", frozenset({"input_ids"}), threads)
        self._image.require_output_width(self.feature_width)
        self._text.require_output_width(self.width)
        self._remembered = lru_cache(maxsize=REMEMBERED)(self._embed_text)

    @override
    def image(self, content: bytes) -> NDArray[np.float32]:
        return self._image.run({"pixels": self._to_pixels(decode(content))})

    @override
    def text(self, prompt: str) -> NDArray[np.float32]:
        return self._remembered(prompt)

    def _embed_text(self, prompt: str) -> NDArray[np.float32]:
        try:
            ids = self._tokens.encode(prompt).ids
        except TypeError as error:  # how tokenizers refuses lone surrogates
            raise DiscriminatorError("The prompt is not valid Unicode text.") from error
        return self._text.run({"input_ids": np.array([ids], np.int64)})

    def _to_pixels(self, picture: Image.Image) -> NDArray[np.float32]:
        """[1, 3, S, S] float32, normalised, the way of open_clip's inference transform."""
        unit = np.asarray(self._fit(picture), np.float32) / np.float32(255)  # [S, S, 3] in 0..1
        return ((unit - self._mean) / self._std).transpose(2, 0, 1)[np.newaxis]

    def _fit(self, picture: Image.Image) -> Image.Image:
        """The picture at S by S: its shorter side resized and its middle cut out, or squashed."""
        side = self._side
        if self._squash:
            return picture if picture.size == (side, side) else picture.resize((side, side), Image.Resampling.BICUBIC)
        shorter = min(picture.size)
        width, height = (side * length // shorter for length in picture.size)
        if picture.size != (width, height):
            picture = picture.resize((width, height), Image.Resampling.BICUBIC)
        left, top = round((width - side) / 2), round((height - side) / 2)
        return picture.crop((left, top, left + side, top + side))


def _squashes(preprocess: Settings) -> bool:
    """Whether pictures are squashed to a square; open_clip's default keeps their middle.

    Raises:
        ModelFilesError: it is done in yet another way.
    """
    mode = preprocess.text("resize_mode", "shortest")
    if mode not in {"shortest", "squash"} or preprocess.text("interpolation", "bicubic") != "bicubic":
        raise preprocess.folder.broken(preprocess.name, "must give resize_mode as shortest or squash, and bicubic")
    return mode == "squash"


def _load_tokenizer(files: ModelFolder, name: str, length: int) -> Tokenizer:
    """The tokenizer stored in `name`, which pads and cuts to `length`.

    Raises:
        ModelFilesError: the file is missing or corrupt, or has another length stored.
    """
    try:
        tokenizer = Tokenizer.from_buffer(files.read(name))
    except ValueError as error:
        raise files.broken(name, "is not a tokenizer") from error
    if (tokenizer.padding or {}).get("length") != length or (tokenizer.truncation or {}).get("max_length") != length:
        raise files.broken(name, f"must pad and truncate to the context length, {length}")
    return tokenizer
