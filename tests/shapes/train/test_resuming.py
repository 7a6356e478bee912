"""A trainer that was stopped ends where it would have ended anyway."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from shapes.train import autoencoder, clip, dev, guide, schnell, verdicts
from shapes.train.course import Course, follow
from shapes.train.latents import load_autoencoder
from tests.shapes.train.runs import course, figures, write_untrained

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

SLOW = {"clip", "dev", "schnell", "tuned"}  # they are examined at every checkpoint
STEPS = 6
SAVED = 3
CUT = SAVED + 1


class PulledPlugError(Exception):
    """Somebody fell over the cable."""


class Cable(io.StringIO):
    """Takes the report of every step up to the one after the checkpoint."""

    def write(self, text: str) -> int:
        if f" {CUT}/{STEPS} " in text:
            raise PulledPlugError
        return super().write(text)


def decoder(lessons: Course) -> None:
    autoencoder.train(lessons, 2, frozen=load_autoencoder(lessons.folder))


def tuned(lessons: Course) -> None:
    verdicts.build(course(lessons.folder, "verdicts", 1), course(lessons.folder, "schnell", 1))
    verdicts.tune(lessons, course(lessons.folder, "clip", 1), 4)


TRAINERS: dict[str, Callable[[Course], None]] = {
    "vae": lambda lessons: autoencoder.train(lessons, 2),
    "decoder": decoder,
    "clip": lambda lessons: clip.train(lessons, 4),
    "dev": lambda lessons: dev.train(lessons, batch=4),
    "guided": lambda lessons: guide.train(lessons, course(lessons.folder, "dev", 1), 4),
    "schnell": lambda lessons: schnell.train(lessons, course(lessons.folder, "dev", 1), 4),
    "tuned": tuned,
}


def run_folder(folder: Path, name: str) -> Path:
    """A folder with all that was trained before `name`, and nothing of `name` itself."""
    folder.mkdir()
    write_untrained(folder)
    (folder / f"{name}.checkpoint.pt").unlink(missing_ok=True)
    return folder


def equal(one: object, other: object) -> bool:
    """Whether two states hold the same, tensors bit by bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in TRAINERS])
def test_a_course_that_was_cut_off_ends_in_the_state_of_one_that_was_not(tmp_path, name):
    straight = course(run_folder(tmp_path / "straight", name), name, STEPS)
    TRAINERS[name](straight)

    folder = run_folder(tmp_path / "cut", name)
    with pytest.raises(PulledPlugError):
        TRAINERS[name](course(folder, name, STEPS, save_every=SAVED, speech=Cable()))
    resumed = course(folder, name, STEPS)
    TRAINERS[name](resumed)

    states = [torch.load(lessons.checkpoint, weights_only=True) for lessons in (straight, resumed)]
    assert states[0]["step"] == states[1]["step"] == STEPS
    figure = "doubt" if name == "tuned" else "loss"
    assert figures(resumed, figure) == figures(straight, figure)[SAVED:], "it saw what it would have seen"
    assert equal(*states)


def walk(lessons: Course) -> list[int]:
    """Follow a course whose steps only note their number."""
    seen: list[int] = []
    module = torch.nn.Linear(1, 1)

    def step(number: int) -> dict[str, float]:
        seen.append(number)
        return {"loss": float(number)}

    follow(lessons, {"module": module}, step)
    return seen


def test_a_finished_course_is_not_run_again(tmp_path):
    assert walk(course(tmp_path, "walk", 4)) == [0, 1, 2, 3]
    assert walk(course(tmp_path, "walk", 4)) == []


def test_a_longer_course_goes_on_where_the_shorter_one_ended(tmp_path):
    walk(course(tmp_path, "walk", 4))

    assert walk(course(tmp_path, "walk", 6)) == [4, 5]


def test_a_course_that_shall_not_resume_starts_again(tmp_path):
    walk(course(tmp_path, "walk", 4))

    assert walk(course(tmp_path, "walk", 4, resume=False)) == [0, 1, 2, 3]


def test_a_part_that_joins_an_old_course_starts_fresh_and_the_others_go_on(tmp_path):
    old, new = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    follow(course(tmp_path, "walk", 1), {"old": old}, lambda _: {})
    again, before = torch.nn.Linear(2, 2), new.weight.clone()
    follow(course(tmp_path, "walk", 2), {"old": again, "new": new}, lambda _: {})

    assert torch.equal(again.weight, old.weight)
    assert torch.equal(new.weight, before)


def test_whoever_watches_is_called_at_every_checkpoint_and_at_the_end(tmp_path):
    watched = []
    follow(course(tmp_path, "walk", 5, save_every=2), {}, lambda _: {}, watched.append)

    assert watched == [2, 4, 5]
