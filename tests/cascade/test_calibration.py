"""Thresholds from a target deferral rate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.calibration import threshold_for
from cascade.deferral import decide
from cascade.jobs import Score, Verdict
from tests.builders import a_stage

RATES = st.floats(0, 1)
QUANTILES = st.lists(st.floats(0, 1), min_size=2, max_size=30).map(sorted)


@pytest.mark.parametrize(
    ("rate", "threshold"), [(0, 0.0), (0.25, 0.3), (0.5, 0.4), (0.75, 0.6), (0.875, 0.7), (1, 1.0)]
)
def test_the_threshold_is_the_quantile_of_the_rate(rate, threshold):
    assert threshold_for(rate, [0.2, 0.3, 0.4, 0.6, 0.8]) == pytest.approx(threshold)


@given(RATES, RATES, QUANTILES)
def test_a_higher_rate_never_lowers_the_threshold(one, other, quantiles):
    low, high = sorted((one, other))

    assert 0 <= threshold_for(low, quantiles) <= threshold_for(high, quantiles) + 1e-12 <= 1 + 1e-12


@given(st.integers(0, 100), st.integers(0, 2**32 - 1))
def test_the_wanted_share_of_the_calibration_scores_climbs(percent, seed):
    scores = np.sort(np.random.default_rng(seed).random(1_001))
    stage = a_stage(threshold=threshold_for(percent / 100, scores.tolist()))

    climbing = sum(decide(Score(score), stage, last=False) is Verdict.ESCALATE for score in scores)

    assert climbing / scores.size == pytest.approx(percent / 100, abs=0.002)


@pytest.mark.parametrize("rate", [-0.01, 1.01, float("nan")])
def test_a_rate_outside_its_range_is_refused(rate):
    with pytest.raises(ValueError, match="deferral rate"):
        threshold_for(rate, [0, 1])


@pytest.mark.parametrize("quantiles", [[], [0.5], [0.5, 0.4], [-0.1, 0.5], [0.5, 1.1], [0.1, float("nan"), 0.9]])
def test_quantiles_that_are_not_ascending_scores_are_refused(quantiles):
    with pytest.raises(ValueError, match="ascending"):
        threshold_for(0.5, quantiles)
