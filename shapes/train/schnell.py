"""shapes-schnell, the light tier: two large Euler steps, distilled from shapes-dev, half its size.

First a bank: shapes-dev draws many pictures and each path is kept at the student's noise levels. Then the student
learns, for every segment, the straight line from where the path enters to where it leaves. Half of the later segments
start where its own steps ended, and there the teacher says anew where to go: so the student learns to mend what it
will meet, and never averages over paths that it has left. It starts as its teacher's first and last blocks, and shares
the text encoders and the autoencoder with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from shapes.captions import caption, parse
from shapes.scenes import Difficulty, Scene, Split
from shapes.train import team
from shapes.train.course import Average, Course, Figures, follow
from shapes.train.dev import load_generator, optimisers, set_rates
from shapes.train.flow import Condition, Eye, condition, examine, integrate, noise, sigmas, table
from shapes.train.latents import create_map, open_map
from shapes.train.networks import HEAVY, LIGHT, Depth, Generator
from shapes.train.pictures import scene_of, training_scene
from shapes.train.precision import autocast
from shapes.train.words import LENGTH, clip_ids_of, decode, encode, t5_tokenizer

STEPS = 2
BATCH = 128
PEAK_RATE = 2e-3
_PATHS_PER_STEP = 250
_TEACHER_STEPS = 8
_KEPT = 4
_OWN_SHARE = 0.5
_EASY_SHARE = 0.85
"""With two steps to spend, plain pictures come first; in the last eighth of the course there are no others."""
_LAST = 7 / 8


def build_bank(course: Course, teacher: Course) -> None:
    """Have the teacher draw 250 paths per step, over the whole team; keep [5, 16, 64] of each, at four levels and 0."""
    generator = load_generator(teacher, HEAVY)
    mine = team.share(_PATHS_PER_STEP)
    paths, tokens = _open_bank(course.folder, course.steps * _PATHS_PER_STEP)
    levels = sigmas(_TEACHER_STEPS)
    stride = _TEACHER_STEPS // _KEPT

    def step(step_number: int) -> Figures:
        number = step_number * team.size() + team.rank()
        span = slice(number * mine, (number + 1) * mine)
        rng = np.random.default_rng([course.seed, number, 3])
        captions = [caption(_scene(rng), rng) for _ in range(mine)]
        tokens[span] = encode(t5_tokenizer(), captions)
        text = condition(generator, captions)
        state = noise([int(seed) for seed in rng.integers(2**62, size=mine)])
        paths[span, 0] = state.numpy()
        for segment in range(_KEPT):
            part = levels[segment * stride : (segment + 1) * stride + 1]
            state = integrate(generator, state, text, part)
            paths[span, segment + 1] = state.numpy()
        return {"spread": state.std().item()}

    follow(course, {}, step)
    paths.flush()
    tokens.flush()
    team.wait()


def _scene(rng: np.random.Generator) -> Scene:
    """Draw a scene of the training mix, or, every second time, an easy one."""
    if rng.random() < 0.5:  # noqa: PLR2004
        return scene_of(rng, Difficulty.EASY, Split.TRAIN)
    return training_scene(rng)


def _open_bank(folder: Path, count: int) -> tuple[np.memmap, np.memmap]:
    """Open the bank's two files; the team's first member creates them."""
    if team.rank() == 0:
        create_map(folder / "paths.npy", "<f2", (count, _KEPT + 1, 16, 64))
        create_map(folder / "path_tokens.npy", "|u1", (count, LENGTH))
    team.wait()
    return open_map(folder / "paths.npy"), open_map(folder / "path_tokens.npy")


@dataclass(frozen=True, slots=True)
class Paths:
    """Some of the teacher's paths, float32 [B, 5, 16, 64], and their captions' ids, int64 [B, 20]."""

    states: torch.Tensor
    ids: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bank:
    """The teacher's paths, float16 [N, 5, 16, 64], their captions' ids, uint8 [N, 20], and which are easy or not."""

    paths: np.memmap
    tokens: np.memmap
    easy: NDArray[np.intp]
    other: NDArray[np.intp]

    @classmethod
    def open(cls, folder: Path) -> Bank:
        """Open the files `build_bank` wrote."""
        tokens = np.load(folder / "path_tokens.npy", mmap_mode="r")
        easy = np.array([parse(text).difficulty is Difficulty.EASY for text in decode(tokens)])
        paths = np.load(folder / "paths.npy", mmap_mode="r")
        return cls(paths, tokens, np.flatnonzero(easy), np.flatnonzero(~easy))

    def draw(self, rng: np.random.Generator, count: int, easy_share: float) -> Paths:
        """Draw paths, of which that share is easy."""
        easy = int(rng.binomial(count, easy_share))
        rows = np.sort(np.concatenate([rng.choice(self.easy, easy), rng.choice(self.other, count - easy)]))
        return Paths(torch.from_numpy(self.paths[rows].astype(np.float32)), self.tokens[rows].astype(np.int64))


def train(course: Course, teacher: Course, batch: int = BATCH) -> None:
    """Train the student along `course`; prints the oracle's report at every checkpoint."""
    torch.manual_seed(course.seed)
    heavy = load_generator(teacher, HEAVY)
    student = pruned(heavy, HEAVY, LIGHT)
    bank, eye = Bank.open(course.folder), Eye.open(course.folder)
    average = Average(student, 0.998)
    learners = optimisers(nn.ModuleDict({"transformer": student.transformer}), PEAK_RATE)
    parts = {f"optimiser{number}": learner for number, learner in enumerate(learners)}

    def step(number: int) -> Figures:
        set_rates(learners, PEAK_RATE * course.schedule(number))
        rng = np.random.default_rng([course.seed, number, team.rank()])
        share = _EASY_SHARE if number < _LAST * course.steps else 1.0
        loss = _segment_loss(student, heavy, bank.draw(rng, batch // team.size(), share), rng)
        for learner in learners:
            learner.zero_grad(set_to_none=True)
        loss.backward()
        team.average_gradients(student.transformer.parameters())
        nn.utils.clip_grad_norm_(student.transformer.parameters(), 1.0)
        for learner in learners:
            learner.step()
        average.update()
        return {"loss": loss.item()}

    def watch(done: int) -> None:
        del done
        course.console.print(table(examine(load_generator(course, LIGHT), eye, STEPS, count=64)))

    follow(course, {"generator": student, "average": average, **parts}, step, watch)


def pruned(teacher: Generator, depth: Depth, kept: Depth) -> Generator:
    """Return a generator with the teacher's text encoders, first two-stream blocks and last one-stream blocks."""
    student = Generator(kept)
    learned, dropped = teacher.state_dict(), depth.single - kept.single
    student.load_state_dict({name: learned[_kept_as(name, dropped)] for name in student.state_dict()})
    return student


def _kept_as(name: str, dropped: int) -> str:
    """What the student's parameter is called in a teacher with `dropped` more one-stream blocks before."""
    return re.sub(r"(?<=single_transformer_blocks\.)\d+", lambda number: str(int(number[0]) + dropped), name)


def _segment_loss(student: Generator, teacher: Generator, paths: Paths, rng: np.random.Generator) -> torch.Tensor:
    """Mean squared error of one large step's velocity against the straight line to where the teacher goes."""
    count, stride = len(paths.ids), _KEPT // STEPS
    segment = rng.permutation(np.arange(count) % STEPS)
    rows = torch.arange(count)
    enters, leaves = paths.states[rows, segment * stride], paths.states[rows, (segment + 1) * stride]
    levels = np.asarray(sigmas(STEPS), np.float32)
    now, then = torch.from_numpy(levels[segment]), torch.from_numpy(levels[segment + 1])
    with torch.no_grad():
        text = Condition(*student.encode(torch.from_numpy(paths.ids), torch.from_numpy(clip_ids_of(paths.ids))))
        own = np.flatnonzero((segment > 0) & (rng.random(count) < _OWN_SHARE))
        if len(own):
            enters[own] = _own_entries(student, paths.states[own, 0], text[own], segment[own])
            leaves[own] = _exits(teacher, enters[own], text[own], segment[own])
    with autocast():
        velocity = student.velocity(enters, now, text.states, text.pooled)
    target = (enters - leaves) / (now - then)[:, None, None]
    return (velocity.float() - target).square().mean()


def _own_entries(student: Generator, starts: torch.Tensor, text: Condition, segment: NDArray[np.int64]) -> torch.Tensor:
    """Return where the student itself enters each segment, [B, 16, 64], coming from noise of the same shape."""
    entries, state = starts.clone(), starts
    levels = sigmas(STEPS)
    for reached in range(1, STEPS):
        state = integrate(student, state, text, levels[reached - 1 : reached + 1])
        here = torch.from_numpy(segment == reached)
        entries[here] = state[here]
    return entries


def _exits(teacher: Generator, entries: torch.Tensor, text: Condition, segment: NDArray[np.int64]) -> torch.Tensor:
    """Return where the teacher leaves each segment, [B, 16, 64], coming from entries of the same shape."""
    exits = torch.empty_like(entries)
    levels, stride = sigmas(_TEACHER_STEPS), _TEACHER_STEPS // STEPS
    for reached in range(STEPS):
        here = np.flatnonzero(segment == reached)
        if len(here):
            part = levels[reached * stride : (reached + 1) * stride + 1]
            exits[here] = integrate(teacher, entries[here], text[here], part)
    return exits
