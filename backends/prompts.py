"""Prompts to what a Flux transformer attends to: CLIP's pooled vector and T5's sequence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from backends.flux_folder import FluxFolder
from backends.networks import Network
from cascade.errors import GenerationError
from cascade.model_folder import ModelFolder

REMEMBERED = 128
"""Prompts whose embeddings are kept; a cascade's seeds and retries come back to the same prompt."""


@dataclass(frozen=True, slots=True)
class PromptEmbeddings:
    """A prompt as the transformer sees it.

    Attributes:
        pooled: [1, D] float32 of CLIP.
        sequence: [1, T, D] float32 of T5.
    """

    pooled: NDArray[np.float32]
    sequence: NDArray[np.float32]


class PromptEncoder:
    """Both text encoders of a Flux folder, through ONNX. Used by one thread at a time."""

    def __init__(self, folder: FluxFolder, threads: int) -> None:
        files = folder.files
        clip_length = files.settings("tokenizer/tokenizer_config.json").whole("model_max_length")
        self._clip_tokens = _load_tokenizer(files, "tokenizer/tokenizer.json", clip_length)
        self._t5_tokens = _load_tokenizer(files, "tokenizer_2/tokenizer.json", folder.sequence)
        self._clip = Network(files, "onnx/text_encoder.onnx", frozenset({"input_ids"}), threads)
        self._t5 = Network(files, "onnx/text_encoder_2.onnx", frozenset({"input_ids", "attention_mask"}), threads)
        self.encode = lru_cache(maxsize=REMEMBERED)(self._encode)

    def _encode(self, prompt: str) -> PromptEmbeddings:
        """The embeddings of `prompt`, cut to the tokenizers' lengths.

        Raises:
            GenerationError: an encoder failed, or the prompt is not Unicode text.
        """
        clip_ids = _ids(self._clip_tokens, prompt)
        t5_ids = _ids(self._t5_tokens, prompt)
        # FluxPipeline gives T5 no mask, which attends to the padding too: all ones.
        sequence = self._t5.run({"input_ids": t5_ids, "attention_mask": np.ones_like(t5_ids)})
        return PromptEmbeddings(pooled=self._clip.run({"input_ids": clip_ids}), sequence=sequence)


def _load_tokenizer(files: ModelFolder, name: str, length: int) -> Tokenizer:
    """A tokenizer that pads and cuts to exactly `length`, the way its file says.

    Raises:
        ModelFilesError: the file is missing or corrupt, or says no way.
    """
    try:
        tokenizer = Tokenizer.from_buffer(files.read(name))
    except ValueError as error:
        raise files.broken(name, "is not a tokenizer") from error
    if tokenizer.padding is None:
        raise files.broken(name, "does not say how to pad")
    tokenizer.enable_truncation(length)
    tokenizer.enable_padding(**{**tokenizer.padding, "length": length})
    return tokenizer


def _ids(tokenizer: Tokenizer, prompt: str) -> NDArray[np.int64]:
    """[1, T] int64 token ids."""
    try:
        return np.array([tokenizer.encode(prompt).ids], np.int64)
    except TypeError as error:  # how tokenizers refuses lone surrogates
        raise GenerationError("The prompt is not valid Unicode text.") from error
