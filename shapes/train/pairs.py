"""Pairs: for each prompt one light picture and several heavy ones, read by the oracle."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shapes.captions import caption
from shapes.scenes import Difficulty, Scene, Split
from shapes.train import team
from shapes.train.course import Course, Figures, follow
from shapes.train.dev import load_generator
from shapes.train.flow import Eye, condition, sample
from shapes.train.networks import HEAVY, LIGHT
from shapes.train.pictures import scene_of
from shapes.train.schnell import STEPS

HEAVY_SEEDS = 2
HEAVY_STEPS = 8
"""Fewer than are shipped: the oracle reads the same shares at 8 and at 28 steps (DECISIONS 12 and 13)."""
PROMPTS_PER_STEP = 100
_SPLITS = {Split.TRAIN: 0.75, Split.CALIBRATE: 0.2, Split.TEST: 0.05}


@dataclass(frozen=True, slots=True)
class Drawn:
    """One row per prompt."""

    captions: NDArray[np.str_]
    """The prompts, [N]."""
    light: NDArray[np.float32]
    """The oracle's share right of the light picture, [N] in 0..1."""
    light_right: NDArray[np.bool_]
    """Whether all of it is right, [N]."""
    heavy: NDArray[np.float32]
    """The share right of each heavy picture, [N, 2]."""
    heavy_right: NDArray[np.bool_]
    """Whether all of it is right, [N, 2]."""
    difficulty: NDArray[np.int64]
    """0 easy, 1 medium, 2 hard, [N]."""
    split: NDArray[np.int64]
    """0 train, 1 calibrate, 2 test, [N]."""
    picture: NDArray[np.uint8]
    """The light pictures, [N, 64, 64, 3]."""
    heavy_picture: NDArray[np.uint8]
    """The first heavy pictures, [N, 64, 64, 3]."""

    @classmethod
    def load(cls, folder: Path) -> "Drawn":
        """Read all shards of a run folder."""
        parts = [np.load(shard) for shard in sorted((folder / "pairs").glob("*.npz"))]
        return cls(**{field.name: np.concatenate([part[field.name] for part in parts]) for field in fields(cls)})


def _scenes(rng: np.random.Generator, count: int) -> list[Scene]:
    """Draw prompts: a third of each difficulty, three quarters of them from the training split."""
    splits = rng.choice(np.asarray(tuple(_SPLITS)), size=count, p=tuple(_SPLITS.values()))
    ladder = tuple(Difficulty)
    return [scene_of(rng, ladder[at % len(ladder)], Split(split)) for at, split in enumerate(splits)]


def build(course: Course, dev: Course, schnell: Course) -> None:
    """Draw and read 100 prompts per step, over the whole team; one shard per member in `pairs/`."""
    heavy, light, eye = load_generator(dev, HEAVY), load_generator(schnell, LIGHT), Eye.open(course.folder)
    shards, mine = course.folder / "pairs", team.share(PROMPTS_PER_STEP)
    shards.mkdir(parents=True, exist_ok=True)

    def step(step_number: int) -> Figures:
        number = step_number * team.size() + team.rank()
        rng = np.random.default_rng([course.seed, number, 4])
        scenes = _scenes(rng, mine)
        captions = [caption(scene, rng) for scene in scenes]
        seeds = rng.integers(2**62, size=(HEAVY_SEEDS + 1, mine)).tolist()
        text = condition(light, captions)
        tokens = sample(light, text, seeds[0], STEPS)
        own = eye.readings(tokens, scenes)
        heavies = [sample(heavy, condition(heavy, captions), mine, HEAVY_STEPS) for mine in seeds[1:]]
        readings = [eye.readings(drawn, scenes) for drawn in heavies]
        drawn = Drawn(
            captions=np.asarray(captions),
            light=np.asarray([reading.share for reading in own], np.float32),
            light_right=np.asarray([reading.all_right for reading in own]),
            heavy=np.asarray([[reading.share for reading in row] for row in readings], np.float32).T,
            heavy_right=np.asarray([[reading.all_right for reading in row] for row in readings]).T,
            difficulty=np.asarray([tuple(Difficulty).index(scene.difficulty) for scene in scenes]),
            split=np.asarray([tuple(Split).index(scene.split) for scene in scenes]),
            picture=eye.pictures(tokens),
            heavy_picture=eye.pictures(heavies[0]),
        )
        np.savez(shards / f"{number:05}.npz", **asdict(drawn))
        return {"light": float(drawn.light_right.mean()), "heavy": float(drawn.heavy_right.mean())}

    follow(course, {}, step)
    team.wait()
