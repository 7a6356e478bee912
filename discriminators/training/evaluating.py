"""Heads as they will be served, measured on pairs that they were not made from."""

from __future__ import annotations

from pathlib import Path

from cascade.model_folder import ModelFolder
from discriminators.calibrated_head import CalibratedHead, Kind
from discriminators.embeddings import Embeddings
from discriminators.training.errors import HeadUnfitError, TooFewPairsError
from discriminators.training.pairs import MARGIN, Pairs
from discriminators.training.report import Judged

LEAST_PROMPTS = 30
"""Below this a bootstrap over prompts says nothing."""

_EVERY_KIND = frozenset(Kind)


def judge_pairs(head: Path, clip: Embeddings, pairs: Pairs, margin: float) -> Judged:
    """A head's calibrated probabilities for all pairs, beside the truth.

    Args:
        head: its folder.
        clip: whose embeddings the pairs hold.
        pairs: to judge.
        margin: of the labels.

    Raises:
        ModelFilesError: the folder is corrupt or the head belongs to another CLIP.
        DiscriminatorError: the network failed.
    """
    loaded = CalibratedHead(head, clip, _EVERY_KIND, threads=1)
    return Judged.of(loaded.probabilities(pairs.image, pairs.text), pairs, margin)


def margin_of(head: Path) -> float:
    """By how much heavy had to exceed light in what a head was taught.

    Raises:
        ModelFilesError: its folder is missing or corrupt.
    """
    return ModelFolder(head).settings("calibration.json").number("margin", MARGIN)


def require_exchangeable(candidate: Path, current: Path) -> None:
    """Refuse to put a head where another kind of it is used: a router judges no picture.

    Raises:
        HeadUnfitError: exactly one of them is a router.
        ModelFilesError: a folder is missing or corrupt.
    """
    kinds = [ModelFolder(head).settings("calibration.json").text("kind", Kind.PAIR) for head in (candidate, current)]
    if (Kind.ROUTER in kinds) and len(set(kinds)) > 1:
        raise HeadUnfitError(f"Head {candidate.name} is a {kinds[0]} head and {current.name} a {kinds[1]} head.")


def require_enough(prompts: int) -> None:
    """Refuse to measure on too few prompts.

    Raises:
        TooFewPairsError: there are fewer than 30.
    """
    if prompts < LEAST_PROMPTS:
        raise TooFewPairsError(
            f"Only {prompts} prompts are new to every head compared; {LEAST_PROMPTS} are needed. Collect more pairs."
        )
