"""What the measures mean, by brute force and by known cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from discriminators.measures import (
    auroc,
    bootstrap,
    brier,
    calibration_error,
    deferral_area,
    deferral_curve,
    mean_of,
    paired_bootstrap,
    wilson,
)

UNIT = st.sampled_from([0.0, 0.25, 0.5, 1.0])
ROWS = st.lists(st.tuples(st.integers(-3, 3), UNIT, st.integers(1, 4)), min_size=1, max_size=12)
MEASURES = [
    lambda score, label, weight=None: auroc(score, label, weight),
    lambda score, label, weight=None: brier(np.asarray(score) / 8 + 0.5, label, weight),
    lambda score, label, weight=None: deferral_area(score, np.asarray(label) - 0.4, weight),
    lambda score, label, weight=None: deferral_curve(score, np.zeros(len(score)), label, weight).at(0.3),
]


@given(ROWS)
def test_auroc_is_the_chance_that_a_positive_outranks_a_negative(rows):
    pairs = [(y * (1 - z), 1.0 if s > t else 0.5 if s == t else 0.0) for s, y, _ in rows for t, z, _ in rows]
    mass = sum(weight for weight, _ in pairs)

    expected = sum(weight * outranks for weight, outranks in pairs) / mass if mass else 0.5
    assert auroc([s for s, _, _ in rows], [y for _, y, _ in rows]) == pytest.approx(expected)


@pytest.mark.parametrize("measure", MEASURES)
@given(ROWS)
def test_a_weight_of_three_counts_as_three_rows(measure, rows):
    score, label, weight = (np.array(column, float) for column in zip(*rows, strict=True))
    times = weight.astype(int)

    assert measure(score, label, weight) == pytest.approx(measure(np.repeat(score, times), np.repeat(label, times)))


def test_escalating_by_the_gain_itself_is_worth_one_and_at_random_nothing():
    gain = np.random.default_rng(0).normal(size=500)

    assert deferral_area(gain, gain) == pytest.approx(1)
    assert deferral_area(np.zeros(500), gain) == pytest.approx(0)
    assert deferral_area(-gain, gain) == pytest.approx(-1)


def test_where_every_order_is_worth_the_same_no_order_is_praised():
    assert deferral_area([3, 1, 2], [0.1, 0.1, 0.1]) == 0


def test_the_deferral_curve_goes_from_the_light_tier_to_the_heavy_one():
    curve = deferral_curve([0.9, 0.1, 0.5], light=[0.2, 0.8, 0.5], heavy=[0.8, 0.2, 0.5])

    assert [curve.at(share) for share in (0, 1 / 3, 2 / 3, 1)] == pytest.approx([0.5, 0.7, 0.7, 0.5])


def test_equal_scores_climb_in_random_order():
    curve = deferral_curve([1, 1], light=[0, 0], heavy=[1, 0])

    assert curve.at(0.5) == pytest.approx(0.25)


def test_a_constant_answer_is_off_by_its_distance_from_the_base_rate():
    assert calibration_error(np.full(100, 0.7), np.arange(100) % 2) == pytest.approx(0.2)


def test_probabilities_that_are_true_are_calibrated_up_to_noise():
    rng = np.random.default_rng(1)
    probability = rng.random(20_000)
    label = rng.random(20_000) < probability

    assert calibration_error(probability, label) < 0.02
    assert calibration_error(probability**3, label) > 0.2


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="columns of one length"):
        auroc([1, 2], [1])
    with pytest.raises(ValueError, match="at least one row"):
        brier([], [])
    with pytest.raises(ValueError, match="no rows"):
        bootstrap(mean_of([]), [])


def test_the_interval_of_a_mean_holds_the_true_mean_nineteen_times_in_twenty():
    rng = np.random.default_rng(2)
    held = 0
    for seed in range(200):
        interval = bootstrap(mean_of(rng.normal(size=60)), np.arange(60), resamples=300, seed=seed)
        held += interval.low <= 0 <= interval.high

    assert 180 <= held <= 198


def test_rows_of_one_prompt_are_no_further_evidence():
    values = np.random.default_rng(3).normal(size=100)
    once = bootstrap(mean_of(values), np.arange(100))
    thrice = bootstrap(mean_of(np.repeat(values, 3)), np.repeat(np.arange(100), 3))

    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))


def test_the_interval_of_a_calibration_error_holds_its_estimate():
    rng = np.random.default_rng(4)
    probability = rng.random(300)
    label = (rng.random(300) < probability).astype(float)

    interval = bootstrap(lambda rows: calibration_error(probability[rows], label[rows]), np.arange(300))

    assert interval.low < interval.estimate < interval.high


def test_a_difference_on_the_same_rows_is_known_better_than_its_parts():
    rng = np.random.default_rng(5)
    common = rng.normal(size=200)
    first, second = mean_of(common + 0.1), mean_of(common + 0.01 * rng.normal(size=200))

    apart, alone = paired_bootstrap(first, second, np.arange(200)), bootstrap(first, np.arange(200))

    assert apart.low > 0
    assert apart.high - apart.low < (alone.high - alone.low) / 10


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (8, 10), (500, 500), (37, 211)])
def test_wilsons_interval_is_that_of_scipy(successes, trials):
    theirs = binomtest(successes, trials).proportion_ci(method="wilson")
    ours = wilson(successes, trials)

    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    with pytest.raises(ValueError, match="not a share"):
        wilson(trials + 1, trials)
