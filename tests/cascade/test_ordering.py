"""Who is served first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cascade.ordering import STRETCH, deadline_ms

TIMES = st.integers(0, 2**42)
WORK = st.integers(0, 10_000_000)


@given(TIMES, WORK, WORK)
def test_of_two_that_arrive_together_the_shorter_is_served_first(arrival, one, other):
    short, long = sorted((one, other))

    assert deadline_ms(arrival, short) <= deadline_ms(arrival, long)


@given(TIMES, WORK, WORK)
def test_long_work_ages_and_is_not_overtaken_for_ever(arrival, short, long):
    patience = round(STRETCH * long) + 1

    assert deadline_ms(arrival, long) < deadline_ms(arrival + patience, short)


@given(TIMES, WORK, st.integers(0, 1_000_000))
def test_a_deadline_is_whole_not_before_arrival_and_moved_by_the_base(arrival, work, base):
    assert isinstance(deadline_ms(arrival, work), int)
    assert deadline_ms(arrival, work, base) == deadline_ms(arrival, work) + base >= arrival
