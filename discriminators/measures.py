"""How good a discriminator is: ranking, calibration, and what its order of escalation is worth. Pure numpy.

Labels may be fractional (the share of heavy pictures that won) and rows may have weights (inverse sampling propensity;
all one by default). Utilities are in 0..1. `escalate` is any score whose higher values climb first: P(heavy better), or
the negative of a public score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]
Statistic = Callable[[Rows], float]
"""A figure of the rows with these numbers, [M] int64, of whatever data it was made for; rows may repeat."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and what it lies between at the level asked for."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class DeferralCurve:
    """Mean utility against the share that climbs, straight between its points.

    Attributes:
        shares: [P] float64 rising from 0 to 1.
        utilities: [P] float64; the first is that of light pictures only, the last that of heavy ones only.
    """

    shares: Vector
    utilities: Vector

    def at(self, share: float) -> float:
        """Mean utility when `share` (0..1) of the requests climb."""
        return float(np.interp(share, self.shares, self.utilities))

    @property
    def area(self) -> float:
        """Area under the curve: the mean utility when every share is as likely as another."""
        return float(np.trapezoid(self.utilities, self.shares))


def auroc(scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Area under the ROC curve: the chance that a positive outranks a negative, a tie counting half.

    Args:
        scores: [N], higher for more positive.
        labels: [N] in 0..1; a fractional one is that much of a positive and the rest of a negative.
        weights: [N] above 0.

    Returns:
        0..1; 0.5 where there are only positives or only negatives, and so nothing to rank.

    Raises:
        ValueError: lengths differ, or there are no rows.
    """
    score, label, weight = _columns(scores, labels, weights)
    _, place = np.unique(score, return_inverse=True)
    positive = np.bincount(place, weight * label)
    negative = np.bincount(place, weight * (1 - label))
    pairs = positive.sum() * negative.sum()
    outranked = np.cumsum(negative) - negative / 2
    return float((positive * outranked).sum() / pairs) if pairs > 0 else 0.5


def brier(probabilities: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Mean squared distance of probabilities from labels, both [N] in 0..1; 0 is best.

    Raises:
        ValueError: lengths differ, or there are no rows.
    """
    probability, label, weight = _columns(probabilities, labels, weights)
    return float(np.average(np.square(probability - label), weights=weight))


def calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None, *, bins: int = 15
) -> float:
    """Expected calibration error: mean |probability - label| of bins of equal mass; equal probabilities share a bin.

    Args:
        probabilities: [N] in 0..1.
        labels: [N] in 0..1.
        weights: [N] above 0.
        bins: how many.

    Raises:
        ValueError: lengths differ, or there are no rows.
    """
    probability, label, weight = _columns(probabilities, labels, weights)
    _, place = np.unique(probability, return_inverse=True)
    mass = np.bincount(place, weight)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    bin_of = np.minimum((middle * bins).astype(np.int64), bins - 1)[place]
    gaps = np.bincount(bin_of, weight * (probability - label))
    return float(np.abs(gaps).sum() / weight.sum())


def deferral_curve(
    escalate: ArrayLike, light: ArrayLike, heavy: ArrayLike, weights: ArrayLike | None = None
) -> DeferralCurve:
    """What utility escalating in this order buys.

    Args:
        escalate: [N]; the highest climb first, equal ones in random order (their expectation is taken).
        light: [N] utility of the light picture.
        heavy: [N] expected utility of the heavy one.
        weights: [N] above 0.

    Raises:
        ValueError: lengths differ, or there are no rows.
    """
    order, utility, weight = _columns(escalate, light, weights)
    gain = np.asarray(heavy, np.float64) - utility
    _, place = np.unique(-order, return_inverse=True)
    total = weight.sum()
    climbed = np.bincount(place, weight) / total
    gained = np.bincount(place, weight * gain) / total
    kept = float(np.average(utility, weights=weight))
    return DeferralCurve(np.concatenate([[0.0], np.cumsum(climbed)]), kept + np.concatenate([[0.0], np.cumsum(gained)]))


def deferral_area(escalate: ArrayLike, gain: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Area under the deferral curve, 0 for a random order and 1 for the order of the gain itself (the pair oracle).

    Args:
        escalate: [N]; the highest climb first.
        gain: [N] expected heavy utility minus light utility.
        weights: [N] above 0.

    Returns:
        At most 1, negative for an order worse than random; 0 where every order is worth the same.

    Raises:
        ValueError: lengths differ, or there are no rows.
    """
    gains = np.asarray(gain, np.float64)
    nothing = np.zeros_like(gains)
    random = deferral_curve(nothing, nothing, gains, weights).area
    most = deferral_curve(gains, nothing, gains, weights).area - random
    if most <= np.finfo(np.float64).eps * max(1.0, float(np.abs(gains).max())):
        return 0.0
    return (deferral_curve(escalate, nothing, gains, weights).area - random) / most


def bootstrap(
    statistic: Statistic, groups: ArrayLike, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Interval:
    """A figure with its percentile bootstrap interval, whole groups drawn with replacement.

    The interval is shifted by the bootstrap's own estimate of the bias (mean of the draws minus the figure; Efron and
    Tibshirani, An introduction to the bootstrap, 1993): a calibration error of resampled rows is always larger.

    Args:
        statistic: of row numbers.
        groups: [N] the prompt (or other cluster) of each row.
        resamples: how many draws.
        level: share of the draws that the interval holds.
        seed: of the draws.

    Raises:
        ValueError: there are no rows.
    """
    members = _members(np.asarray(groups))
    rng = np.random.default_rng([seed, 11])
    draws = np.empty(resamples)
    for number in range(resamples):
        chosen = rng.integers(len(members), size=len(members))
        draws[number] = statistic(np.concatenate([members[group] for group in chosen]))
    estimate = statistic(np.arange(np.size(groups)))
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]) - (draws.mean() - estimate)
    return Interval(estimate, float(low), float(high))


def paired_bootstrap(
    first: Statistic,
    second: Statistic,
    groups: ArrayLike,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """How much `first` exceeds `second` on the same rows, with its bootstrap interval over groups.

    Raises:
        ValueError: there are no rows.
    """
    return bootstrap(lambda rows: first(rows) - second(rows), groups, resamples=resamples, level=level, seed=seed)


def mean_of(values: ArrayLike) -> Statistic:
    """The mean of `values` [N] as a statistic to bootstrap."""
    column = np.asarray(values, np.float64)
    return lambda rows: float(column[rows].mean())


def wilson(successes: float, trials: float, *, level: float = 0.95) -> Interval:
    """A share with Wilson's score interval (Probable inference, 1927).

    Raises:
        ValueError: there were no trials, or more successes than trials.
    """
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials is not a share")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / trials
    middle = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    reach = z / (1 + z**2 / trials) * (share * (1 - share) / trials + z**2 / (4 * trials**2)) ** 0.5
    return Interval(share, max(0.0, middle - reach), min(1.0, middle + reach))


def _columns(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None) -> tuple[Vector, Vector, Vector]:
    """Two columns and the weights as float64 of one length."""
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    weight = np.ones_like(one) if weights is None else np.asarray(weights, np.float64)
    if one.ndim != 1 or one.shape != other.shape or one.shape != weight.shape or one.size == 0:
        raise ValueError(
            f"need columns of one length, at least one row; got {one.shape}, {other.shape}, {weight.shape}"
        )
    return one, other, weight


def _members(groups: NDArray[np.generic]) -> list[Rows]:
    """The row numbers of each group."""
    if groups.size == 0:
        raise ValueError("there are no rows to draw from")
    order = np.argsort(groups, kind="stable").astype(np.int64)
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
