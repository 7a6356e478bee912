"""Small networks trained by gradient descent, several of them: the head for many pairs."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from discriminators.training.examples import Examples
from discriminators.training.heads import Perceptron

_GAIN, _QUALITY = 0.5, 0.25
"""Weights of the auxiliary losses: they shape what the logit shares with them."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast.

    Attributes:
        epochs: at most, unless they hold too few steps; the learning rate falls to 0 over them.
        steps: at least, so that few rows are seen more often.
        patience: stop after this share of the epochs without a better validation Brier.
        batch: rows of a step.
        rate: AdamW's highest learning rate.
        decay: AdamW's weight decay.
        validation: one of so many folds of the prompts validates, another one for each member.
    """

    epochs: int = 10
    steps: int = 800
    patience: float = 0.3
    batch: int = 256
    rate: float = 1e-3
    decay: float = 0.05
    validation: int = 10


def fit_perceptron(examples: Examples, seed: int, member: int, schedule: Schedule) -> Perceptron:
    """One member: early stopped on the Brier score of its own held-out prompts.

    Weights are rounded to fp16 precision, so that they are half as large in the file and the same numbers.
    """
    inner, outer = examples.held_out(seed, schedule.validation, member % schedule.validation)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(np.random.default_rng([seed, member, 8]).integers(2**62)))
        body = _initial(inner)
        best = _descend(body, inner, outer, schedule)
    body.load_state_dict(best)
    return _rounded(body).eval()


def _initial(examples: Examples) -> Perceptron:
    """A network that answers the base rate, the mean gain and the mean quality."""
    body = Perceptron(examples.x)
    rate = ((examples.weight * examples.label).sum() / examples.weight.sum()).clamp(0.01, 0.99)
    body.shift.copy_(torch.stack([rate.logit(), examples.gain.mean(), examples.quality.mean()]))
    with torch.no_grad():
        body.last.weight.mul_(0.1)
        body.last.bias.zero_()
    return body


def _descend(body: Perceptron, inner: Examples, outer: Examples, schedule: Schedule) -> dict[str, Any]:
    """Train; returns the state that validated best."""
    steps = -(-len(inner.label) // schedule.batch)
    epochs = max(schedule.epochs, -(-schedule.steps // steps))
    optimiser = torch.optim.AdamW(body.parameters(), schedule.rate, weight_decay=schedule.decay)
    falling = torch.optim.lr_scheduler.OneCycleLR(optimiser, schedule.rate, total_steps=steps * epochs, pct_start=0.1)
    best, least, since = copy.deepcopy(body.state_dict()), outer.brier(body), 0
    for _ in range(epochs):
        body.train()
        for rows in torch.randperm(len(inner.label)).split(schedule.batch):
            optimiser.zero_grad()
            _loss(body, inner, rows).backward()
            optimiser.step()
            falling.step()
        error = outer.brier(body)
        since = 0 if error < least else since + 1
        if since == 0:
            best, least = copy.deepcopy(body.state_dict()), error
        if since >= schedule.patience * epochs:
            break
    return best


def _loss(body: Perceptron, examples: Examples, rows: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the label, and Huber losses of gain and quality in units of their spread."""
    answer = body(examples.x[rows])
    wrong = functional.binary_cross_entropy_with_logits(answer[:, 0], examples.label[rows], reduction="none")
    gain = (answer[:, 1] - examples.gain[rows]) / examples.gain_spread
    quality = (answer[:, 2] - examples.quality[rows]) / examples.quality_spread
    zero = torch.zeros_like(gain)
    off = _GAIN * functional.huber_loss(gain, zero, reduction="none")
    off = off + _QUALITY * functional.huber_loss(quality, zero, reduction="none")
    return (examples.weight[rows] * (wrong + off)).mean()


def _rounded(body: Perceptron) -> Perceptron:
    with torch.no_grad():
        for tensor in body.parameters():
            tensor.copy_(tensor.half().float())
    return body
