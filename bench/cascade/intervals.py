"""Bootstrap intervals of many figures at once: all of a table's figures are resampled together, and so are paired."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

import numpy as np

from bench.cascade.policies import Rows
from discriminators.measures import Interval, bootstrap

RESAMPLES = 1000
LEVEL = 0.95

Name = TypeVar("Name", bound=Hashable)


def intervals(figures: Callable[[Rows], Mapping[Name, float]], count: int, seed: int) -> dict[Name, Interval]:
    """Each figure of `count` prompts with its percentile interval over `RESAMPLES` resamples of the prompts.

    Args:
        figures: of row numbers, [M] int64; a figure that a resample does not define is NaN there and left out of it.
        count: how many rows there are.
        seed: of the resamples.

    Raises:
        ValueError: there are no rows.
    """
    drawn: list[Mapping[Name, float]] = []

    def note(rows: Rows) -> float:
        drawn.append(figures(rows))
        return 0.0

    bootstrap(note, np.arange(count), resamples=RESAMPLES, level=LEVEL, seed=seed)
    estimates = figures(np.arange(count))
    return {name: _interval(value, [each[name] for each in drawn[:RESAMPLES]]) for name, value in estimates.items()}


def _interval(estimate: float, resampled: list[float]) -> Interval:
    values = np.asarray(resampled)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Interval(estimate, estimate, estimate)
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(estimate, float(low), float(high))
