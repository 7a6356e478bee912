"""The weights of LAION's aesthetic predictors, by the layer names and shapes they were published with.

v1 (LAION-AI/aesthetic-predictor) is one linear layer. v2 (christophschuhmann/improved-aesthetic-predictor, linearMSE)
is five, with dropout between them and no activation; the numbers in their names count the dropouts too.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascade.model_folder import ModelFolder
from discriminators.engine_extra import needed_for

Layers = tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]
"""(weight [out, in], bias [out]) of each layer in turn; the last one has one output."""

_FIRST = ("",)
_SECOND = ("layers.0.", "layers.2.", "layers.4.", "layers.6.", "layers.7.")
_SECOND_WIDTHS = (1024, 128, 64, 16, 1)
_SUFFIXES = (".safetensors", ".pth", ".pt", ".bin")


def read_layers(files: ModelFolder, width: int) -> Layers:
    """The head's layers.

    Args:
        files: folder with one file of weights.
        width: of the CLIP's embeddings.

    Raises:
        ModelFilesError: there is no such file or several, it cannot be read, or its layers are none of the published.
    """
    names = [path.name for path in sorted(files.path.iterdir()) if path.suffix in _SUFFIXES]
    if len(names) != 1:
        raise files.broken("The head", f"must be one file ending in {', '.join(_SUFFIXES)}, and there are {len(names)}")
    (name,) = names
    tensors = _read(files, name)
    for prefixes, widths in ((_FIRST, (1,)), (_SECOND, _SECOND_WIDTHS)):
        shapes = {
            f"{prefix}{part}": shape
            for prefix, (into, out) in zip(prefixes, pairwise((width, *widths)), strict=True)
            for part, shape in (("weight", (out, into)), ("bias", (out,)))
        }
        if {key: value.shape for key, value in tensors.items()} == shapes:
            return tuple((tensors[f"{prefix}weight"], tensors[f"{prefix}bias"]) for prefix in prefixes)
    raise files.broken(name, f"is not LAION's aesthetic head, v1 or v2, for a CLIP of {width} dimensions")


def _read(files: ModelFolder, name: str) -> Mapping[str, NDArray[np.float32]]:
    with needed_for("An aesthetic head"):
        if name.endswith(".safetensors"):
            files.check_weights(name.removesuffix(".safetensors"))
            from safetensors.numpy import load_file  # noqa: PLC0415  (only for who has the engine extra)

            return {key: np.asarray(value, np.float32) for key, value in load_file(files.file(name)).items()}
        return _read_pickle(files, files.file(name))


def _read_pickle(files: ModelFolder, path: Path) -> Mapping[str, NDArray[np.float32]]:
    import torch  # noqa: PLC0415  (only for a head that torch has written)

    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
        return {str(key): value.float().numpy() for key, value in state.items()}
    except (OSError, RuntimeError, ValueError, AttributeError, LookupError, EOFError, UnpicklingError) as error:
        raise files.broken(path.name, "is not a dictionary of tensors that torch can load safely") from error
