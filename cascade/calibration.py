"""Thresholds from what a discriminator was calibrated on.

RouteLLM's idea: an operator says which share should climb, the calibration data say at which score that is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
    quantiles = np.asarray(score_quantiles, dtype=float)
    ascending = bool(np.all(np.diff(quantiles) >= 0))  # false if one is NaN
    if quantiles.size < 2 or not (ascending and quantiles[0] >= 0 and quantiles[-1] <= 1):  # noqa: PLR2004
        raise ValueError("score quantiles must be at least two ascending scores in [0, 1]")
    if deferral_rate == 1:
        return 1.0
    if deferral_rate == 0:
        return 0.0
    return float(np.interp(deferral_rate, np.linspace(0, 1, quantiles.size), quantiles))
