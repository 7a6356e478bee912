import numpy as np
import pytest
from hypothesis import given

from shapes.captions import GrammarError, UnknownWordError, caption, parse, split
from shapes.scenes import Scene, Thing
from shapes.vocabulary import (
    BACKGROUND_WORDS,
    COLOUR_WORDS,
    FILL_WORDS,
    MAX_WORDS,
    PLURALS,
    RELATION_PHRASES,
    SHAPE_WORDS,
    SIZE_WORDS,
    WORDS,
    Background,
    Colour,
    Fill,
    Relation,
    Shape,
    Size,
)
from tests.shapes.strategies import scenes, seeds

RED_CIRCLE = Thing(Shape.CIRCLE, Colour.RED)
BLUE_STAR = Thing(Shape.STAR, Colour.BLUE)


@given(scenes, seeds)
def test_every_way_to_say_a_scene_reads_back_as_that_scene(scene, words_seed):
    assert parse(caption(scene)) == scene
    assert parse(caption(scene, np.random.default_rng(words_seed))) == scene


@given(scenes, seeds)
def test_captions_use_the_vocabulary_and_fit_the_text_encoders(scene, words_seed):
    words = split(caption(scene, np.random.default_rng(words_seed)))

    assert set(words) <= set(WORDS)
    assert len(words) <= MAX_WORDS


def test_the_longest_caption_is_exactly_as_long_as_the_encoders_allow():
    thing = Thing(Shape.STAR, Colour.ORANGE, Size.LARGE, Fill.OUTLINED)
    scene = Scene((thing, thing), Relation.RIGHT_OF, Background.BEIGE)
    rng = np.random.default_rng(0)

    assert max(len(split(caption(scene, rng))) for _ in range(50)) == MAX_WORDS


@given(scenes)
def test_the_plain_way_to_say_a_scene_uses_no_synonym(scene):
    synonyms = {"disc", "discs", "violet", "turquoise", "spotted", "gray", "little", "big", "over", "under", "one"}

    assert not synonyms & set(split(caption(scene)))


def test_every_word_of_the_vocabulary_is_said_by_some_caption():
    rng = np.random.default_rng(4)
    said = set()
    for shape in Shape:
        for colour in Colour:
            for size, fill in zip((*Size, None, None), (None, *Fill), strict=True):
                thing = Thing(shape, colour, size, fill)
                for relation in Relation:
                    one = Thing(shape, colour)
                    things = (one,) * 3 if relation is Relation.ROW else (thing, one)
                    for background in Background:
                        said.update(split(caption(Scene(things, relation, background), rng)))
                said.update(split(caption(Scene((thing, thing)), rng)), split(caption(Scene((thing,)), rng)))
                said.update(split(caption(Scene((Thing(shape, colour),) * 3), rng)))

    assert said == set(WORDS)


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
        ("a striped red circle", Scene((Thing(Shape.CIRCLE, Colour.RED, None, Fill.STRIPED),))),
        (
            "two small outlined blue stars against a navy background",
            Scene((Thing(Shape.STAR, Colour.BLUE, Size.SMALL, Fill.OUTLINED),) * 2, None, Background.NAVY),
        ),
        (
            "a large dotted blue star above a red circle",
            Scene((Thing(Shape.STAR, Colour.BLUE, Size.LARGE, Fill.DOTTED), RED_CIRCLE), Relation.ABOVE),
        ),
    ],
)
def test_reads(text, scene):
    assert parse(text) == scene


@pytest.mark.parametrize(
    ("synonymous", "plain"),
    [
        ("a red disc", "a red circle"),
        ("three red discs", "three red circles"),
        ("a violet star", "a purple star"),
        ("a turquoise star", "a cyan star"),
        ("a spotted red star", "a dotted red star"),
        ("a little red star", "a small red star"),
        ("a big red star", "a large red star"),
        ("a red star on a gray background", "a red star on a grey background"),
        ("a red star over a blue star", "a red star above a blue star"),
        ("a red star under a blue star", "a red star below a blue star"),
        ("a red star to the right of a blue star", "a red star right of a blue star"),
        ("one big spotted violet disc", "a large dotted purple circle"),
    ],
)
def test_a_synonym_means_what_the_plain_word_means(synonymous, plain):
    assert parse(synonymous) == parse(plain)


def test_every_word_of_a_kind_names_something_and_everything_has_its_own_word_first():
    kinds = [
        (SHAPE_WORDS, Shape),
        (PLURALS, Shape),
        (SIZE_WORDS, Size),
        (COLOUR_WORDS, Colour),
        (FILL_WORDS, Fill),
        (BACKGROUND_WORDS, Background),
    ]
    for words, kind in kinds:
        assert set(words.values()) == set(kind)
    assert set(RELATION_PHRASES.values()) == {*Relation} - {Relation.ROW}
    assert len({*SIZE_WORDS, *COLOUR_WORDS, *FILL_WORDS, *SHAPE_WORDS, *PLURALS, *BACKGROUND_WORDS}) == sum(
        len(words) for words, _ in kinds
    ), "no word means two things"


@pytest.mark.parametrize(
    ("text", "word", "suggestion"),
    [
        ("a red sqare", "sqare", "square"),
        ("a strped red star", "strped", "striped"),
        ("two red disks", "disks", "discs"),
        ("a turqoise star", "turqoise", "turquoise"),
    ],
)
def test_an_unknown_word_is_named_with_a_suggestion(text, word, suggestion):
    with pytest.raises(UnknownWordError, match=f"“{word}”; did you mean “{suggestion}”") as caught:
        parse(text)

    assert caught.value.word == word


def test_an_unknown_word_like_no_other_is_named_without_a_suggestion():
    with pytest.raises(UnknownWordError) as caught:
        parse("a red xylophone")

    assert str(caught.value) == "unknown word “xylophone”"


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
        ("a striped large red circle", "expected a colour after “a striped”, found “large”"),
        ("a striped dotted red circle", "expected a colour after “a striped”, found “dotted”"),
        ("a red striped circle", "expected a shape after “a red”, found “striped”"),
        ("a large red circle, a blue star and a red heart", "sizes and fills .* not for three"),
        ("a red circle, a striped blue star and a red heart", "sizes and fills .* not for three"),
        ("three large red circles", "sizes and fills .* not for three"),
        ("three dotted red circles", "sizes and fills .* not for three"),
        ("a picture of a picture of a red circle", "expected a colour after “a picture of a”"),
        ("a small red circle to the left of a small blue star on a white background in a row", "1 to 18 words"),
    ],
)
def test_what_is_not_a_caption_is_refused_with_the_reason(text, complaint):
    with pytest.raises(GrammarError, match=complaint):
        parse(text)
