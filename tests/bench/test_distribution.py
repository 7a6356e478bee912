"""Distances between sets against the formulas written out as loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.cascade.distribution import cmmd, kid, median_distance


def unit_rows(seed, count, width=6, shift=0.0):
    rows = np.random.default_rng(seed).normal(size=(count, width)) + shift
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def by_loops(one, other, kernel):
    m, n = len(one), len(other)
    within = sum(kernel(one[i], one[j]) for i in range(m) for j in range(m) if i != j) / (m * (m - 1))
    without = sum(kernel(other[i], other[j]) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    return within + without - 2 * sum(kernel(x, y) for x in one for y in other) / (m * n)


@pytest.mark.parametrize("sigma", [10.0, 0.7])
def test_cmmd_is_what_a_double_loop_computes(sigma):
    one, other = unit_rows(1, 7), unit_rows(2, 5, shift=0.5)

    expected = by_loops(one, other, lambda x, y: math.exp(-((x - y) ** 2).sum() / (2 * sigma**2)))
    assert cmmd(one, other, sigma) == pytest.approx(expected, abs=1e-12)


def test_kid_is_what_a_double_loop_computes():
    one, other = unit_rows(1, 7), unit_rows(2, 5, shift=0.5)

    expected = by_loops(one, other, lambda x, y: (x @ y / len(x) + 1) ** 3)
    assert kid(one, other) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("distance", [cmmd, kid, lambda one, other: cmmd(one, other, 1.0)])
def test_sets_of_one_kind_are_nothing_apart_on_average_and_others_are_something(distance):
    same = [distance(unit_rows(seed, 20), unit_rows(seed + 500, 20)) for seed in range(200)]
    other = distance(unit_rows(1, 20), unit_rows(2, 20, shift=1.0))

    assert abs(np.mean(same)) < 3 * np.std(same) / len(same) ** 0.5
    assert min(same) < 0 < max(same)
    assert other > max(same)


def test_tiny_distances_survive_single_precision_embeddings():
    one = unit_rows(1, 50).astype(np.float32)

    assert cmmd(one, one) == pytest.approx(by_loops(one.astype(float), one.astype(float), gauss), rel=1e-6)


def gauss(x, y):
    return math.exp(-((x - y) ** 2).sum() / 200)


def test_the_median_distance_is_that_of_different_rows():
    assert median_distance([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]) == pytest.approx(18**0.5)


@pytest.mark.parametrize("other", [np.ones((1, 6)), np.ones((4, 5))])
def test_sets_that_cannot_be_compared_are_refused(other):
    with pytest.raises(ValueError, match="two rows of one width"):
        cmmd(unit_rows(1, 4), other)
