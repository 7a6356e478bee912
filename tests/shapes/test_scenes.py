from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapes.captions import parse
from shapes.scenes import NEVER_TOGETHER, Difficulty, ImpossibleSceneError, Scene, Split, Thing, sample_scene
from shapes.vocabulary import Background, Colour, Fill, Relation, Shape, Size
from tests.shapes.strategies import backgrounds, pairs, rows, scenes, seeds

RED_CIRCLE = Thing(Shape.CIRCLE, Colour.RED)
BLUE_STAR = Thing(Shape.STAR, Colour.BLUE)


@given(seeds, st.sampled_from(Difficulty))
def test_the_same_seed_gives_the_same_scene_of_the_asked_difficulty(seed, difficulty):
    scene = sample_scene(np.random.default_rng(seed), difficulty)

    assert scene == sample_scene(np.random.default_rng(seed), difficulty)
    assert scene.difficulty is difficulty


@pytest.mark.parametrize(
    ("text", "difficulty"),
    [
        ("a large red circle on a white background", Difficulty.EASY),
        ("a little red circle", Difficulty.MEDIUM),
        ("a striped red circle", Difficulty.MEDIUM),
        ("two red circles", Difficulty.MEDIUM),
        ("a red circle above a small blue star", Difficulty.MEDIUM),
        ("two striped red circles", Difficulty.HARD),
        ("a red circle above a striped blue star", Difficulty.HARD),
        ("three red circles", Difficulty.HARD),
        ("a red circle, a blue star and a red circle", Difficulty.HARD),
    ],
)
def test_difficulty_is_what_must_be_got_right(text, difficulty):
    assert parse(text).difficulty is difficulty


def test_sampling_reaches_every_word_of_the_world():
    rng = np.random.default_rng(0)
    drawn = [sample_scene(rng, difficulty) for difficulty in Difficulty for _ in range(400)]
    things = [thing for scene in drawn for thing in scene.things]

    assert {(thing.shape, thing.colour) for thing in things} == set(product(Shape, Colour))
    assert {(thing.size, thing.fill) for thing in things} == set(product((None, *Size), (None, *Fill)))
    assert {scene.background for scene in drawn} == {*Background, None}
    assert {scene.relation for scene in drawn} == {*Relation, None}


def test_either_kind_of_each_difficulty_is_drawn_about_as_often():
    rng = np.random.default_rng(6)
    ones = [len(sample_scene(rng, Difficulty.MEDIUM).things) == 1 for _ in range(2000)]
    threes = [len(sample_scene(rng, Difficulty.HARD).things) == 3 for _ in range(2000)]

    assert np.mean(ones) == pytest.approx(0.5, abs=0.05)
    assert np.mean(threes) == pytest.approx(0.5, abs=0.05)


def test_either_of_two_things_may_have_the_fill():
    rng = np.random.default_rng(7)
    hard = [sample_scene(rng, Difficulty.HARD) for _ in range(600)]
    filled = {tuple(thing.fill is not None for thing in scene.things) for scene in hard if len(scene.things) == 2}

    assert filled == {(True, True), (True, False), (False, True)}


@pytest.mark.parametrize(
    ("things", "relation", "complaint"),
    [
        ((), None, "one to three"),
        ((RED_CIRCLE,) * 4, None, "one to three"),
        ((RED_CIRCLE, BLUE_STAR), None, "need a relation"),
        ((RED_CIRCLE, replace(RED_CIRCLE, fill=Fill.DOTTED)), None, "need a relation"),
        ((RED_CIRCLE, BLUE_STAR), Relation.ROW, "does not fit"),
        ((RED_CIRCLE,), Relation.ABOVE, "does not fit"),
        ((RED_CIRCLE,) * 3, Relation.ABOVE, "does not fit"),
        ((replace(RED_CIRCLE, size=Size.SMALL), BLUE_STAR, BLUE_STAR), Relation.ROW, "not for three"),
        ((BLUE_STAR, replace(RED_CIRCLE, fill=Fill.STRIPED), BLUE_STAR), Relation.ROW, "not for three"),
        ((replace(RED_CIRCLE, fill=Fill.OUTLINED),) * 3, None, "not for three"),
    ],
)
def test_an_impossible_scene_cannot_be_made(things, relation, complaint):
    with pytest.raises(ImpossibleSceneError, match=complaint):
        Scene(things, relation)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("a red circle", Split.TEST),
        ("a small green square", Split.TEST),
        ("a yellow cross, a purple star and a red triangle", Split.TEST),
        ("two small dotted green hearts", Split.CALIBRATE),
        ("a red circle above a blue star", Split.CALIBRATE),
        ("a pink circle, a pink circle and a cyan square", Split.CALIBRATE),
        ("a large red circle", Split.CALIBRATE),
        ("a blue heart", Split.TRAIN),
        ("a small striped red circle", Split.TRAIN),
        ("a large striped red heart left of a small cyan cross", Split.TRAIN),
        ("three blue stars", Split.TRAIN),
    ],
)
def test_nobody_has_reshuffled_what_training_may_see(text, split):
    assert parse(text).split is split, "models trained before this change have seen what is now for tests"


def test_the_splits_stand_about_eight_to_one_to_one_on_every_rung():
    rng = np.random.default_rng(1)
    for difficulty in Difficulty:
        counts = Counter(sample_scene(rng, difficulty).split for _ in range(4000))

        assert counts[Split.TRAIN] / 4000 == pytest.approx(0.8, abs=0.04)
        assert counts[Split.CALIBRATE] / 4000 == pytest.approx(0.1, abs=0.04)
        assert counts[Split.TEST] / 4000 == pytest.approx(0.1, abs=0.04)


@given(scenes, backgrounds)
def test_a_background_does_not_move_a_combination_to_another_split(scene, background):
    assert replace(scene, background=background).split is scene.split


@given(pairs, st.sampled_from([relation for relation in Relation if relation is not Relation.ROW]))
def test_neither_does_a_relation_nor_the_order_of_two_things(scene, relation):
    assert replace(scene, relation=relation).split is scene.split
    assert replace(scene, things=scene.things[::-1], relation=relation).split is scene.split


@given(rows, st.permutations([0, 1, 2]))
def test_neither_does_the_order_in_a_row(scene, order):
    assert replace(scene, things=tuple(scene.things[at] for at in order)).split is scene.split


def test_five_pairs_of_shape_and_colour_are_novel_and_no_two_share_a_shape_or_a_colour():
    assert len(NEVER_TOGETHER) == 5
    assert len({shape for shape, _ in NEVER_TOGETHER}) == 5
    assert len({colour for _, colour in NEVER_TOGETHER}) == 5


@given(scenes)
def test_a_scene_is_novel_when_any_of_its_things_is(scene):
    assert scene.novel == any(Scene((thing,)).novel for thing in scene.things)


@pytest.mark.parametrize(("shape", "colour"), sorted(NEVER_TOGETHER))
def test_size_fill_and_company_do_not_make_a_novel_thing_familiar(shape, colour):
    thing = Thing(shape, colour, Size.SMALL, Fill.STRIPED)

    assert Scene((thing,)).novel
    assert Scene((Thing(Shape.CROSS, Colour.RED), thing), Relation.ABOVE).novel
    assert not Scene((Thing(shape, Colour.RED),)).novel
    assert not Scene((Thing(Shape.CROSS, colour),)).novel
