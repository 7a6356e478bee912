"""Every stage of `python -m shapes.train all` up to the drawn picture, a few dozen small steps each: do they learn?"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from shapes.captions import caption
from shapes.oracle import ATTRIBUTES
from shapes.scenes import Difficulty
from shapes.train import __main__ as command
from shapes.train import autoencoder, clip, dev, guide, latents, schnell, verdicts
from shapes.train.course import Course
from shapes.train.flow import Eye, condition, sample
from shapes.train.networks import HEAVY, LIGHT
from shapes.train.pictures import unseen_scenes
from tests.shapes.train.runs import course, figures

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(1800)]

SHIPPED = (Path(command.__file__).parents[1] / "weights", Path(command.__file__).parents[1] / ".runs")
BATCH = 16


@dataclass(frozen=True, slots=True)
class Lesson:
    """One stage's course, the figure to watch, and the share of it that must be left at the end, in 0..1."""

    stage: str
    course: str
    steps: int
    figure: str
    left: float


LESSONS = (
    Lesson("vae", "vae", 30, "loss", 0.8),
    Lesson("dev", "school", 40, "grounding", 0.75),
    Lesson("dev", "dev", 30, "loss", 0.75),
    Lesson("guide", "guided", 15, "loss", 0.8),
    Lesson("schnell", "schnell", 40, "loss", 0.7),
    Lesson("clip", "clip", 30, "loss", 0.95),
    Lesson("verdicts", "tuned", 15, "doubt", 0.95),
)
DATA = ("latents", "bank", "verdicts")


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder in which everything was trained, and the courses that did it by name."""

    folder: Path
    courses: dict[str, Course]


def train_everything(folder: Path) -> Run:
    """Train all stages one after the other, in the order of `python -m shapes.train all`."""
    named = {lesson.course: course(folder, lesson.course, lesson.steps) for lesson in LESSONS}
    named |= {name: course(folder, name, 1) for name in DATA}
    stages: dict[str, Callable[[], None]] = {
        "vae": lambda: autoencoder.train(named["vae"], 8),
        "latents": lambda: latents.build(named["latents"]),
        "dev": lambda: dev.train(named["dev"], batch=BATCH, schooling=named["school"].steps),
        "guide": lambda: guide.train(named["guided"], named["dev"], BATCH),
        "schnell": lambda: teach_schnell(named),
        "clip": lambda: clip.train(named["clip"], BATCH),
        "verdicts": lambda: teach_verdicts(named),
    }
    for stage in command._ORDER:
        stages.pop(stage, list)()
    assert not stages, "`all` leaves out what is trained here"
    return Run(folder, named)


def teach_schnell(named: dict[str, Course]) -> None:
    schnell.build_bank(named["bank"], named["guided"])
    schnell.train(named["schnell"], named["guided"], 2 * BATCH)


def teach_verdicts(named: dict[str, Course]) -> None:
    verdicts.build(named["verdicts"], named["schnell"])
    verdicts.tune(named["tuned"], named["clip"], BATCH)


def files_of(*folders: Path) -> dict[Path, float]:
    return {path: path.stat().st_mtime for folder in folders for path in sorted(folder.rglob("*"))}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    elsewhere, before = tmp_path_factory.mktemp("elsewhere"), files_of(*SHIPPED)
    with contextlib.chdir(elsewhere):
        yield train_everything(tmp_path_factory.mktemp("run"))
        assert list(elsewhere.iterdir()) == [], "a trainer wrote into the working directory"
    assert files_of(*SHIPPED) == before, "a trainer wrote to what is shipped"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.course)
def test_every_stage_learns_something(trained: Run, lesson: Lesson) -> None:
    told = figures(trained.courses[lesson.course], lesson.figure)
    share = max(3, lesson.steps // 5)

    assert len(told) == lesson.steps
    assert all(np.isfinite(told))
    assert fmean(told[-share:]) < lesson.left * fmean(told[:share]), told


def test_the_encoded_pictures_are_spread_like_noise(trained: Run) -> None:
    encoded = np.load(trained.folder / "latents.npy").astype(np.float32)

    assert encoded.std() == pytest.approx(1, abs=0.1)
    assert encoded.mean() == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize(("name", "depth", "steps"), [("guided", HEAVY, 4), ("schnell", LIGHT, schnell.STEPS)])
def test_both_tiers_draw_pictures_that_the_oracle_can_read(trained: Run, name: str, depth, steps: int) -> None:
    scenes = [scene for difficulty in Difficulty for scene in unseen_scenes(1, 4, difficulty)]
    generator, eye = dev.load_generator(trained.courses[name], depth), Eye.open(trained.folder)
    tokens = sample(generator, condition(generator, [caption(scene) for scene in scenes]), range(len(scenes)), steps)
    pictures, readings = eye.pictures(tokens), eye.readings(tokens, scenes)

    assert pictures.shape == (12, 64, 64, 3)
    assert pictures.dtype == np.uint8
    assert len({picture.tobytes() for picture in pictures}) == 12
    assert all(set(reading.applicable) <= set(ATTRIBUTES) for reading in readings)
    assert all(0 <= reading.share <= 1 for reading in readings)


def test_a_finished_stage_is_not_trained_again(trained: Run) -> None:
    told = trained.courses["vae"]
    autoencoder.train(replace(told, console=course(trained.folder, "vae", 1).console), 8)

    assert len(figures(told, "loss")) == told.steps
