"""Every figure of the benchmark that has an interval, as a function of outcomes. Pure.

A figure's name says where it stands in the report: `("policies", "cascade", "accuracy")`.
"""

from __future__ import annotations

import math
from dataclasses import asdict

from bench.cascade.policies import Outcomes, Vector, Worth, policies, shipped, worth
from discriminators.measures import calibration_error, deferral_area

Figures = dict[tuple[str, ...], float]

RIVALS = ("real_fake", "cosine", "router", "random", "light", "heavy")
"""What the cascade's differences are taken to."""

_ROUNDING = 1e-6
"""Shares that differ by exactly the margin are a tie, as where the head was trained."""


def figures(outcomes: Outcomes, threshold: float, margin: float) -> Figures:
    """All of them.

    Args:
        outcomes: N prompts'.
        threshold: of the shipped cascade.
        margin: by how much a heavy picture must exceed the light one for the head to call it better.
    """
    rows = {name: worth(outcomes, policy) for name, policy in policies(outcomes, threshold).items()}
    return {
        **_policies(rows),
        **_paired(rows),
        **_gain_shares(rows),
        **_areas(outcomes),
        **_calibration_errors(outcomes, margin),
    }


def plain_figures(outcomes: Outcomes, threshold: float) -> Figures:
    """What `light`, `heavy` and `cascade` are worth, and nothing else."""
    return _policies({name: worth(outcomes, policy) for name, policy in shipped(outcomes, threshold).items()})


def _policies(rows: dict[str, Worth]) -> Figures:
    return {("policies", name, figure): value for name, row in rows.items() for figure, value in asdict(row).items()}


def _paired(rows: dict[str, Worth]) -> Figures:
    """The cascade minus each rival, on the same prompts."""
    ours = asdict(rows["cascade"])
    return {
        ("paired", f"cascade_minus_{name}", figure): ours[figure] - value
        for name in RIVALS
        if name in rows
        for figure, value in asdict(rows[name]).items()
        if figure != "deferral_rate"
    }


def _gain_shares(rows: dict[str, Worth]) -> Figures:
    """(cascade − random) / (oracle − random): how much of what knowing the verdict is worth the score captures."""
    return {
        ("oracle_gain_share", figure): _ratio(
            getattr(rows["cascade"], figure) - getattr(rows["random"], figure),
            getattr(rows["oracle"], figure) - getattr(rows["random"], figure),
        )
        for figure in ("accuracy", "graded")
    }


def _areas(outcomes: Outcomes) -> Figures:
    """Normalised areas under the deferral curve: 0 for a random order, 1 for that of the gain itself."""
    gains = {
        "accuracy": outcomes.heavy_right - outcomes.light_right,
        "graded": _share_gain(outcomes),
    }
    return {
        ("areas", name, figure): deferral_area(order, gain)
        for name, order in outcomes.orders.items()
        for figure, gain in gains.items()
    }


def _calibration_errors(outcomes: Outcomes, margin: float) -> Figures:
    """Of `1 − score` as the chance that the heavy picture is better by more than the margin.

    `ece` counts a picture as worth 1 where all is right and else 0, so better means right where the light one is not;
    `ece_graded` counts the share that is right.
    """
    gains = {"ece": outcomes.heavy_right - outcomes.light_right, "ece_graded": _share_gain(outcomes)}
    chance = 1 - outcomes.score
    return {(name,): calibration_error(chance, gain > margin + _ROUNDING) for name, gain in gains.items()}


def _share_gain(outcomes: Outcomes) -> Vector:
    return outcomes.heavy_share - outcomes.light_share


def _ratio(part: float, whole: float) -> float:
    """`part / whole`, NaN where the whole is nothing."""
    return part / whole if abs(whole) > _ROUNDING else math.nan
