"""Which head may take another's place, and the exchange of their folders."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discriminators.measures import Interval
from discriminators.training.errors import HeadUnfitError
from discriminators.training.swapping import previous_of, put, swap_in

DECISIVE = "deferral_area"
"""The measure that a promotion is about: what the order of escalation is worth."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a candidate is better, and the numbers in a sentence."""

    better: bool
    reason: str


def decide(difference: Interval, prompts: int, *, against: str) -> Decision:
    """Whether the whole interval of the deferral area's difference lies above 0.

    Args:
        difference: candidate minus what it would replace.
        prompts: how many it was measured on.
        against: what it would replace, in words.
    """
    better = difference.low > 0
    verdict = "is better than" if better else "is not shown to be better than"
    return Decision(
        better,
        f"The candidate {verdict} {against}: deferral area {difference.estimate:+.3f}, 95 % interval "
        f"{difference.low:+.3f} to {difference.high:+.3f}, on {prompts} prompts that neither was made from.",
    )


def promote(candidate: Path, place: Path, record: Mapping[str, Any]) -> None:
    """Put a copy of the candidate in `place`, in one step; what was there is kept for `roll_back`.

    Args:
        candidate: its folder, which stays.
        place: of the head in service.
        record: written beside the head as `promotion.json`.

    Raises:
        OSError: a folder cannot be written; `place` is untouched.
    """

    def write(folder: Path) -> None:
        shutil.copytree(candidate, folder, dirs_exist_ok=True)
        (folder / "promotion.json").write_text(json.dumps(record, indent=1) + "\n", "utf-8")

    swap_in(place, write, keep=previous_of(place))


def roll_back(place: Path) -> None:
    """Exchange the head in `place` and the one before it. Doing it twice changes nothing.

    Raises:
        HeadUnfitError: nothing was kept.
        OSError: the folders cannot be moved.
    """
    previous = previous_of(place)
    if not previous.is_dir():
        raise HeadUnfitError(f"No head was kept before {place.name}, so there is nothing to go back to.")
    put(previous, place)
