"""Deterministic streams of (scene, picture, caption) for training, by seed and step."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shapes.render import render
from shapes.scenes import Difficulty, Scene, Split, sample_scene

MIX = {Difficulty.EASY: 0.2, Difficulty.MEDIUM: 0.35, Difficulty.HARD: 0.45}
"""The share of each difficulty in training."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A batch: scenes and their pictures, uint8 [B, 64, 64, 3]."""

    scenes: list[Scene]
    pictures: NDArray[np.uint8]


def training_scene(rng: np.random.Generator) -> Scene:
    """Draw a scene of the training mix: of the training split, and no pair that is held out."""
    difficulty = tuple(MIX)[int(rng.choice(len(MIX), p=tuple(MIX.values())))]
    return scene_of(rng, difficulty, Split.TRAIN)


def scene_of(rng: np.random.Generator, difficulty: Difficulty, split: Split, *, novel: bool = False) -> Scene:
    """Draw a scene of one split and difficulty; `novel` asks for a colour that training never showed on a shape."""
    while True:
        scene = sample_scene(rng, difficulty)
        if scene.split is split and scene.novel == novel:
            return scene


def unseen_scenes(seed: int, count: int, difficulty: Difficulty, *, novel: bool = False) -> list[Scene]:
    """Draw `count` scenes of the test split, which no training stream shows."""
    rng = np.random.default_rng([seed, 977])
    return [scene_of(rng, difficulty, Split.TEST, novel=novel) for _ in range(count)]


def draw(seed: int, step: int, count: int) -> Drawn:
    """Render batch `step` of the stream `seed`."""
    rng = np.random.default_rng([seed, step])
    scenes = [training_scene(rng) for _ in range(count)]
    return Drawn(scenes, np.stack([render(scene, rng) for scene in scenes]))


def to_tensor(pictures: NDArray[np.uint8]) -> torch.Tensor:
    """Return float32 [B, 3, H, W] in -1..1 from uint8 [B, H, W, 3]."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)


def to_pictures(pixels: torch.Tensor) -> NDArray[np.uint8]:
    """Return uint8 [B, H, W, 3] from float [B, 3, H, W] in -1..1, clipped and rounded."""
    scaled = pixels.float().clamp(-1, 1).add(1).mul(127.5).round().to(torch.uint8)
    return scaled.permute(0, 2, 3, 1).contiguous().numpy()
