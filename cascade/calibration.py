"""Thresholds from what a discriminator was calibrated on.

RouteLLM's idea: an operator says which share should climb, the calibration data say at which score that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def threshold_for(deferral_rate: float, score_quantiles: Sequence[float]) -> float:
    """The threshold below which `deferral_rate` of the calibration scores lie.

    Args:
        deferral_rate: the share that should climb, in [0, 1].
        score_quantiles: scores at evenly spaced quantiles 0 … 1 of the calibration data, ascending, at least two.

    Raises:
        ValueError: the rate is outside [0, 1] or the quantiles are not ascending scores.
    """
    if not 0 <= deferral_rate <= 1:
        raise ValueError(f"deferral rate {deferral_rate} is outside [0, 1]")
    quantiles = tuple(score_quantiles)
    ascending = all(low <= high for low, high in pairwise(quantiles))  # false if one is NaN
    if len(quantiles) < 2 or not (ascending and quantiles[0] >= 0 and quantiles[-1] <= 1):  # noqa: PLR2004
        raise ValueError("score quantiles must be at least two ascending scores in [0, 1]")
    if deferral_rate == 1:
        return 1.0
    if deferral_rate == 0:
        return 0.0
    below, beyond = divmod(deferral_rate * (len(quantiles) - 1), 1)
    low, high = quantiles[int(below) : int(below) + 2]
    return low + beyond * (high - low)
