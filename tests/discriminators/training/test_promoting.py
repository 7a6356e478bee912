"""Only what is better takes a head's place, in one step, and there is a way back."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from discriminators.measures import Interval
from discriminators.training.errors import HeadUnfitError
from discriminators.training.promoting import decide, promote, roll_back
from discriminators.training.swapping import put, swap_in


def head(place: Path, text: str) -> Path:
    place.mkdir()
    (place / "head.onnx").write_text(text)
    return place


def text_of(place: Path) -> str:
    return (place / "head.onnx").read_text()


@pytest.mark.parametrize(
    ("interval", "better"),
    [(Interval(0.05, 0.01, 0.09), True), (Interval(0.05, -0.01, 0.11), False), (Interval(0.05, 0.0, 0.1), False)],
)
def test_a_candidate_is_better_when_the_whole_interval_says_so(interval, better):
    decision = decide(interval, 212, against="the head in service")

    assert decision.better is better
    assert f"{interval.low:+.3f} to {interval.high:+.3f}, on 212 prompts" in decision.reason


def test_a_promoted_head_is_in_service_and_the_one_before_is_kept(tmp_path):
    place, candidate = head(tmp_path / "service", "old"), head(tmp_path / "candidate", "new")

    promote(candidate, place, {"prompts": 212})

    assert text_of(place) == "new"
    assert '"prompts": 212' in (place / "promotion.json").read_text()
    assert text_of(tmp_path / "service.previous") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["candidate", "service", "service.previous"]


def test_a_rollback_brings_the_old_head_back_and_another_the_new_one(tmp_path):
    place = head(tmp_path / "service", "old")
    promote(head(tmp_path / "candidate", "new"), place, {})

    roll_back(place)
    assert text_of(place) == "old"

    roll_back(place)
    assert text_of(place) == "new"


def test_only_the_last_head_is_kept(tmp_path):
    place = head(tmp_path / "service", "first")
    for text in ("second", "third"):
        promote(head(tmp_path / text, text), place, {})

    roll_back(place)

    assert text_of(place) == "second"


def test_the_first_head_of_a_place_has_none_before_it(tmp_path):
    place = tmp_path / "service"

    promote(head(tmp_path / "candidate", "new"), place, {})

    assert text_of(place) == "new"
    with pytest.raises(HeadUnfitError, match="No head was kept before service"):
        roll_back(place)


def test_a_promotion_that_fails_changes_nothing(tmp_path):
    place = head(tmp_path / "service", "old")

    with pytest.raises(FileNotFoundError):
        promote(tmp_path / "nowhere", place, {})

    assert text_of(place) == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["service"]


def test_a_reader_never_finds_the_place_empty(tmp_path):
    place, other = head(tmp_path / "service", "old"), head(tmp_path / "other", "new")
    missing, done = [], threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                text_of(place)
            except FileNotFoundError as error:
                missing.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(500):
        put(other, place)
    done.set()
    reader.join()

    assert missing == []


def test_what_a_crash_left_behind_is_no_obstacle(tmp_path):
    head(tmp_path / ".service.new", "half")

    swap_in(tmp_path / "service", lambda folder: (folder / "head.onnx").write_text("whole"))

    assert text_of(tmp_path / "service") == "whole"
