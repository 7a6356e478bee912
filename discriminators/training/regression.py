"""Penalised logistic regression with the gain regressed beside it: the head for few pairs."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.nn import functional

from discriminators.training.examples import Examples
from discriminators.training.heads import Line

PENALTIES = (3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4)
"""Tried from the strongest on, each starting where the last one ended, until the held-out prompts get worse."""

_FOLDS = 5
_LEAST_SPREAD = 1e-6


def fit_line(examples: Examples, seed: int) -> Line:
    """Fit on all examples, with the penalty that did best on a fifth of the prompts held out.

    Returns:
        A `Line` for raw features: the standardising is folded in.
    """
    inner, outer = examples.held_out(seed, _FOLDS, 0)
    best, least = 0, float("inf")
    for number, line in enumerate(_path(inner, PENALTIES)):
        error = outer.brier(line)
        if error >= least:
            break
        best, least = number, error
    *_, line = _path(examples, PENALTIES[: best + 1])
    return line


def _path(examples: Examples, penalties: tuple[float, ...]) -> Iterator[Line]:
    """A line for each penalty."""
    mean, spread = examples.x.double().mean(0), examples.x.double().std(0).clamp_min(_LEAST_SPREAD)
    x = (examples.x.double() - mean) / spread
    weight = torch.zeros(x.shape[1], 2, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    for penalty in penalties:
        _solve(x, examples, weight, bias, penalty)
        yield _folded(weight.detach(), bias.detach(), mean, spread, examples)


def _solve(x: torch.Tensor, examples: Examples, weight: torch.Tensor, bias: torch.Tensor, penalty: float) -> None:
    """Move weight [P, 2] and bias [2] to the least penalised loss."""
    solver = torch.optim.LBFGS([weight, bias], max_iter=100, line_search_fn="strong_wolfe")
    label, gain, sample = examples.label.double(), examples.standard_gain().double(), examples.weight.double()

    def closure() -> torch.Tensor:
        solver.zero_grad()
        answer = x @ weight + bias
        wrong = functional.binary_cross_entropy_with_logits(answer[:, 0], label, reduction="none")
        off = functional.huber_loss(answer[:, 1], gain, reduction="none")
        loss = (sample * (wrong + off)).mean() + penalty * weight.square().sum()
        loss.backward()
        return loss

    solver.step(closure)


def _folded(
    weight: torch.Tensor, bias: torch.Tensor, mean: torch.Tensor, spread: torch.Tensor, examples: Examples
) -> Line:
    """The line for raw features and the gain's own unit."""
    raw = weight / spread[:, None]
    unit = torch.tensor([1.0, examples.gain_spread], dtype=torch.float64)
    shift = torch.tensor([0.0, examples.gain_mean], dtype=torch.float64)
    line = Line(len(mean))
    with torch.no_grad():
        line.linear.weight.copy_((raw * unit).T)
        line.linear.bias.copy_((bias - mean @ raw) * unit + shift)
    return line
