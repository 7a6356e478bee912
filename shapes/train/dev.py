"""shapes-dev, the heavy tier: rectified flow in the latents, text encoders trained jointly with the transformer."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from shapes.train import team
from shapes.train.course import Average, Course, Figures, follow
from shapes.train.flow import Eye, examine, table
from shapes.train.grounding import Grounding, answers_of, school
from shapes.train.muon import Muon
from shapes.train.networks import HEAVY, Depth, Generator
from shapes.train.precision import autocast
from shapes.train.words import END, PAD, VOCABULARY, clip_ids_of

BATCH = 128
PEAK_RATE = 1.5e-3
STEPS_SHIPPED = 20
_CAPTION_DROPOUT = 0.1
_GROUNDING = 0.1
SCHOOL_STEPS = 900


@dataclass(frozen=True, slots=True)
class Batch:
    """Latents [B, 16, 64], token ids [B, 20] in both layouts, and what grounding asks, [B, 20, 4]."""

    latents: torch.Tensor
    t5_ids: torch.Tensor
    clip_ids: torch.Tensor
    answers: torch.Tensor


class Store:
    """The encoded training set, read-only."""

    def __init__(self, folder: Path) -> None:
        self._latents = np.load(folder / "latents.npy", mmap_mode="r")
        self.tokens = np.load(folder / "tokens.npy", mmap_mode="r")
        self._answers = answers_of(self.tokens)

    def batch(self, rng: np.random.Generator, count: int) -> Batch:
        """Draw a batch; one caption in ten is empty."""
        chosen = np.sort(rng.integers(len(self._latents), size=count))
        ids = self.tokens[chosen].astype(np.int64)
        dropped = rng.random(count) < _CAPTION_DROPOUT
        ids[dropped] = VOCABULARY[PAD]
        ids[dropped, 0] = VOCABULARY[END]
        answers = self._answers[chosen].astype(np.int64)
        answers[dropped] = -1
        return Batch(
            latents=torch.from_numpy(self._latents[chosen].astype(np.float32)),
            t5_ids=torch.from_numpy(ids),
            clip_ids=torch.from_numpy(clip_ids_of(ids)),
            answers=torch.from_numpy(answers),
        )


def optimisers(generator: nn.Module, rate: float = PEAK_RATE) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside transformer blocks, AdamW for everything else."""
    inside: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, parameter in generator.named_parameters():
        matrix = parameter.ndim == 2 and "blocks." in name and "norm" not in name and "transformer" in name  # noqa: PLR2004
        (inside if matrix else rest).append(parameter)
    adamw = torch.optim.AdamW(rest, rate, betas=(0.9, 0.98), weight_decay=0.01)
    return [adamw, Muon(inside, rate)] if inside else [adamw]


def set_rates(optimisers: list[torch.optim.Optimizer], rate: float) -> None:
    """Set every group's learning rate."""
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate


def sample_times(rng: np.random.Generator, count: int) -> torch.Tensor:
    """Draw noise levels in 0..1, float32 [B]: the logistic of a normal with mean 0.3, a tenth of them uniform."""
    times = 1 / (1 + np.exp(-rng.normal(0.3, 1.0, count)))
    even = rng.random(count) < 0.1  # noqa: PLR2004
    return torch.from_numpy(np.where(even, rng.random(count), times).astype(np.float32))


def losses(
    generator: Generator, grounding: Grounding, batch: Batch, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the velocity's mean squared error and the grounding's cross-entropy, both scalars."""
    count = len(batch.latents)
    times = sample_times(rng, count)
    noises = torch.from_numpy(rng.standard_normal(batch.latents.shape, np.float32))
    level = times[:, None, None]
    with autocast():
        states, pooled = generator.encode(batch.t5_ids, batch.clip_ids)
        velocity = generator.velocity((1 - level) * batch.latents + level * noises, times, states, pooled)
    error = (velocity.float() - (noises - batch.latents)).square().mean()
    return error, grounding(states.float(), batch.answers)


def train(course: Course, depth: Depth = HEAVY, batch: int = BATCH, schooling: int = SCHOOL_STEPS) -> None:
    """Train along `course` after `schooling` steps of the sequence encoder's own.

    Prints the oracle's report on unseen prompts at every other checkpoint.
    """
    torch.manual_seed(course.seed)
    generator = Generator(depth)
    generator.train()
    store, eye = Store(course.folder), Eye.open(course.folder)
    lessons = replace(course, name="school", steps=schooling)
    grounding = school(generator.sequence_encoder, store.tokens, lessons)
    average = Average(generator, 0.998)
    learners = [*optimisers(generator), torch.optim.AdamW(grounding.parameters(), PEAK_RATE)]
    learned = [*generator.parameters(), *grounding.parameters()]
    parts = {f"optimiser{number}": learner for number, learner in enumerate(learners)}

    def step(number: int) -> Figures:
        set_rates(learners, PEAK_RATE * course.schedule(number, decay=0.35))
        rng = np.random.default_rng([course.seed, number, team.rank()])
        loss, doubt = losses(generator, grounding, store.batch(rng, batch // team.size()), rng)
        for learner in learners:
            learner.zero_grad(set_to_none=True)
        (loss + _GROUNDING * doubt).backward()
        team.average_gradients(learned)
        nn.utils.clip_grad_norm_(learned, 1.0)
        for learner in learners:
            learner.step()
        average.update()
        return {"loss": loss.item(), "grounding": doubt.item()}

    def watch(done: int) -> None:
        if done % (2 * course.save_every) and done != course.steps:
            return
        course.console.print(table(examine(load_generator(course, depth), eye, 12, count=48)))

    follow(course, {"generator": generator, "grounding": grounding, "average": average, **parts}, step, watch)


def load_generator(course: Course, depth: Depth) -> Generator:
    """Load the averaged generator out of `course`'s checkpoint, in evaluation mode."""
    generator = Generator(depth)
    state = torch.load(course.checkpoint, weights_only=True)
    generator.load_state_dict(state["average"]["shadow"])
    return generator.eval().requires_grad_(requires_grad=False)
