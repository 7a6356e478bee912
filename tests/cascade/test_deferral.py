"""Accept or escalate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.deferral import decide
from cascade.jobs import Score, Verdict
from tests.builders import a_stage

SCORES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("score", "threshold", "last", "verdict"),
    [
        (0.6, 0.5, False, Verdict.ACCEPT),
        (0.5, 0.5, False, Verdict.ACCEPT),
        (0.4, 0.5, False, Verdict.ESCALATE),
        (0.0, 0.0, False, Verdict.ACCEPT),
        (0.999, 1.0, False, Verdict.ESCALATE),
        (0.0, 1.0, True, Verdict.ACCEPT),
        (None, 1.0, False, Verdict.ACCEPT),
        (None, 1.0, True, Verdict.ACCEPT),
    ],
)
def test_the_verdict_follows_score_threshold_and_place(score, threshold, last, verdict):
    judged = None if score is None else Score(score)

    assert decide(judged, a_stage(threshold=threshold), last=last) is verdict


@given(st.lists(SCORES, min_size=1), SCORES, SCORES)
def test_raising_the_threshold_never_lowers_the_deferral_rate(scores, one, other):
    low, high = sorted((one, other))

    def climbing(threshold):
        stage = a_stage(threshold=threshold)
        return sum(decide(Score(score), stage, last=False) is Verdict.ESCALATE for score in scores)

    assert climbing(low) <= climbing(high)


@given(SCORES | st.none(), SCORES)
def test_the_last_stage_always_accepts(score, threshold):
    judged = None if score is None else Score(score)

    assert decide(judged, a_stage(threshold=threshold), last=True) is Verdict.ACCEPT


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_score_outside_its_range_is_no_score(value):
    with pytest.raises(ValueError, match="outside"):
        Score(value)
