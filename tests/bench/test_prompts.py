"""Prompts that nobody was trained on."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.cascade.errors import FewPromptsError
from bench.cascade.prompts import held_out, novel, picture_seed, reference
from shapes.captions import parse
from shapes.scenes import Difficulty, Split


def texts(prompts):
    return [prompt.text for prompt in prompts]


def test_held_out_prompts_are_of_the_test_split_in_equal_thirds():
    prompts = held_out(7, 60)

    assert {prompt.scene.split for prompt in prompts} == {Split.TEST}
    assert not any(prompt.scene.novel for prompt in prompts)
    assert Counter(prompt.scene.difficulty for prompt in prompts) == dict.fromkeys(Difficulty, 20)


def test_novel_prompts_show_a_pair_that_training_never_does():
    prompts = novel(7, 30)

    assert all(prompt.scene.novel for prompt in prompts)
    assert Counter(prompt.scene.difficulty for prompt in prompts) == dict.fromkeys(Difficulty, 10)


def test_a_prompt_says_what_its_scene_is():
    assert all(parse(prompt.text) == prompt.scene for prompt in [*held_out(7, 30), *novel(7, 9)])


def test_no_prompt_comes_twice_and_the_reference_shares_none():
    asked = texts(held_out(7, 300))
    others = texts(reference(7, 300, frozenset(asked)))

    assert len(set(asked)) == len(set(others)) == 300
    assert not set(asked) & set(others)


def test_the_same_seed_gives_the_same_prompts_and_fewer_are_the_first_of_more():
    assert texts(held_out(7, 12)) == texts(held_out(7, 30))[:12]
    assert texts(held_out(7, 12)) != texts(held_out(8, 12))


def test_a_picture_seed_is_made_of_the_run_and_the_prompt():
    assert picture_seed(7, "a red circle") == picture_seed(7, " a  red circle")
    assert picture_seed(7, "a red circle") != picture_seed(8, "a red circle")
    assert picture_seed(7, "a red circle") != picture_seed(7, "a red square")


class Everything:
    """All words there are."""

    def __contains__(self, text: object) -> bool:
        return True


def test_more_prompts_than_the_world_has_are_refused_in_a_sentence():
    with pytest.raises(FewPromptsError, match="Ask for fewer"):
        reference(7, 3, Everything())
