from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from shapes.oracle import ATTRIBUTES, Reading, look, read
from shapes.render import SIDE, render
from shapes.scenes import Difficulty, Scene, Thing, sample_scene
from shapes.vocabulary import Background, Colour, Relation, Shape, Size

PAIR = Scene(
    (Thing(Shape.STAR, Colour.RED, Size.LARGE), Thing(Shape.CIRCLE, Colour.BLUE, Size.SMALL)),
    Relation.LEFT_OF,
    Background.WHITE,
)
OTHER = Thing(Shape.HEART, Colour.GREEN, Size.SMALL)


def drawn(scene, seed=0):
    return render(scene, np.random.default_rng(seed))


def wrong(shown, wanted):
    """Names of the attributes the oracle finds wrong when `shown` is drawn and `wanted` was asked for."""
    return {name for name, right in read(drawn(shown), wanted).applicable.items() if not right}


@pytest.mark.parametrize("difficulty", Difficulty)
def test_true_pictures_are_right_even_a_little_blurred_and_noisy(difficulty):
    rng = np.random.default_rng(3)
    for _ in range(60):
        scene = sample_scene(rng, difficulty)
        picture = render(scene, rng)
        blurred = ndimage.gaussian_filter(picture.astype(float), (0.7, 0.7, 0)) + rng.normal(0, 5, picture.shape)

        assert read(picture, scene).all_right
        assert read(np.clip(blurred, 0, 255).astype(np.uint8), scene).all_right


@pytest.mark.parametrize(
    ("attribute", "shown"),
    [
        ("background", replace(PAIR, background=Background.NAVY)),
        ("shape", replace(PAIR, things=(replace(PAIR.things[0], shape=Shape.CROSS), PAIR.things[1]))),
        ("colour", replace(PAIR, things=(PAIR.things[0], replace(PAIR.things[1], colour=Colour.PURPLE)))),
        ("size", replace(PAIR, things=(replace(PAIR.things[0], size=Size.SMALL), PAIR.things[1]))),
        ("relation", replace(PAIR, relation=Relation.RIGHT_OF)),
        ("relation", replace(PAIR, relation=Relation.ABOVE)),
    ],
)
def test_one_violation_is_found_and_nothing_else_is_blamed(attribute, shown):
    assert wrong(shown, PAIR) == {attribute}


def test_swapped_colours_are_not_excused_by_both_colours_being_there():
    first, second = PAIR.things
    swapped = (replace(first, colour=second.colour), replace(second, colour=first.colour))

    assert wrong(replace(PAIR, things=swapped), PAIR) == {"colour"}


def test_a_missing_thing_spoils_the_count_and_whatever_needs_it():
    alone = Scene((PAIR.things[0],), None, Background.WHITE)

    assert wrong(alone, PAIR) == {"count", "colour", "shape", "size", "relation"}


def test_a_thing_too_many_spoils_only_the_count():
    one = Scene((replace(OTHER, size=None),), None, Background.WHITE)
    two = Scene((replace(OTHER, size=None),) * 2, None, Background.WHITE)

    assert wrong(two, one) == {"count"}


def test_the_order_in_a_row_matters():
    things = tuple(Thing(shape, Colour.RED) for shape in (Shape.STAR, Shape.HEART, Shape.CROSS))
    turned = Scene(things[::-1], Relation.ROW, Background.WHITE)

    assert len(wrong(turned, Scene(things, Relation.ROW, Background.WHITE))) == 1


def test_what_the_caption_does_not_say_is_not_judged():
    reading = read(drawn(PAIR), Scene(tuple(replace(thing, size=None) for thing in PAIR.things), Relation.LEFT_OF))

    assert reading.background is None
    assert reading.size is None
    assert reading.all_right


@pytest.mark.parametrize("picture", ["noise", "blank"])
def test_noise_and_an_empty_canvas_show_nothing(picture):
    pixels = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3)).astype(np.uint8)
    if picture == "blank":
        pixels = np.full((SIDE, SIDE, 3), 250, np.uint8)
    reading = read(pixels, PAIR)

    assert not reading.count
    assert not reading.shape
    assert reading.share < 0.5


def test_look_measures_without_knowing_the_scene():
    ground, things = look(drawn(PAIR))

    assert ground is Background.WHITE
    assert [(thing.shape, thing.colour) for thing in things] == [(Shape.STAR, Colour.RED), (Shape.CIRCLE, Colour.BLUE)]


def test_share_is_the_part_that_is_right():
    reading = Reading(background=True, count=True, colour=False, shape=True, size=None, relation=None)

    assert reading.share == pytest.approx(0.75)
    assert not reading.all_right
    assert set(reading.applicable) == set(ATTRIBUTES) - {"size", "relation"}


@pytest.mark.parametrize("picture", [np.zeros((32, 32, 3), np.uint8), np.zeros((SIDE, SIDE, 3))])
def test_other_shapes_and_types_are_refused(picture):
    with pytest.raises(ValueError, match="uint8 \\[64, 64, 3\\]"):
        read(picture, PAIR)
