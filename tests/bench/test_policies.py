"""What each policy is worth, computed by hand and by rules that always hold."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cascade.policies import (
    POLICIES,
    Policy,
    at_threshold,
    climbing,
    escalating,
    policies,
    thresholds,
    worth,
)
from tests.bench.outcomes import some_outcomes

# Two are mended by the heavy model, one is spoilt, one is hopeless, two are right twice. Half of them climb.
OUTCOMES = some_outcomes(
    light_right=[0, 0, 1, 0, 1, 1],
    heavy_right=[1, 1, 0, 0, 1, 1],
    light_share=[0.5, 0.8, 1.0, 0.4, 1.0, 1.0],
    heavy_share=[1.0, 1.0, 0.6, 0.2, 1.0, 1.0],
    score=[0.1, 0.7, 0.8, 0.2, 0.3, 0.9],
    real_fake=[0, 0, 5, 4, 3, 0],
    cosine=[1, 1, 1, 1, 1, 1],
    router=[6, 5, 4, 3, 2, 1],
)
THRESHOLD = 0.5


def rows(outcomes=OUTCOMES, threshold=THRESHOLD):
    return {name: worth(outcomes, policy) for name, policy in policies(outcomes, threshold).items()}


@pytest.mark.parametrize(
    ("name", "accuracy", "graded", "gpu_ms", "rate"),
    [
        ("light", 3 / 6, 4.7 / 6, 10, 0),
        ("heavy", 4 / 6, 4.8 / 6, 100, 1),
        ("cascade", 4 / 6, (4.7 + 0.5 - 0.2) / 6, 10 + 3 + 50, 0.5),  # 0, 3 and 4 climb
        ("random", 3.5 / 6, 4.75 / 6, 10 + 50, 0.5),
        ("oracle", 5 / 6, (4.7 + 0.5 + 0.2 - 0.2) / 6, 10 + 50, 0.5),  # all three that are wrong
        ("gain_oracle", 5 / 6, (4.7 + 0.5 + 0.2) / 6, 10 + 50, 0.5),  # both that are mended, then one that stays right
        ("real_fake", 2 / 6, (4.7 - 0.4 - 0.2) / 6, 10 + 3 + 50, 0.5),
        ("cosine", 3.5 / 6, 4.75 / 6, 10 + 3 + 50, 0.5),  # it tells nothing apart, so it is random and pays for it
        ("router", 4 / 6, (4.7 + 0.5 + 0.2 - 0.4) / 6, 5 + 3 + 50, 0.5),  # who climbs skips the light model
    ],
)
def test_each_policy_is_worth_what_a_hand_computes(name, accuracy, graded, gpu_ms, rate):
    found = rows()[name]

    assert found.accuracy == pytest.approx(accuracy)
    assert found.graded == pytest.approx(graded)
    assert found.gpu_ms == pytest.approx(gpu_ms)
    assert found.deferral_rate == pytest.approx(rate)


def test_every_policy_stands_in_the_table_in_one_order():
    assert tuple(rows()) == POLICIES


def test_equals_climb_with_equal_chances():
    assert climbing([1, 2, 2, 2, 3], 0.4).tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 1])


def test_a_score_at_the_threshold_does_not_climb():
    outcomes = some_outcomes([0, 0], [1, 1], [0.5, 0.4999])

    assert at_threshold(outcomes, 0.5).deferral_rate == 0.5


def test_the_thresholds_lead_from_nobody_climbs_to_everybody_does():
    curve = [at_threshold(OUTCOMES, threshold) for threshold in thresholds(OUTCOMES.score)]
    rates = [point.deferral_rate for point in curve]

    assert rates == sorted(rates)
    assert curve[0].deferral_rate == 0
    assert curve[0].accuracy == rows()["light"].accuracy
    assert curve[0].gpu_ms == 13
    assert curve[-1].deferral_rate == 1
    assert curve[-1].accuracy == rows()["heavy"].accuracy
    assert curve[-1].gpu_ms == 113


def test_random_escalation_is_what_drawing_every_subset_would_give_on_average():
    drawn = [
        worth(OUTCOMES, Policy(np.isin(np.arange(6), chosen).astype(float), np.ones(6), np.zeros(6)))
        for chosen in itertools.combinations(range(6), 3)
    ]

    assert rows()["random"].accuracy == pytest.approx(np.mean([each.accuracy for each in drawn]))
    assert rows()["random"].gpu_ms == pytest.approx(np.mean([each.gpu_ms for each in drawn]))


def test_a_picture_that_took_long_is_nobodys_fault():
    slow = replace(OUTCOMES, heavy_ms=np.array([600.0, 0, 0, 0, 0, 0]))

    assert rows(slow)["cascade"].gpu_ms == pytest.approx(10 + 3 + 50)
    assert rows(slow)["real_fake"].gpu_ms == pytest.approx(10 + 3 + 50)


RIGHT = st.sampled_from([0, 1])
COLUMNS = st.lists(st.tuples(RIGHT, RIGHT, st.integers(0, 10)), min_size=1, max_size=30)
RATES = st.floats(0, 1)


def outcomes_from(columns):
    light, heavy, tenths = zip(*columns, strict=True)
    return some_outcomes(light, heavy, np.array(tenths) / 10, real_fake=tenths, cosine=light, router=heavy)


@given(columns=COLUMNS, rate=RATES)
def test_knowing_more_never_hurts(columns, rate):
    outcomes = outcomes_from(columns)
    found = {name: worth(outcomes, policy).accuracy for name, policy in escalating(outcomes, rate).items()}

    assert found["gain_oracle"] >= found["oracle"] - 1e-9
    assert found["oracle"] >= found["random"] - 1e-9
    assert all(found["gain_oracle"] >= value - 1e-9 for value in found.values())


@given(columns=COLUMNS)
def test_with_nobody_climbing_every_policy_draws_lightly_and_with_everybody_heavily(columns):
    outcomes = outcomes_from(columns)
    for rate, pictures in ((0.0, outcomes.light_right), (1.0, outcomes.heavy_right)):
        for policy in escalating(outcomes, rate).values():
            assert worth(outcomes, policy).accuracy == pytest.approx(pictures.mean())


@given(order=st.lists(st.integers(0, 5), min_size=1, max_size=30), rate=RATES)
def test_as_many_climb_as_were_asked_to_and_the_highest_first(order, rate):
    chances = climbing(order, rate)

    assert chances.mean() == pytest.approx(rate)
    assert (chances >= 0).all()
    assert (chances <= 1).all()
    best_first = chances[np.argsort(-np.asarray(order), kind="stable")]
    assert (np.diff(best_first) <= 1e-9).all()


@given(columns=COLUMNS, seed=st.integers(0, 99))
def test_what_a_policy_is_worth_does_not_depend_on_the_order_of_the_prompts(columns, seed):
    outcomes = outcomes_from(columns)
    shuffled = outcomes.only(np.random.default_rng(seed).permutation(len(outcomes)))

    before, after = rows(outcomes), rows(shuffled)
    for name, row in before.items():
        assert after[name].accuracy == pytest.approx(row.accuracy)
        assert after[name].gpu_ms == pytest.approx(row.gpu_ms)
