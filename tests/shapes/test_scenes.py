import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapes.scenes import Difficulty, ImpossibleSceneError, Scene, Thing, held_out, sample_scene
from shapes.vocabulary import Background, Colour, Relation, Shape, Size

RED_CIRCLE = Thing(Shape.CIRCLE, Colour.RED)
BLUE_STAR = Thing(Shape.STAR, Colour.BLUE)


@given(st.integers(0, 2**32), st.sampled_from(Difficulty))
def test_the_same_seed_gives_the_same_scene_of_the_asked_difficulty(seed, difficulty):
    scene = sample_scene(np.random.default_rng(seed), difficulty)

    assert scene == sample_scene(np.random.default_rng(seed), difficulty)
    assert scene.difficulty is difficulty


def test_sampling_reaches_every_word_of_the_world():
    rng = np.random.default_rng(0)
    scenes = [sample_scene(rng, difficulty) for difficulty in Difficulty for _ in range(400)]
    things = [thing for scene in scenes for thing in scene.things]

    assert {thing.shape for thing in things} == set(Shape)
    assert {thing.colour for thing in things} == set(Colour)
    assert {thing.size for thing in things} == {*Size, None}
    assert {scene.background for scene in scenes} == {*Background, None}
    assert {scene.relation for scene in scenes} == {*Relation, None}


@pytest.mark.parametrize(
    ("things", "relation", "complaint"),
    [
        ((), None, "one to three"),
        ((RED_CIRCLE,) * 4, None, "one to three"),
        ((RED_CIRCLE, BLUE_STAR), None, "need a relation"),
        ((RED_CIRCLE, BLUE_STAR), Relation.ROW, "does not fit"),
        ((RED_CIRCLE,), Relation.ABOVE, "does not fit"),
        ((RED_CIRCLE,) * 3, Relation.ABOVE, "does not fit"),
        ((Thing(Shape.STAR, Colour.RED, Size.SMALL), RED_CIRCLE, RED_CIRCLE), Relation.ROW, "not for three"),
    ],
)
def test_an_impossible_scene_cannot_be_made(things, relation, complaint):
    with pytest.raises(ImpossibleSceneError, match=complaint):
        Scene(things, relation)


def test_about_a_tenth_of_all_combinations_is_held_out_and_nothing_easy_is():
    rng = np.random.default_rng(1)
    shares = {
        difficulty: np.mean([held_out(sample_scene(rng, difficulty)) for _ in range(2000)]) for difficulty in Difficulty
    }

    assert shares[Difficulty.EASY] == 0
    assert 0.06 < shares[Difficulty.MEDIUM] < 0.14
    assert 0.06 < shares[Difficulty.HARD] < 0.14


def test_neither_order_nor_background_nor_size_moves_a_combination_into_training():
    rng = np.random.default_rng(2)
    for _ in range(200):
        first, second = sample_scene(rng, Difficulty.MEDIUM).things
        plain = Scene((Thing(first.shape, first.colour), Thing(second.shape, second.colour)), Relation.ABOVE)

        assert held_out(Scene((second, first), Relation.LEFT_OF, Background.NAVY)) == held_out(plain)
