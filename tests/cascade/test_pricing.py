"""What a stage will cost."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.pricing import DurationProfile, to_gpu_ms

PROFILE = DurationProfile(text_ms=10, evaluation_ms=2, token_ms=0.5, megapixel_ms=1_000, band=1.5)
SIDES = st.integers(1, 128).map(lambda count: 16 * count)


def test_the_formula_by_hand():
    assert PROFILE.median_ms(64, 32, 4) == pytest.approx(10 + 4 * (2 + 0.5 * 8) + 1_000 * 2_048 / 1e6)


def test_a_started_token_is_a_whole_one():
    assert PROFILE.median_ms(17, 16, 1) == pytest.approx(10 + 2 + 0.5 * 2 + 1_000 * 272 / 1e6)


@given(SIDES, SIDES, st.integers(1, 50), SIDES, st.integers(1, 50))
def test_more_pixels_or_steps_never_cost_less(width, height, steps, more_width, more_steps):
    less = PROFILE.median_ms(min(width, more_width), height, min(steps, more_steps))

    assert less <= PROFILE.median_ms(max(width, more_width), height, max(steps, more_steps))


@pytest.mark.parametrize(
    ("milliseconds", "weight", "gpu_ms"), [(0, 1, 0), (0.001, 1, 1), (100, 1, 100), (100.2, 1, 101), (100, 0.25, 25)]
)
def test_time_that_ran_is_never_free(milliseconds, weight, gpu_ms):
    assert to_gpu_ms(milliseconds, weight) == gpu_ms


@given(st.floats(0, 1e9), st.floats(0.01, 100))
def test_a_price_is_whole_and_not_below_the_time(milliseconds, weight):
    price = to_gpu_ms(milliseconds, weight)

    assert isinstance(price, int)
    assert price - 1 <= milliseconds * weight <= price


@pytest.mark.parametrize("part", ["text_ms", "evaluation_ms", "token_ms", "megapixel_ms"])
@pytest.mark.parametrize("value", [-1, math.inf, math.nan])
def test_a_profile_of_impossible_times_is_refused(part, value):
    with pytest.raises(ValueError, match="finite"):
        replace(PROFILE, **{part: value})


@pytest.mark.parametrize("band", [0.99, math.inf, math.nan])
def test_a_band_below_one_or_without_end_is_refused(band):
    with pytest.raises(ValueError, match="band"):
        replace(PROFILE, band=band)
