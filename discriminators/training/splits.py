"""Who learns, who calibrates, who sets thresholds, who tests: 60 : 20 : 10 : 10, and no group in two parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discriminators.training.errors import PairsError, TooFewPairsError
from discriminators.training.pairs import Pairs, Rows

PARTS = ("train", "calibrate", "threshold", "test")
"""What the numbers 0, 1, 2 and 3 of `Pairs.split` mean."""

_BOUNDS = (0.6, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Split:
    """Row numbers of each part, ascending.

    Attributes:
        train: the head is fitted on these.
        calibrate: its logits become probabilities on these.
        threshold: for whoever chooses thresholds with guarantees; nothing else looks at them.
        test: the figures of the model card.
    """

    train: Rows
    calibrate: Rows
    threshold: Rows
    test: Rows

    @property
    def counts(self) -> dict[str, int]:
        """How many rows each part has."""
        return {part: len(getattr(self, part)) for part in PARTS}


def split_of(pairs: Pairs, seed: int) -> Split:
    """The split that came with the pairs, or one drawn with `seed`.

    Raises:
        PairsError: the given split cuts a group or names an unknown part.
        TooFewPairsError: a part would be empty.
    """
    parts = _checked(pairs) if len(pairs.split) else drawn(pairs.group, seed)
    split = Split(*(np.flatnonzero(parts == number) for number in range(len(PARTS))))
    empty = [part for part, count in split.counts.items() if count == 0 and part != "threshold"]
    if empty:
        raise TooFewPairsError(
            f"{len(np.unique(pairs.group))} prompts are too few: nothing is left to {', '.join(empty)}. Collect more."
        )
    return split


def drawn(group: NDArray[np.int64], seed: int) -> Rows:
    """[N] int64: the part of each row, whole groups in an order that depends on nothing but their number and `seed`.

    So when pairs are added, almost every prompt stays in its part, and a new head's test prompts are unknown to an
    old one too.
    """
    place, member, count = _places(group, seed)
    bounds = [round(bound * count) for bound in _BOUNDS]
    return np.searchsorted(bounds, place[member], side="right").astype(np.int64)


def folds(group: NDArray[np.int64], seed: int, count: int) -> Rows:
    """[N] int64 in 0..count-1: a fold per row, whole groups in the order of another seed."""
    place, member, _ = _places(group, ~seed)
    return np.asarray(place[member] % count, np.int64)


def _places(group: NDArray[np.int64], seed: int) -> tuple[Rows, Rows, int]:
    """(place of each group in a shuffled order, group of each row, how many groups)."""
    names, member = np.unique(group, return_inverse=True)
    order = np.argsort(_mixed(names.astype(np.uint64) + _mixed(np.array([seed]).astype(np.uint64))), kind="stable")
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return place, member.astype(np.int64), len(names)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser (Steele, Lea and Flood, 2014): neighbours become unrelated."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _checked(pairs: Pairs) -> Rows:
    if not np.isin(pairs.split, np.arange(len(PARTS))).all():
        raise PairsError(f"The split must name parts by 0..{len(PARTS) - 1}: {', '.join(PARTS)}.")
    if len(np.unique(pairs.group)) != len(np.unique(np.stack([pairs.group, pairs.split]), axis=1).T):
        raise PairsError("The split cuts a group: rows of one prompt must all be in one part.")
    return pairs.split
