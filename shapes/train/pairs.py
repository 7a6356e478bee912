"""Pairs: for each prompt one light picture and several heavy ones, read by the oracle and seen by the CLIP."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from shapes.captions import caption
from shapes.scenes import Difficulty, Scene, held_out, sample_scene
from shapes.train import team
from shapes.train.clip import load_clip, normalise
from shapes.train.course import Course, Figures, follow
from shapes.train.dev import load_generator
from shapes.train.flow import Eye, condition, sample
from shapes.train.networks import HEAVY, LIGHT
from shapes.train.schnell import STEPS
from shapes.train.words import clip_tokenizer, encode

HEAVY_SEEDS = 2
HEAVY_STEPS = 8
"""Fewer than are shipped: the oracle reads the same shares at 8 and at 28 steps (DECISIONS 12 and 13)."""
_PROMPTS_PER_STEP = 50


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the head learns from, one row per prompt."""

    image: NDArray[np.float32]
    """CLIP embeddings of the light pictures, [N, 128], length one."""
    text: NDArray[np.float32]
    """CLIP embeddings of the prompts, [N, 128], length one."""
    light: NDArray[np.float32]
    """The oracle's share right of the light picture, [N] in 0..1."""
    heavy: NDArray[np.float32]
    """The same for each heavy picture, [N, 2]."""
    difficulty: NDArray[np.int64]
    """0 easy, 1 medium, 2 hard, [N]."""

    @classmethod
    def load(cls, folder: Path) -> "Pairs":
        """Read `pairs.npz` from a run folder."""
        with np.load(folder / "pairs.npz") as stored:
            return cls(**{field.name: stored[field.name] for field in fields(cls)})


def _scenes(rng: np.random.Generator, count: int) -> list[Scene]:
    """Draw prompts: a third of each difficulty, those with several things from the held-out combinations and others."""
    difficulties = tuple(Difficulty)
    scenes: list[Scene] = []
    while len(scenes) < count:
        difficulty = difficulties[len(scenes) % len(difficulties)]
        scene = sample_scene(rng, difficulty)
        if difficulty is Difficulty.EASY or held_out(scene) or rng.random() < 0.5:  # noqa: PLR2004
            scenes.append(scene)
    return scenes


def build(course: Course, dev: Course, schnell: Course, clip: Course) -> None:
    """Draw, read and embed 50 prompts per step and team member; writes `pairs.npz`."""
    heavy, light = load_generator(dev, HEAVY), load_generator(schnell, LIGHT)
    judge, eye, tokenizer = load_clip(clip), Eye.open(course.folder), clip_tokenizer()
    shards = course.folder / "pairs"
    shards.mkdir(parents=True, exist_ok=True)

    def step(step_number: int) -> Figures:
        number = step_number * team.size() + team.rank()
        rng = np.random.default_rng([course.seed, number, 4])
        scenes = _scenes(rng, _PROMPTS_PER_STEP)
        captions = [caption(scene, rng) for scene in scenes]
        seeds = [int(seed) for seed in rng.integers(2**62, size=_PROMPTS_PER_STEP * (HEAVY_SEEDS + 1))]
        text = condition(light, captions)
        tokens = sample(light, text, seeds[:_PROMPTS_PER_STEP], STEPS)
        pictures = eye.pictures(tokens)
        heavies = []
        for take in range(HEAVY_SEEDS):
            mine = seeds[_PROMPTS_PER_STEP * (take + 1) : _PROMPTS_PER_STEP * (take + 2)]
            drawn = sample(heavy, condition(heavy, captions), mine, HEAVY_STEPS)
            heavies.append([reading.share for reading in eye.readings(drawn, scenes)])
        with torch.no_grad():
            pairs = Pairs(
                image=judge.encode_image(normalise(pictures), normalize=True).numpy(),
                text=judge.encode_text(torch.from_numpy(encode(tokenizer, captions)), normalize=True).numpy(),
                light=np.asarray([reading.share for reading in eye.readings(tokens, scenes)], np.float32),
                heavy=np.asarray(heavies, np.float32).T,
                difficulty=np.asarray([tuple(Difficulty).index(scene.difficulty) for scene in scenes]),
            )
        np.savez(shards / f"{number:05}.npz", **asdict(pairs))
        return {"light": float(pairs.light.mean()), "heavy": float(pairs.heavy.mean())}

    follow(course, {}, step)
    team.wait()
    if team.rank() == 0:
        _join(shards, course.folder / "pairs.npz", course.steps * team.size())


def _join(shards: Path, target: Path, count: int) -> None:
    parts = [dict(np.load(shards / f"{number:05}.npz")) for number in range(count)]
    joined: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    np.savez(target, **joined)
