import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapes.captions import GrammarError, UnknownWordError, caption, parse, split
from shapes.scenes import Difficulty, Scene, Thing, sample_scene
from shapes.vocabulary import MAX_WORDS, WORDS, Background, Colour, Relation, Shape, Size

RED_CIRCLE = Thing(Shape.CIRCLE, Colour.RED)
BLUE_STAR = Thing(Shape.STAR, Colour.BLUE)

seeds = st.integers(0, 2**32)
difficulties = st.sampled_from(Difficulty)


@given(seeds, seeds, difficulties)
def test_every_way_to_say_a_scene_reads_back_as_that_scene(scene_seed, words_seed, difficulty):
    scene = sample_scene(np.random.default_rng(scene_seed), difficulty)

    assert parse(caption(scene)) == scene
    assert parse(caption(scene, np.random.default_rng(words_seed))) == scene


@given(seeds, difficulties)
def test_captions_use_the_vocabulary_and_fit_the_text_encoders(seed, difficulty):
    rng = np.random.default_rng(seed)
    words = split(caption(sample_scene(rng, difficulty), rng))

    assert set(words) <= set(WORDS)
    assert len(words) <= MAX_WORDS


@pytest.mark.parametrize(
    ("text", "scene"),
    [
        ("a red circle", Scene((RED_CIRCLE,))),
        ("A RED circle.", Scene((RED_CIRCLE,))),
        (
            "a large red circle on a white background",
            Scene((Thing(Shape.CIRCLE, Colour.RED, Size.LARGE),), None, Background.WHITE),
        ),
        ("a picture of two blue stars", Scene((BLUE_STAR, BLUE_STAR))),
        ("a red circle to the left of a blue star", Scene((RED_CIRCLE, BLUE_STAR), Relation.LEFT_OF)),
        (
            "a red circle, a blue star and a red circle in a row with a gray background",
            Scene((RED_CIRCLE, BLUE_STAR, RED_CIRCLE), Relation.ROW, Background.GREY),
        ),
        (
            "an orange heart under one red circle",
            Scene((Thing(Shape.HEART, Colour.ORANGE), RED_CIRCLE), Relation.BELOW),
        ),
    ],
)
def test_reads(text, scene):
    assert parse(text) == scene


def test_an_unknown_word_is_named_with_a_suggestion():
    with pytest.raises(UnknownWordError, match=r"“sqare”; did you mean “square”") as caught:
        parse("a red sqare")

    assert caught.value.word == "sqare"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "1 to 18 words"),
        ("red circle", "expected “a”, found “red”"),
        ("a circle red", "expected a colour after “a”, found “circle”"),
        ("two red circle", "shapes in the plural"),
        ("a red circle a blue star", "expected the end after “a red circle”"),
        ("a red circle, a blue star", "expected “and”"),
        ("a red circle on a red background", "a background colour"),
        ("a large red circle, a blue star and a red heart", "not for three"),
        ("three large red circles", "not for three"),
        ("a picture of a picture of a red circle", "expected a colour after “a picture of a”"),
        ("a small red circle to the left of a small blue star on a white background in a row", "1 to 18 words"),
    ],
)
def test_what_is_not_a_caption_is_refused_with_the_reason(text, complaint):
    with pytest.raises(GrammarError, match=complaint):
        parse(text)
