"""Small worlds whose best possible head is known."""

from __future__ import annotations

import numpy as np

from discriminators.training.pairs import Pairs

WIDTH = 8
FEATURES = 12


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def embeddings(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(image [N, 12], text [N, 8]); image and text point roughly the same way."""
    text = unit(rng.normal(size=(count, WIDTH)))
    seen = unit(text + unit(rng.normal(size=(count, WIDTH))))
    patches = rng.normal(size=(count, FEATURES - WIDTH)).astype(np.float32)
    return np.concatenate([seen, patches], axis=1), text


def pairs_of(image: np.ndarray, text: np.ndarray, chance: np.ndarray, rng: np.random.Generator, group=None) -> Pairs:
    """Two heavy pictures a row, each 0.3 better than the light one with that chance, 0.3 worse otherwise."""
    count = len(chance)
    better = rng.random((count, 2)) < chance[:, None]
    return Pairs(
        image=image,
        text=text,
        light=np.full(count, 0.5, np.float32),
        heavy=np.where(better, 0.8, 0.2).astype(np.float32),
        weight=np.ones(count, np.float32),
        group=np.arange(count) if group is None else group,
        split=np.empty(0, np.int64),
    )


def straight_world(count: int, seed: int = 0) -> tuple[Pairs, np.ndarray]:
    """Pairs whose P(heavy better) is logistic in picture, prompt and cosine; and that probability."""
    rng = np.random.default_rng([seed, 1])
    image, text = embeddings(count, rng)
    seen = image[:, :WIDTH]
    z = 6 * ((seen * text).sum(1) - 0.7) + 3 * seen[:, 0] - 2 * text[:, 1] + 0.8 * image[:, WIDTH]
    return pairs_of(image, text, sigmoid(2 * z), rng), sigmoid(2 * z)


def bent_world(count: int, seed: int = 0) -> tuple[Pairs, np.ndarray]:
    """Pairs whose P(heavy better) depends on whether two patch features have the same sign."""
    rng = np.random.default_rng([seed, 2])
    image, text = embeddings(count, rng)
    chance = sigmoid(4 * np.sign(image[:, WIDTH] * image[:, WIDTH + 1]))
    return pairs_of(image, text, chance, rng), chance


def prompt_world(count: int, seed: int = 0) -> tuple[Pairs, np.ndarray]:
    """Pairs whose P(heavy better) depends on the prompt alone."""
    rng = np.random.default_rng([seed, 3])
    image, text = embeddings(count, rng)
    chance = sigmoid(8 * text[:, 0])
    return pairs_of(image, text, chance, rng), chance
