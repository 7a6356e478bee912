"""A folder of pairs is read strictly, and a wrong line is named."""

from __future__ import annotations

import json

import pytest

from discriminators.training.errors import PairsError
from discriminators.training.pairs_folder import (
    FILE,
    append_pair,
    collected_prompts,
    group_number,
    judges_of,
    read_pairs,
)

GOOD = {
    "prompt": "a red circle",
    "light": "a.png",
    "heavy": ["b.png", "c.png"],
    "light_utility": 0.5,
    "heavy_utilities": [0.75, 0.25],
}
UNJUDGED = {"prompt": "a red circle", "light": "a.png", "heavy": ["b.png", "c.png"]}


@pytest.fixture
def folder(tmp_path):
    for name in ("a.png", "b.png", "c.png"):
        (tmp_path / name).write_bytes(b"")
    return tmp_path


def test_a_judged_line_is_read(folder):
    append_pair(folder, GOOD | {"propensity": 0.1, "judge": "people, May"})

    (line,) = read_pairs(folder)

    assert (line.prompt, line.light_utility, line.heavy_utilities) == ("a red circle", 0.5, (0.75, 0.25))
    assert line.light == folder / "a.png"
    assert line.weight == pytest.approx(10)
    assert judges_of([line]) == "people, May"


def test_preferences_become_utilities_around_one_half(folder):
    append_pair(folder, UNJUDGED | {"heavy": ["a.png", "b.png", "c.png"], "preferred": ["heavy", "light", "tie"]})

    (line,) = read_pairs(folder)

    assert (line.light_utility, line.heavy_utilities) == (0.5, (1.0, 0.0, 0.5))


def test_the_prompt_is_the_group_unless_one_is_named(folder):
    for line in (GOOD, GOOD, GOOD | {"prompt": "another"}, GOOD | {"prompt": "another", "group": "a red circle"}):
        append_pair(folder, line)

    one, two, other, named = (line.group for line in read_pairs(folder))

    assert one == two == named == group_number("a red circle")
    assert other != one


def test_empty_lines_are_nothing(folder):
    (folder / FILE).write_text(f"\n{json.dumps(GOOD)}\n\n")

    assert [line.number for line in read_pairs(folder)] == [2]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "is not JSON"),
        ("[]", "is wrong"),
        (UNJUDGED, "is not judged yet: fill in light_utility and heavy_utilities, or preferred"),
        (UNJUDGED | {"light_utility": None, "heavy_utilities": None}, "is not judged yet"),
        (UNJUDGED | {"light_utility": 0.5}, "is not judged yet"),
        (GOOD | {"preferred": ["heavy", "tie"]}, "has both preferred and utilities"),
        (UNJUDGED | {"preferred": ["heavy"]}, "names 2 heavy pictures and judges 1"),
        (UNJUDGED | {"preferred": ["heavy", "better"]}, r"is wrong: .*preferred"),
        (GOOD | {"heavy_utilities": [0.5, 1.5]}, r"<= 1.0.*heavy_utilities"),
        (GOOD | {"light_utility": "0.5"}, r"light_utility"),
        (GOOD | {"propensity": 0}, r"> 0.0.*propensity"),
        (GOOD | {"heavy": []}, r"length >= 1.*heavy"),
        (GOOD | {"prompt": ""}, r"length >= 1.*prompt"),
        (GOOD | {"mood": "fine"}, "mood"),
        (GOOD | {"light": "../a.png"}, "outside the folder"),
        (GOOD | {"light": "/a.png"}, "outside the folder"),
        (GOOD | {"heavy": ["b.png", "missing.png"]}, "not there: missing.png"),
    ],
)
def test_a_wrong_line_is_named_with_what_is_wrong(folder, line, complaint):
    append_pair(folder, GOOD)
    with (folder / FILE).open("a") as stream:
        stream.write((line if isinstance(line, str) else json.dumps(line)) + "\n")

    with pytest.raises(PairsError, match=f"Line 2 of {FILE} .*{complaint}"):
        read_pairs(folder)


def test_a_folder_without_pairs_is_refused(folder):
    with pytest.raises(PairsError, match=r"no readable pairs\.jsonl"):
        read_pairs(folder)
    (folder / FILE).write_text("\n")
    with pytest.raises(PairsError, match="holds no pairs"):
        read_pairs(folder)


def test_a_line_that_was_cut_off_is_drawn_again(folder):
    append_pair(folder, UNJUDGED)
    with (folder / FILE).open("a") as stream:
        stream.write('{"prompt": "a bl')

    assert collected_prompts(folder) == {"a red circle"}
    append_pair(folder, UNJUDGED | {"prompt": "a blue square"})
    assert collected_prompts(folder) == {"a red circle", "a blue square"}


def test_a_fresh_folder_has_no_prompts(folder):
    assert collected_prompts(folder) == frozenset()
