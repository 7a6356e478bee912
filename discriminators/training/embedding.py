"""From judged pictures to `Pairs`: every picture and prompt is embedded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from discriminators.embeddings import Embeddings
from discriminators.training.errors import PairsError
from discriminators.training.pairs import Floats, Pairs
from discriminators.training.pairs_folder import PairLine

OnStep = Callable[[int, int], None]
"""Called with (pictures done, pictures in all)."""


def embed_pairs(lines: Sequence[PairLine], clip: Embeddings, on_step: OnStep) -> Pairs:
    """Embed the light pictures and prompts of `lines`, at least one.

    Raises:
        PairsError: a picture cannot be read.
        DiscriminatorError: a file is not a picture, or the CLIP failed.
    """
    texts = {prompt: clip.text(prompt)[0] for prompt in dict.fromkeys(line.prompt for line in lines)}
    most = max(len(line.heavy_utilities) for line in lines)
    heavy = np.full((len(lines), most), np.nan, np.float32)
    for row, line in zip(heavy, lines, strict=True):
        row[: len(line.heavy_utilities)] = line.heavy_utilities
    return Pairs(
        image=embed_pictures([line.light for line in lines], clip, on_step),
        text=np.stack([texts[line.prompt] for line in lines]),
        light=np.array([line.light_utility for line in lines], np.float32),
        heavy=heavy,
        weight=np.array([line.weight for line in lines], np.float32),
        group=np.array([line.group for line in lines], np.int64),
        split=np.empty(0, np.int64),
    )


def embed_pictures(paths: Sequence[Path], clip: Embeddings, on_step: OnStep) -> Floats:
    """[N, F] float32 features of picture files.

    Raises:
        PairsError: a picture cannot be read.
        DiscriminatorError: a file is not a picture, or the CLIP failed.
    """
    features = np.empty((len(paths), clip.feature_width), np.float32)
    for number, path in enumerate(paths):
        try:
            content = path.read_bytes()
        except OSError as error:
            raise PairsError(f"Picture {path.name} cannot be read.") from error
        features[number] = clip.image(content)[0]
        on_step(number + 1, len(paths))
    return features


def cosine_utility(clip: Embeddings, prompt: str, content: bytes) -> float:
    """A scorer's opinion of an encoded picture, 0..1: the cosine of picture and prompt, from -1..1.

    Raises:
        DiscriminatorError: it is not a picture, or the CLIP failed.
    """
    cosine = float(clip.image(content)[0, : clip.width] @ clip.text(prompt)[0])
    return min(1.0, max(0.0, (1 + cosine) / 2))
