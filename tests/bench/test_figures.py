"""Figures and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.cascade.figures import figures, plain_figures
from bench.cascade.intervals import intervals
from bench.cascade.report import nested
from tests.bench.outcomes import some_outcomes

MENDED, SPOILT, RIGHT, WRONG = (0, 1), (1, 0), (1, 1), (0, 0)


def judged(*columns):
    """Outcomes of ((light right, heavy right), score)."""
    pairs, scores = zip(*columns, strict=True)
    light, heavy = zip(*pairs, strict=True)
    return some_outcomes(light, heavy, scores, real_fake=[0] * len(scores), cosine=scores, router=scores)


def test_the_gain_share_is_the_part_of_the_oracles_gain_that_the_score_captures():
    # One of four climbs. At random it is any of them; the oracle picks any of the three that are wrong.
    blind = judged((MENDED, 0.1), (WRONG, 0.9), (MENDED, 0.9), (RIGHT, 0.9))
    found = figures(blind, 0.5, 0.0)

    assert found["policies", "random", "accuracy"] == pytest.approx(0.25 + 2 / 16)
    assert found["policies", "oracle", "accuracy"] == pytest.approx(0.25 + 2 / 12)
    assert found["policies", "cascade", "accuracy"] == pytest.approx(0.5)
    assert found["oracle_gain_share", "accuracy"] == pytest.approx((0.25 - 2 / 16) / (2 / 12 - 2 / 16))


def test_the_gain_share_is_undefined_where_the_oracle_gains_nothing():
    found = figures(judged((RIGHT, 0.1), (RIGHT, 0.9)), 0.5, 0.0)

    assert math.isnan(found["oracle_gain_share", "accuracy"])


def test_the_short_list_agrees_with_the_long_one():
    outcomes = judged((MENDED, 0.1), (SPOILT, 0.9), (RIGHT, 0.3), (WRONG, 0.6))
    short, long = plain_figures(outcomes, 0.5), figures(outcomes, 0.5, 0.0)

    assert {name for _, name, _ in short} == {"light", "heavy", "cascade"}
    assert all(long[name] == value for name, value in short.items())


def test_differences_are_the_cascades_figure_minus_the_others():
    found = figures(judged((MENDED, 0.1), (SPOILT, 0.9)), 0.5, 0.0)

    assert found["paired", "cascade_minus_heavy", "accuracy"] == pytest.approx(1.0 - 0.5)
    assert found["paired", "cascade_minus_light", "gpu_ms"] == pytest.approx(3 + 50)
    assert found["paired", "cascade_minus_random", "accuracy"] == pytest.approx(1.0 - 0.5)


def test_a_perfect_order_has_area_one_and_its_reverse_less_than_nothing():
    found = figures(judged((MENDED, 0.1), (RIGHT, 0.5), (SPOILT, 0.9)), 0.5, 0.0)

    assert found["areas", "cascade", "accuracy"] == pytest.approx(1)
    assert found["areas", "cosine", "accuracy"] == pytest.approx(-1)
    assert found["areas", "real_fake", "accuracy"] == pytest.approx(0)


def test_the_calibration_error_is_about_the_heavy_picture_being_right_where_the_light_one_is_not():
    sure = judged((MENDED, 0.0), (SPOILT, 1.0), (RIGHT, 1.0), (WRONG, 1.0))
    unsure = judged((MENDED, 0.2), (WRONG, 0.2))

    assert figures(sure, 0.5, 0.0)["ece",] == pytest.approx(0)
    assert figures(unsure, 0.5, 0.0)["ece",] == pytest.approx(0.8 - 0.5)


def test_the_graded_calibration_error_is_about_a_share_that_is_better_by_more_than_the_margin():
    outcomes = some_outcomes(
        [0, 0], [1, 0], [0.0, 1.0], light_share=[0.5, 0.5], heavy_share=[1.0, 0.6], real_fake=[0, 0]
    )

    assert figures(outcomes, 0.5, 0.2)["ece_graded",] == pytest.approx(0)
    assert figures(outcomes, 0.5, 0.05)["ece_graded",] == pytest.approx(0.5)


def test_a_difference_of_exactly_the_margin_is_a_tie():
    outcomes = some_outcomes([0], [0], [1.0], light_share=[0.8], heavy_share=[0.8 + 0.05], real_fake=[0])

    assert figures(outcomes, 0.5, 0.05)["ece_graded",] == pytest.approx(0)


def test_an_interval_holds_its_figure_and_narrows_with_more_prompts():
    rng = np.random.default_rng(3)

    def width(count):
        column = rng.random(count)
        found = intervals(lambda rows: {"mean": float(column[rows].mean())}, count, seed=1)["mean"]
        assert found.low < found.estimate < found.high
        return found.high - found.low

    assert width(400) < width(25)


def test_the_interval_of_a_mean_is_about_two_standard_errors_on_each_side():
    column = np.random.default_rng(4).normal(size=500)
    found = intervals(lambda rows: {"mean": float(column[rows].mean())}, 500, seed=1)["mean"]

    assert found.high - found.low == pytest.approx(2 * 1.96 * column.std() / 500**0.5, rel=0.1)


def test_the_same_seed_gives_the_same_intervals():
    column = np.random.default_rng(4).normal(size=50)

    def found(seed):
        return intervals(lambda rows: {"mean": float(column[rows].mean())}, 50, seed)

    assert found(1) == found(1)
    assert found(1) != found(2)


def test_a_resample_that_does_not_define_a_figure_is_left_out_of_its_interval():
    found = intervals(lambda rows: {"share": math.nan if 0 in rows[:1] else 2.0}, 5, seed=1)["share"]

    assert (found.low, found.high) == (2.0, 2.0)


def test_figures_are_nested_by_where_they_stand():
    found = intervals(lambda _: {("a", "b"): 1.0, ("c",): 2.0}, 3, seed=1)

    assert nested(found) == {"a": {"b": 1.0, "b_interval": (1.0, 1.0)}, "c": 2.0, "c_interval": (2.0, 2.0)}
