"""The shipped heads: pairs as shapes-clip sees them, fitted and calibrated by `discriminators.training`.

A picture's utility is 1 if the oracle finds all of it right and 0 otherwise: that is what a user wants of it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import open_clip
import torch
from numpy.typing import NDArray
from open_clip.model import CLIP

from discriminators.calibrated_head import Kind
from discriminators.training.fitting import Recipe, TruePictures
from discriminators.training.head_folder import Names, write_head
from discriminators.training.pairs import Pairs
from discriminators.training.trained import train
from shapes.captions import parse
from shapes.render import render
from shapes.train.clip import features, normalise
from shapes.train.export import CLIP as CLIP_NAME
from shapes.train.export import DEV, SCHNELL
from shapes.train.folders import LICENSE
from shapes.train.pairs import Drawn
from shapes.train.words import clip_tokenizer, encode

HEADS: Final = {Kind.PAIR: "schnell-vs-dev", Kind.ROUTER: "prompt-router", Kind.REAL_FAKE: "real-vs-generated"}
JUDGE: Final = "shapes.oracle, 1 where every attribute is right"
_TRAIN, _CALIBRATE, _THRESHOLD, _TEST = range(4)
_AT_ONCE = 256


def ship_heads(drawn: Drawn, weights: Path, seed: int) -> dict[str, float]:
    """Fit every head on what the shipped CLIP sees of `drawn` and ship it.

    Returns:
        The largest difference between onnxruntime and torch, by head.
    """
    folder = weights / CLIP_NAME
    clip = open_clip.create_model(f"local-dir:{folder}").eval()
    pairs = to_pairs(drawn, clip)
    true = TruePictures(see(clip, _true_pictures(drawn.captions, seed)), pairs.group)
    digest = json.loads((folder / "maquette.json").read_text("utf-8"))["digest"]
    worst = {}
    for kind, name in HEADS.items():
        fitted = train(pairs, Recipe(kind=kind, seed=seed), true if kind is Kind.REAL_FAKE else None)
        worst[name] = write_head(weights / "heads" / name, fitted, Names(name, SCHNELL, DEV, digest, JUDGE, LICENSE))
    return worst


def to_pairs(drawn: Drawn, clip: CLIP) -> Pairs:
    """Look at all light pictures and prompts; the calibration split is halved for thresholds."""
    parts = np.asarray([_TRAIN, _CALIBRATE, _TEST])[drawn.split]
    calibrating = np.flatnonzero(parts == _CALIBRATE)
    parts[calibrating[::2]] = _THRESHOLD
    return Pairs(
        image=see(clip, drawn.picture),
        text=read(clip, drawn.captions.tolist()),
        light=drawn.light_right.astype(np.float32),
        heavy=drawn.heavy_right.astype(np.float32),
        weight=np.ones(len(parts), np.float32),
        group=np.arange(len(parts)),
        split=parts,
    )


@torch.no_grad()
def see(clip: CLIP, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return features [N, 384] of uint8 [N, 64, 64, 3]."""
    parts = np.array_split(pictures, max(1, len(pictures) // _AT_ONCE))
    return np.concatenate([features(clip, normalise(part)).numpy() for part in parts])


@torch.no_grad()
def read(clip: CLIP, captions: Sequence[str]) -> NDArray[np.float32]:
    """Return unit embeddings [N, 128] of captions."""
    ids = torch.from_numpy(encode(clip_tokenizer(), captions))
    return torch.cat([clip.encode_text(part, normalize=True) for part in ids.split(_AT_ONCE)]).numpy()


def _true_pictures(captions: NDArray[Any], seed: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng([seed, 9])
    return np.stack([render(parse(str(text)), rng) for text in captions])
