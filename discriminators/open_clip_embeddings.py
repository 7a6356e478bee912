"""A CLIP of an open_clip folder through torch: any architecture that open_clip builds, on any torch device.

Importing this module imports no torch; constructing the class does.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from cascade.model_folder import ModelFolder
from discriminators.clip_embeddings import REMEMBERED
from discriminators.embeddings import Embeddings
from discriminators.engine_extra import needed_for
from discriminators.pictures import decode

CONFIG = "open_clip_config.json"
_USUAL_NAMES = (
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
    "open_clip_pytorch_model.bin",
    "open_clip_pytorch_model.pth",
)
"""What open_clip looks for first, in its order."""
_SUFFIXES = (".safetensors", ".bin", ".pth")


class OpenClipEmbeddings(Embeddings):
    """Both towers of one CLIP, in float32. A vision transformer also shows its pooled patches."""

    def __init__(self, folder: Path, threads: int, device: str = "cpu") -> None:
        """Load the towers.

        Args:
            folder: what open_clip calls a `local-dir`: `open_clip_config.json`, one file of weights and, if the
                configuration names a tokenizer, the tokenizer's files. Nothing is looked up elsewhere.
            threads: CPU threads of torch. Torch has one such number per process, so this sets it for all.
            device: a torch device.

        Raises:
            ModelFilesError: the folder is missing, incomplete, corrupt or of another architecture than it says, it
                needs files from a hub, or open_clip is not installed.
        """
        files = ModelFolder(folder)
        _refuse_what_a_hub_completes(files)
        weights = find_weights(files)
        with needed_for("A CLIP without onnx/ graphs"):
            from discriminators.open_clip_towers import Towers  # noqa: PLC0415  (torch, only for who embeds with it)
        self._towers = Towers(files, threads, device)
        self.digest = digest_of(files, weights)
        self.width, self.feature_width = self._towers.width, self._towers.feature_width
        self._remembered = lru_cache(maxsize=REMEMBERED)(self._towers.text)

    @override
    def image(self, content: bytes) -> NDArray[np.float32]:
        return self._towers.image(decode(content))

    @override
    def text(self, prompt: str) -> NDArray[np.float32]:
        return self._remembered(prompt)


def find_weights(files: ModelFolder) -> str:
    """The file that open_clip will load.

    Raises:
        ModelFilesError: there is none, several of which none has a usual name, or it is no whole safetensors file.
    """
    found = sorted(path.name for path in files.path.iterdir() if path.suffix in _SUFFIXES)
    usual = [name for name in _USUAL_NAMES if name in found]
    if not usual and len(found) != 1:
        raise files.broken(CONFIG, f"needs one file of weights beside it, best named {_USUAL_NAMES[0]}")
    name = (usual or found)[0]
    if name.endswith(".safetensors"):
        files.check_weights(name.removesuffix(".safetensors"))
    return name


def digest_of(files: ModelFolder, weights: str) -> str:
    """What `maquette.json` says, so that a head trained with torch fits the exported graphs; else the weights' SHA-256.

    Raises:
        ModelFilesError: a file cannot be read.
    """
    if files.has("maquette.json"):
        return files.settings("maquette.json").text("digest")
    try:
        with files.file(weights).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise files.broken(weights, "cannot be read") from error


def _refuse_what_a_hub_completes(files: ModelFolder) -> None:
    text = files.settings(CONFIG).inner("model_cfg").inner("text_cfg")
    if text.text("hf_model_name", ""):
        raise files.broken(CONFIG, "has a text tower that only a hub completes (hf_model_name), which we never ask")
