"""Raw logits become probabilities that hold, by as flexible a way as the data carry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discriminators.measures import calibration_error
from discriminators.training.calibrating import MOST_KNOTS, Method, calibrate, isotonic, platt, temperature
from tests.discriminators.training.worlds import sigmoid


def sample(count, true, seed=0):
    """(logits, labels) where a label is 1 with the chance `true` of its logit."""
    rng = np.random.default_rng([seed, 4])
    logits = 3 * rng.normal(size=count)
    return logits, (rng.random(count) < true(logits)).astype(float)


@pytest.mark.parametrize(
    ("count", "method"),
    [
        (1000, Method.ISOTONIC),
        (999, Method.PLATT),
        (100, Method.PLATT),
        (99, Method.TEMPERATURE),
        (8, Method.TEMPERATURE),
    ],
)
def test_the_way_is_chosen_by_how_many_pairs_there_are(count, method):
    logits, labels = sample(count, sigmoid)

    assert calibrate(logits, labels, np.ones(count)).method is method


def test_pairs_that_hardly_weigh_anything_do_not_count():
    logits, labels = sample(1200, sigmoid)
    weights = np.where(np.arange(1200) < 200, 1.0, 1e-3)

    assert calibrate(logits, labels, weights).method is Method.PLATT


@pytest.mark.parametrize(
    ("count", "true"),
    [
        (4000, lambda z: 0.1 + 0.6 * (z > 0)),
        (900, lambda z: sigmoid(0.5 * z - 1)),
        (90, lambda z: sigmoid(0.4 * z)),
    ],
    ids=["isotonic finds a step", "platt finds slope and shift", "a temperature finds the slope"],
)
def test_probabilities_hold_on_new_data(count, true):
    calibration = calibrate(*sample(count, true), np.ones(count))

    logits, labels = sample(20_000, true, seed=1)

    assert calibration_error(calibration(logits), labels) < 0.05
    assert calibration_error(sigmoid(logits), labels) > 0.1


@settings(max_examples=50)
@given(
    st.sampled_from([isotonic, platt, temperature]),
    st.lists(st.tuples(st.integers(-50, 50), st.sampled_from([0, 0.5, 1])), min_size=1, max_size=300),
)
def test_knots_always_rise_and_stay_off_certainty(fit, rows):
    logits, labels = (np.array(column, float) for column in zip(*rows, strict=True))

    calibration = fit(logits, labels, np.ones(len(rows)))

    assert len(calibration.x) <= MOST_KNOTS
    assert (np.diff(calibration.x) > 0).all()
    assert (np.diff(calibration.y) > 0).all()
    assert 0 < calibration.y[0] <= calibration.y[-1] < 1


def test_a_threshold_can_cut_any_share_of_the_isotonic_scores():
    logits, labels = sample(3000, lambda z: 0.2 + 0.5 * (z > 0))

    scores = isotonic(logits, labels, np.ones(3000))(logits)

    assert len(np.unique(scores)) > 2900


def test_calibration_follows_the_weights():
    """A quarter of the negatives was kept, and counts fourfold."""
    logits, labels = sample(40_000, lambda z: sigmoid(z - 1))
    kept = (labels == 1) | (np.random.default_rng(9).random(40_000) < 0.25)
    weights = np.where(labels == 1, 1.0, 4.0)[kept]

    calibration = calibrate(logits[kept], labels[kept], weights)

    assert calibration_error(calibration(logits), labels) < 0.02
    assert calibration_error(calibrate(logits[kept], labels[kept], np.ones(kept.sum()))(logits), labels) > 0.05


def test_a_head_that_ranks_backwards_is_taken_to_know_nothing():
    logits, labels = sample(500, lambda z: sigmoid(-z))

    assert np.ptp(platt(logits, labels, np.ones(500))(logits)) < 0.05
