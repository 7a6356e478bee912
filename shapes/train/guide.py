"""Guidance distilled into shapes-dev: one call per step that lands where classifier-free guidance 2 would.

The teacher is shapes-dev itself, called with and without the caption; only the transformer learns, so the text
encoders stay those of shapes-schnell too.
"""

import copy
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from shapes.train import team
from shapes.train.course import Average, Course, Figures, follow
from shapes.train.dev import load_generator, optimisers, sample_times, set_rates
from shapes.train.flow import Condition, condition
from shapes.train.networks import HEAVY, Generator
from shapes.train.words import clip_ids_of

GUIDANCE = 2.0
BATCH = 64
PEAK_RATE = 6e-4


def train(course: Course, plain: Course, batch: int = BATCH) -> None:
    """Train a copy of `plain`'s generator along `course`; its checkpoint is laid out like shapes-dev's."""
    teacher = load_generator(plain, HEAVY)
    student = copy.deepcopy(teacher)
    student.transformer.train().requires_grad_()
    latents, tokens = _open(course.folder)
    average = Average(student, 0.97)
    learners = optimisers(nn.ModuleDict({"transformer": student.transformer}), PEAK_RATE)
    parts = {f"optimiser{number}": learner for number, learner in enumerate(learners)}
    empty = condition(teacher, [""])
    mine = batch // team.size()

    def step(number: int) -> Figures:
        set_rates(learners, PEAK_RATE * course.schedule(number, warm_up=15))
        rng = np.random.default_rng([course.seed, number, team.rank()])
        chosen = np.sort(rng.integers(len(latents), size=mine))
        ids = tokens[chosen].astype(np.int64)
        loss = _loss(student, teacher, empty, torch.from_numpy(latents[chosen].astype(np.float32)), ids, rng)
        for learner in learners:
            learner.zero_grad(set_to_none=True)
        loss.backward()
        team.average_gradients(student.transformer.parameters())
        nn.utils.clip_grad_norm_(student.transformer.parameters(), 1.0)
        for learner in learners:
            learner.step()
        average.update()
        return {"loss": loss.item()}

    follow(course, {"generator": student, "average": average, **parts}, step)


def _loss(
    student: Generator,
    teacher: Generator,
    empty: Condition,
    clean: torch.Tensor,
    ids: NDArray[np.int64],
    rng: np.random.Generator,
) -> torch.Tensor:
    """Mean squared distance of the student's velocity to the teacher's guided one.

    Args:
        student: Called once, with the caption.
        teacher: Called with the caption and without.
        empty: The empty caption, encoded.
        clean: Latents, [B, 16, 64].
        ids: T5 ids of the captions, [B, 20].
        rng: Draws noise and its levels.
    """
    count = len(clean)
    times = sample_times(rng, count)
    level = times[:, None, None]
    noisy = (1 - level) * clean + level * torch.from_numpy(rng.standard_normal(clean.shape, np.float32))
    with torch.no_grad():
        text = teacher.encode(torch.from_numpy(ids), torch.from_numpy(clip_ids_of(ids)))
        free = teacher.velocity(noisy, times, empty.states.expand(count, -1, -1), empty.pooled.expand(count, -1))
        wanted = free + GUIDANCE * (teacher.velocity(noisy, times, *text) - free)
    return (student.velocity(noisy, times, *text) - wanted).square().mean()


def _open(folder: Path) -> tuple[np.memmap, np.memmap]:
    """Open the encoded pictures and their captions' ids for reading."""
    return np.load(folder / "latents.npy", mmap_mode="r"), np.load(folder / "tokens.npy", mmap_mode="r")
