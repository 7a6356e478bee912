"""Rectified flow: the training loss, the Euler sampler FluxPipeline runs, and the oracle's report on samples."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL
from numpy.typing import NDArray

from shapes.captions import caption
from shapes.oracle import ATTRIBUTES, Reading, read
from shapes.scenes import Difficulty, Scene
from shapes.train.latents import Scaling, decode, load_autoencoder, load_scaling
from shapes.train.networks import Generator
from shapes.train.pictures import unseen_scenes
from shapes.train.words import clip_ids_of, encode, t5_tokenizer

SHIFT = 1.0


def sigmas(steps: int) -> list[float]:
    """Return the `steps` + 1 noise levels from 1 to 0 that FlowMatchEulerDiscreteScheduler visits at a fixed shift."""
    even = [1 - step / steps for step in range(steps)]
    return [SHIFT * sigma / (1 + (SHIFT - 1) * sigma) for sigma in even] + [0.0]


@dataclass(frozen=True, slots=True)
class Condition:
    """Encoded captions: states [B, 20, 128] and pooled [B, 64]."""

    states: torch.Tensor
    pooled: torch.Tensor

    def __getitem__(self, part: slice | NDArray[np.intp]) -> "Condition":
        """Return a part of the batch."""
        return Condition(self.states[part], self.pooled[part])


@torch.no_grad()
def condition(generator: Generator, captions: Sequence[str]) -> Condition:
    """Encode captions."""
    ids = encode(t5_tokenizer(), captions)
    return Condition(*generator.encode(torch.from_numpy(ids), torch.from_numpy(clip_ids_of(ids))))


def noise(seeds: Sequence[int]) -> torch.Tensor:
    """Return float32 [B, 16, 64], one torch generator per seed."""
    return torch.stack([torch.randn(16, 64, generator=torch.Generator().manual_seed(seed)) for seed in seeds])


@torch.no_grad()
def integrate(
    generator: Generator, tokens: torch.Tensor, text: Condition, levels: Sequence[float], *, guidance: float = 1.0
) -> torch.Tensor:
    """Follow the velocity from the first noise level to the last with Euler steps.

    Args:
        generator: Predicts the velocity.
        tokens: [B, 16, 64] at noise level `levels[0]`.
        text: What to draw.
        levels: Falling noise levels in 1..0.
        guidance: Above one, classifier-free guidance against the empty caption, at twice the cost.

    Returns:
        [B, 16, 64] at noise level `levels[-1]`.
    """
    empty = condition(generator, [""]) if guidance != 1.0 else None
    for now, then in itertools.pairwise(levels):
        time = torch.full((len(tokens),), now)
        velocity = generator.velocity(tokens, time, text.states, text.pooled)
        if empty is not None:
            count = len(tokens)
            free = generator.velocity(tokens, time, empty.states.expand(count, -1, -1), empty.pooled.expand(count, -1))
            velocity = free + guidance * (velocity - free)
        tokens = tokens + (then - now) * velocity
    return tokens


@torch.no_grad()
def sample(
    generator: Generator, text: Condition, seeds: Sequence[int], steps: int, *, guidance: float = 1.0
) -> torch.Tensor:
    """Draw one picture per seed as normalised packed latents [B, 16, 64]."""
    parts = []
    for start in range(0, len(seeds), 128):
        part = slice(start, start + 128)
        parts.append(integrate(generator, noise(seeds[part]), text[part], sigmas(steps), guidance=guidance))
    return torch.cat(parts)


@dataclass(frozen=True, slots=True)
class Eye:
    """Turns latents into pictures and has the oracle read them."""

    vae: AutoencoderKL
    scaling: Scaling

    @classmethod
    def open(cls, folder: Path) -> "Eye":
        """Load the autoencoder and its scaling from a run folder."""
        return cls(load_autoencoder(folder), load_scaling(folder))

    def pictures(self, tokens: torch.Tensor) -> NDArray[np.uint8]:
        """Return uint8 [B, 64, 64, 3] from [B, 16, 64]."""
        return decode(self.vae, self.scaling, tokens)

    def readings(self, tokens: torch.Tensor, scenes: Sequence[Scene]) -> list[Reading]:
        """Read each sample against its scene."""
        return [read(picture, scene) for picture, scene in zip(self.pictures(tokens), scenes, strict=True)]


def tally(readings: Sequence[Reading]) -> dict[str, float]:
    """Return the share right per attribute, and of `all`, in 0..1; attributes that never apply are left out."""
    figures = {}
    for name in ATTRIBUTES:
        values = [reading.applicable[name] for reading in readings if name in reading.applicable]
        if values:
            figures[name] = sum(values) / len(values)
    figures["all"] = sum(reading.all_right for reading in readings) / len(readings)
    return figures


def examine(
    generator: Generator, eye: Eye, steps: int, *, count: int = 64, seed: int = 5, novel: bool = False
) -> dict[Difficulty, dict[str, float]]:
    """Sample `count` unseen prompts of each difficulty and tally what the oracle reads.

    `novel` asks for prompts with a colour that training never showed on a shape.
    """
    report = {}
    for difficulty in Difficulty:
        scenes = unseen_scenes(seed, count, difficulty, novel=novel)
        rng = np.random.default_rng([seed, 1])
        text = condition(generator, [caption(scene, rng) for scene in scenes])
        tokens = sample(generator, text, range(count), steps)
        report[difficulty] = tally(eye.readings(tokens, scenes))
    return report


def table(report: dict[Difficulty, dict[str, float]]) -> str:
    """Write a report as one line per difficulty."""
    lines = []
    for difficulty, figures in report.items():
        lines.append(f"  {difficulty:7}" + "  ".join(f"{name} {value:.3f}" for name, value in figures.items()))
    return "\n".join(lines)
