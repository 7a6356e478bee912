"""Drawn pictures on disk."""

from __future__ import annotations

import pytest

from bench.cascade.kept import FILE, Kept
from bench.cascade.studio import Drawn, Time

WITH = {"weights": {"light": "1", "heavy": "2"}, "seed": 7}
ONE, TWO = "a red circle", "two blue stars"


def a_drawing(score=0.25):
    return Drawn(b"\x89light", b"\x89heavy", score, Time(10.5, 9.0), Time(3.0, 2.5), Time(100.25, 99.0))


def test_what_was_kept_comes_back_as_it_was(tmp_path):
    Kept(tmp_path / "new", WITH).put(ONE, a_drawing())

    again = Kept(tmp_path / "new", WITH)

    assert ONE in again
    assert again.get(ONE) == a_drawing()
    assert not again.stale


def test_what_was_drawn_with_something_else_is_not_used_and_that_is_said(tmp_path):
    Kept(tmp_path, WITH).put(ONE, a_drawing())

    other = Kept(tmp_path, WITH | {"seed": 8})

    assert other.stale
    assert ONE not in other
    other.put(TWO, a_drawing())
    assert len(Kept(tmp_path, WITH | {"seed": 8})) == 1


@pytest.mark.parametrize("torn", [1, 20, 100])
def test_a_run_that_was_killed_loses_no_more_than_the_line_it_was_writing(tmp_path, torn):
    kept = Kept(tmp_path, WITH)
    kept.put(ONE, a_drawing(0.1))
    kept.put(TWO, a_drawing(0.2))
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:-torn])

    again = Kept(tmp_path, WITH)
    assert ONE in again
    assert TWO not in again
    again.put(TWO, a_drawing(0.3))

    assert Kept(tmp_path, WITH).get(TWO).score == 0.3


def test_a_file_of_something_else_is_not_taken_for_pictures(tmp_path):
    (tmp_path / FILE).write_text("rubbish\n")

    assert Kept(tmp_path, WITH).stale


def test_without_a_folder_pictures_are_kept_in_memory():
    kept = Kept(None, WITH)
    kept.put(ONE, a_drawing())

    assert kept.get(ONE) == a_drawing()
