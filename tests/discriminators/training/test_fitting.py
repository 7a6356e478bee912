"""Heads come close to the best that their world allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discriminators.calibrated_head import Kind
from discriminators.measures import auroc, brier, calibration_error
from discriminators.training.errors import HeadUnfitError, TooFewPairsError
from discriminators.training.fitting import Recipe, TruePictures, answers_of, fit, logits_of
from discriminators.training.heads import Mean
from discriminators.training.perceptron import Schedule
from discriminators.training.trained import train
from tests.discriminators.training.worlds import WIDTH, bent_world, prompt_world, sigmoid, straight_world

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # a busy machine fits slowly

MANY = Recipe(few=100, members=2, schedule=Schedule(epochs=8, steps=400, batch=128))
"""Networks, whatever the number of pairs."""

HALF = np.arange(2000)
REST = np.arange(2000, 4000)


def figures(logits, labels):
    return auroc(logits, labels), brier(sigmoid(logits), labels)


def best(chance, labels):
    return auroc(chance, labels), brier(chance, labels)


def test_a_regression_finds_what_is_straight():
    pairs, chance = straight_world(4000)

    ranked, off = figures(logits_of(fit(pairs, HALF, Recipe()), pairs, REST), pairs.labels()[REST])

    best_ranked, best_off = best(chance[REST], pairs.labels()[REST])
    assert ranked > best_ranked - 0.015
    assert off < best_off + 0.01


def test_networks_find_what_is_bent_and_a_regression_does_not():
    pairs, chance = bent_world(4000)
    labels = pairs.labels()[REST]

    bent, _ = figures(logits_of(fit(pairs, HALF, MANY), pairs, REST), labels)
    straight, _ = figures(logits_of(fit(pairs, HALF, Recipe()), pairs, REST), labels)

    assert bent > best(chance[REST], labels)[0] - 0.08
    assert straight < 0.6


def test_networks_are_as_good_where_a_regression_would_do():
    pairs, chance = straight_world(4000)

    ranked, off = figures(logits_of(fit(pairs, HALF, MANY), pairs, REST), pairs.labels()[REST])

    best_ranked, best_off = best(chance[REST], pairs.labels()[REST])
    assert ranked > best_ranked - 0.03
    assert off < best_off + 0.02


@pytest.mark.parametrize("recipe", [Recipe(), MANY])
def test_the_gain_is_foretold_in_its_own_unit(recipe):
    pairs, chance = straight_world(4000)

    _, gains = answers_of(fit(pairs, HALF, recipe), pairs, REST)

    expected = 0.6 * chance[REST] - 0.3
    assert np.abs(gains - expected).mean() < 0.09
    assert gains.mean() == pytest.approx(expected.mean(), abs=0.02)


def test_a_router_needs_no_picture():
    pairs, chance = prompt_world(4000)
    blind = replace(pairs, image=np.zeros_like(pairs.image))

    head = fit(pairs, HALF, Recipe(kind=Kind.ROUTER))

    logits = logits_of(head, pairs, REST)
    assert auroc(logits, pairs.labels()[REST]) > best(chance[REST], pairs.labels()[REST])[0] - 0.02
    np.testing.assert_array_equal(logits, logits_of(head, blind, REST))


def true_pictures(count, group=None):
    """Pictures whose first patch feature lies two higher than the light tier's."""
    image = straight_world(count, seed=8)[0].image.copy()
    image[:, WIDTH] += 2
    return TruePictures(image, np.full(count, -1) if group is None else group)


@pytest.mark.parametrize("recipe", [Recipe(kind=Kind.REAL_FAKE), replace(MANY, kind=Kind.REAL_FAKE)])
def test_a_real_or_fake_head_tells_true_pictures_from_the_light_tiers(recipe):
    pairs, _ = straight_world(4000)
    head = fit(pairs, HALF, recipe, true_pictures(2000))

    new = straight_world(2000, seed=9)[0]
    moved = new.image.copy()
    moved[:, WIDTH] += 2
    both = np.concatenate([logits_of(head, new, HALF), logits_of(head, replace(new, image=moved), HALF)])

    assert auroc(both, np.repeat([1, 0], 2000)) > 0.89  # the best is Φ(2 / √2) = 0.921


def test_true_pictures_of_prompts_kept_for_testing_teach_nothing():
    pairs, _ = straight_world(4000)
    kept = true_pictures(2000, group=REST)

    with pytest.raises(TooFewPairsError, match="same verdict"):
        fit(pairs, HALF, Recipe(kind=Kind.REAL_FAKE), kept)
    with pytest.raises(HeadUnfitError, match="needs true pictures"):
        fit(pairs, HALF, Recipe(kind=Kind.REAL_FAKE))


def test_the_same_seed_is_the_same_head_and_another_is_another():
    pairs, _ = bent_world(1000)
    rows = np.arange(1000)

    one, again, other = (logits_of(fit(pairs, rows, replace(MANY, seed=seed)), pairs, rows) for seed in (1, 1, 2))

    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 1e-3


def test_the_number_of_pairs_chooses_the_form():
    pairs, _ = straight_world(400)

    assert isinstance(fit(pairs, np.arange(400), replace(MANY, few=400)).body, Mean)
    assert not isinstance(fit(pairs, np.arange(399), replace(MANY, few=400)).body, Mean)


def test_pairs_that_all_end_alike_teach_nothing():
    pairs, _ = straight_world(100)

    with pytest.raises(TooFewPairsError, match="nothing to learn"):
        fit(replace(pairs, heavy=np.ones_like(pairs.heavy)), np.arange(100), Recipe())


def test_weights_make_up_for_how_pairs_were_sampled():
    """Where heavy won, every pair was kept; elsewhere one in five, which counts fivefold."""
    pairs, chance = straight_world(12_000)
    won = pairs.labels() > 0.5
    kept = np.flatnonzero(won | (np.random.default_rng(1).random(len(pairs)) < 0.2))
    weighted = replace(pairs, weight=np.where(won, 1, 5).astype(np.float32)).only(kept)

    logits = logits_of(fit(weighted, np.arange(len(kept)), Recipe(few=10**6)), pairs, np.arange(len(pairs)))
    careless = logits_of(fit(pairs.only(kept), np.arange(len(kept)), Recipe(few=10**6)), pairs, np.arange(len(pairs)))

    assert abs(sigmoid(logits).mean() - chance.mean()) < 0.02
    assert sigmoid(careless).mean() - chance.mean() > 0.06


def test_a_trained_head_is_calibrated_and_says_what_it_is_worth():
    pairs, chance = straight_world(4000)

    made = train(pairs, Recipe())

    measured = made.facts["measures"]
    assert made.facts["splits"] == {"train": 2400, "calibrate": 800, "threshold": 400, "test": 400}
    assert measured["pairs"] == 400
    assert measured["auroc"]["low"] < best(chance, pairs.labels())[0] < measured["auroc"]["high"] + 0.02
    assert measured["deferral_area"]["estimate"] > measured["deferral_area_of_cosine"]
    new, _ = straight_world(4000, seed=3)
    probability = made.calibration(logits_of(made.head, new, np.arange(4000)))
    assert calibration_error(probability, new.labels()) < 0.04


def test_the_quantiles_are_those_of_uniformly_sampled_requests():
    pairs, _ = straight_world(4000)
    won = pairs.labels() > 0.5
    kept = np.flatnonzero(won | (np.random.default_rng(1).random(len(pairs)) < 0.25))
    weighted = replace(pairs, weight=np.where(won, 1, 4).astype(np.float32)).only(kept)

    made = train(weighted, Recipe())

    scores = 1 - made.calibration(logits_of(made.head, pairs, np.arange(4000)))
    quantiles = made.facts["score_quantiles"]
    assert len(quantiles) == 101
    assert (scores < quantiles[40]).mean() == pytest.approx(0.4, abs=0.06)


def test_what_a_head_was_made_from_is_remembered_and_its_tests_are_not():
    pairs, _ = straight_world(500)

    made = train(pairs, Recipe())

    assert len(made.seen) == 400
