"""No prompt is in two parts, and almost every prompt stays in its part when pairs are added."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discriminators.training.errors import PairsError, TooFewPairsError
from discriminators.training.splits import PARTS, drawn, folds, split_of
from tests.discriminators.training.worlds import straight_world

GROUPS = st.lists(st.integers(0, 2**62), min_size=1, max_size=200).map(lambda names: np.array(names, np.int64))


@given(GROUPS, st.integers(0, 10))
def test_no_prompt_is_in_two_parts(group, seed):
    part = drawn(group, seed)

    assert all(len(set(part[group == name])) == 1 for name in np.unique(group))


@given(GROUPS, st.integers(0, 10), st.integers(2, 10))
def test_no_prompt_is_in_two_folds(group, seed, count):
    fold = folds(group, seed, count)

    assert set(fold) <= set(range(count))
    assert all(len(set(fold[group == name])) == 1 for name in np.unique(group))


def test_the_parts_are_sixty_twenty_ten_and_ten_in_a_hundred():
    part = drawn(np.arange(1000), seed=0)

    assert np.bincount(part).tolist() == [600, 200, 100, 100]


def test_another_seed_is_another_split():
    assert (drawn(np.arange(1000), 0) == drawn(np.arange(1000), 1)).mean() < 0.6


def test_almost_every_prompt_stays_in_its_part_when_pairs_are_added():
    names = np.random.default_rng(0).integers(2**62, size=4000)

    before, after = drawn(names[:2000], seed=0), drawn(names, seed=0)[:2000]

    assert (before == after).mean() > 0.93


def test_the_order_of_the_rows_does_not_matter():
    names = np.random.default_rng(0).integers(2**62, size=300)

    np.testing.assert_array_equal(drawn(names, 0)[::-1], drawn(names[::-1], 0))


def test_a_split_made_elsewhere_is_kept():
    pairs, _ = straight_world(8)
    given_split = np.array([0, 0, 0, 1, 1, 2, 3, 3])

    split = split_of(replace(pairs, split=given_split), seed=5)

    assert [getattr(split, part).tolist() for part in PARTS] == [[0, 1, 2], [3, 4], [5], [6, 7]]


def test_a_given_split_that_cuts_a_prompt_is_refused():
    pairs, _ = straight_world(4)
    cut = replace(pairs, group=np.array([7, 7, 8, 9]), split=np.array([0, 3, 1, 2]))

    with pytest.raises(PairsError, match="cuts a group"):
        split_of(cut, seed=0)
    with pytest.raises(PairsError, match=r"must name parts by 0\.\.3"):
        split_of(replace(pairs, split=np.array([0, 1, 3, 4])), seed=0)


def test_too_few_prompts_are_refused():
    with pytest.raises(TooFewPairsError, match=r"nothing is left to .*test"):
        split_of(straight_world(2)[0], seed=0)
