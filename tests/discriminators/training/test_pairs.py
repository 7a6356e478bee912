"""What a row of pairs says, and which rows are refused."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from discriminators.training.errors import PairsError
from discriminators.training.pairs import Pairs, uniform
from tests.discriminators.training.worlds import straight_world


def of(light, heavy) -> Pairs:
    count = len(light)
    return uniform(
        np.ones((count, 3), np.float32),
        np.ones((count, 2), np.float32),
        np.array(light, np.float32),
        np.array(heavy, np.float32),
    )


def test_the_label_is_the_share_of_heavy_pictures_that_are_clearly_better():
    pairs = of([0.5, 0.5, 0.5], [[0.9, 0.9], [0.9, 0.1], [0.5, 0.2]])

    assert pairs.labels().tolist() == [1, 0.5, 0]


def test_a_tie_within_the_margin_keeps_the_light_picture():
    assert of([0.7, 0.7], [[0.75], [0.76]]).labels(0.05).tolist() == [0, 1]


def test_heavy_pictures_that_were_not_drawn_count_neither_way():
    pairs = of([0.5, 0.5], [[0.9, np.nan], [0.3, 0.7]])

    assert pairs.labels().tolist() == [1, 0.5]
    assert pairs.gains() == pytest.approx([0.4, 0.0])


def test_pairs_are_read_as_they_were_written(tmp_path):
    pairs, _ = straight_world(20)
    pairs = replace(pairs, split=np.zeros(20, np.int64))

    pairs.save(tmp_path / "pairs.npz")

    read = Pairs.load(tmp_path / "pairs.npz")
    for field in fields(Pairs):
        np.testing.assert_array_equal(getattr(read, field.name), getattr(pairs, field.name))


@pytest.mark.parametrize("content", [b"", b"rubbish"])
def test_a_file_that_holds_no_pairs_is_refused(tmp_path, content):
    (tmp_path / "pairs.npz").write_bytes(content)

    with pytest.raises(PairsError, match=r"pairs\.npz is not a file of pairs"):
        Pairs.load(tmp_path / "pairs.npz")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"light": np.array([0.5, 1.5, 0.5], np.float32)}, "Utilities must be numbers in 0..1"),
        ({"light": np.array([0.5, np.nan, 0.5], np.float32)}, "Utilities must be numbers in 0..1"),
        ({"heavy": np.full((3, 2), np.nan, np.float32)}, "at least one heavy picture"),
        ({"weight": np.zeros(3, np.float32)}, "Weights must be above 0"),
        ({"text": np.full((3, 2), np.nan, np.float32)}, "not numbers"),
        ({"text": np.ones((3, 4), np.float32)}, "one row each"),
        ({"group": np.arange(2)}, "one row each"),
        ({"split": np.arange(2)}, "one row each"),
    ],
)
def test_pairs_that_make_no_sense_are_refused(change, complaint):
    with pytest.raises(PairsError, match=complaint):
        replace(of([0.5] * 3, [[0.5, 0.6]] * 3), **change)
