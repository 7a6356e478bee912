"""The four things that can happen to a picture."""

from __future__ import annotations

import numpy as np
import pytest

from bench.cascade.prompts import Prompt
from bench.cascade.seeing import Seen, outcomes_of, rendered, see
from bench.cascade.sheets import CASES, case_of, spread
from bench.cascade.studio import Drawn, Time
from shapes.captions import parse

PROMPT = Prompt("a large red circle on a white background", parse("a large red circle on a white background"))
OTHER = Prompt("a large blue star on a black background", parse("a large blue star on a black background"))
TOOK = Time(1.0, 1.0)


def picture(*, right: bool) -> bytes:
    return rendered(PROMPT if right else OTHER, np.random.default_rng(1))


def a_sight(*, light: bool, heavy: bool, score: float) -> Seen:
    drawn = Drawn(picture(right=light), picture(right=heavy), score, TOOK, TOOK, TOOK)
    return see(PROMPT, drawn, lambda prompt, content: {"cosine": float(len(prompt) + len(content))})


@pytest.mark.parametrize(
    ("light", "heavy", "score", "case"),
    [
        (True, False, 0.9, "right"),
        (True, True, 0.5, "right"),
        (False, True, 0.9, "wrong"),
        (False, True, 0.1, "rescued"),
        (True, True, 0.1, "wasted"),
        (False, False, 0.1, "wasted"),
        (True, False, 0.1, "wasted"),
    ],
)
def test_each_picture_is_one_of_four_cases(light, heavy, score, case):
    assert case_of(a_sight(light=light, heavy=heavy, score=score), 0.5) == case
    assert case in CASES


def test_a_sheet_shows_evenly_spaced_prompts():
    seen = [a_sight(light=True, heavy=True, score=number / 100) for number in range(41)]

    assert [each.drawn.score for each in spread(seen, 3)] == [0.0, 0.2, 0.4]
    assert spread(seen[:2], 3) == seen[:2]


def test_what_the_oracle_reads_becomes_columns():
    outcomes = outcomes_of([a_sight(light=True, heavy=False, score=0.3), a_sight(light=False, heavy=True, score=0.6)])

    assert outcomes.light_right.tolist() == [1, 0]
    assert outcomes.heavy_right.tolist() == [0, 1]
    assert outcomes.light_share[0] == 1
    assert 0 < outcomes.light_share[1] < 1
    assert outcomes.score.tolist() == [0.3, 0.6]
    assert outcomes.baselines["cosine"].shape == (2,)
