from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import ndimage

from shapes.oracle import ATTRIBUTES, Reading, look, read
from shapes.render import RADII, SIDE, Placed, paint, render
from shapes.scenes import Scene, Thing
from shapes.vocabulary import CANVAS, INK, Background, Colour, Fill, Relation, Shape, Size

PAIR = Scene(
    (Thing(Shape.STAR, Colour.RED, Size.LARGE), Thing(Shape.CIRCLE, Colour.BLUE, Size.SMALL)),
    Relation.LEFT_OF,
    Background.WHITE,
)
OTHER = Thing(Shape.HEART, Colour.GREEN, Size.SMALL)
FILLED = Scene((Thing(Shape.SQUARE, Colour.CYAN, Size.LARGE, Fill.STRIPED),), None, Background.NAVY)


def drawn(scene, seed=0):
    return render(scene, np.random.default_rng(seed))


def blamed(picture, wanted):
    """Names of the attributes the oracle finds wrong in a picture when `wanted` was asked for."""
    return {name for name, right in read(picture, wanted).applicable.items() if not right}


def wrong(shown, wanted):
    """Names of the attributes the oracle finds wrong when `shown` is drawn and `wanted` was asked for."""
    return blamed(drawn(shown), wanted)


def with_first(scene, **changes):
    first, *others = scene.things
    return replace(scene, things=(replace(first, **changes), *others))


@pytest.mark.parametrize(
    ("attribute", "shown"),
    [
        ("background", replace(PAIR, background=Background.NAVY)),
        ("shape", with_first(PAIR, shape=Shape.CROSS)),
        ("colour", replace(PAIR, things=(PAIR.things[0], replace(PAIR.things[1], colour=Colour.PURPLE)))),
        ("fill", with_first(PAIR, fill=Fill.DOTTED)),
        ("fill", replace(PAIR, things=(PAIR.things[0], replace(PAIR.things[1], fill=Fill.OUTLINED)))),
        ("size", with_first(PAIR, size=Size.SMALL)),
        ("relation", replace(PAIR, relation=Relation.RIGHT_OF)),
        ("relation", replace(PAIR, relation=Relation.ABOVE)),
    ],
)
def test_one_violation_is_found_and_nothing_else_is_blamed(attribute, shown):
    assert wrong(shown, PAIR) == {attribute}


@pytest.mark.parametrize("attribute", ["shape", "colour", "fill"])
def test_what_two_things_swapped_is_not_excused_by_both_being_there(attribute):
    asked = with_first(PAIR, fill=Fill.STRIPED)
    first, second = asked.things
    swapped = (
        replace(first, **{attribute: getattr(second, attribute)}),
        replace(second, **{attribute: getattr(first, attribute)}),
    )

    assert wrong(replace(asked, things=swapped), asked) == {attribute}


@pytest.mark.parametrize("shape", Shape)
@pytest.mark.parametrize("fill", Fill)
def test_a_filled_thing_where_a_plain_one_was_asked_for_is_wrong_in_its_fill_and_only_there(shape, fill):
    filled = replace(FILLED, things=(replace(FILLED.things[0], shape=shape, fill=fill),))
    plain = with_first(filled, fill=None)

    assert wrong(filled, plain) == {"fill"}
    assert wrong(plain, filled) == {"fill"}


@pytest.mark.parametrize("shown", Fill)
def test_one_fill_is_not_taken_for_another(shown):
    for asked in Fill:
        expected = set() if asked is shown else {"fill"}

        assert wrong(with_first(FILLED, fill=shown), with_first(FILLED, fill=asked)) == expected


def test_ink_of_no_known_pattern_is_not_a_fill():
    scene = with_first(FILLED, fill=None)
    picture = drawn(scene)
    ys, xs = np.nonzero(np.abs(picture.astype(int) - CANVAS[Background.NAVY]).sum(-1) > 60)
    middle = (xs.min() + xs.max()) // 2
    left = (xs > xs.min() + 1) & (xs < middle) & (ys > ys.min() + 1) & (ys < ys.max() - 1)
    picture[ys[left], xs[left]] = INK[Background.NAVY]

    for fill in (None, *Fill):
        assert "fill" in blamed(picture, with_first(scene, fill=fill))


@pytest.mark.parametrize("fill", Fill)
def test_the_smallest_star_keeps_its_colour_whatever_is_drawn_on_it(fill):
    radius, misread = RADII[2][Size.SMALL][0] + 0.1, []
    for colour, background in product(Colour, Background):
        scene = Scene((Thing(Shape.STAR, colour, None, fill),), None, background)
        for x, y in product((32.0, 32.3, 32.6), repeat=2):
            if blamed(paint(scene, [Placed(x, y, radius)], background), scene):
                misread.append((colour.value, background.value, x, y))

    assert misread == []


def test_a_missing_thing_spoils_the_count_and_whatever_needs_it():
    alone = Scene((PAIR.things[0],), None, Background.WHITE)

    assert wrong(alone, PAIR) == {"count", "colour", "shape", "fill", "size", "relation"}


def test_a_thing_too_many_spoils_only_the_count():
    one = Scene((replace(OTHER, size=None),), None, Background.WHITE)
    two = Scene((replace(OTHER, size=None),) * 2, None, Background.WHITE)

    assert wrong(two, one) == {"count"}


@pytest.mark.parametrize("gap", [-6.0, -1.0])
def test_things_that_overlap_are_not_two_things(gap):
    small, large = 9.0, 13.0
    places = [Placed(24.0, 32.0, large), Placed(24.0 + large + small + gap, 32.0, small)]
    squares = replace(PAIR, things=tuple(replace(thing, shape=Shape.SQUARE) for thing in PAIR.things))
    apart = [places[0], replace(places[1], x=24.0 + large + small + 3.0)]
    together = [places[0], replace(places[1], x=24.0 + 0.84 * (large + small) + gap)]

    assert not blamed(paint(squares, apart, Background.WHITE), squares)
    assert "count" in blamed(paint(squares, together, Background.WHITE), squares)


@pytest.mark.parametrize("shape", Shape)
def test_half_a_thing_is_not_the_shape_that_was_asked_for(shape):
    scene = Scene((Thing(shape, Colour.RED),), None, Background.WHITE)
    picture = paint(scene, [Placed(32, 32, 16)], Background.WHITE)

    assert blamed(picture, scene) == set()
    picture[:, 32:] = CANVAS[Background.WHITE]
    assert blamed(picture, scene) == {"shape"}


def test_the_order_in_a_row_matters():
    things = tuple(Thing(shape, Colour.RED) for shape in (Shape.STAR, Shape.HEART, Shape.CROSS))
    turned = Scene(things[::-1], Relation.ROW, Background.WHITE)

    assert len(wrong(turned, Scene(things, Relation.ROW, Background.WHITE))) == 1


def test_what_the_caption_does_not_say_is_not_judged():
    reading = read(drawn(PAIR), Scene(tuple(replace(thing, size=None) for thing in PAIR.things), Relation.LEFT_OF))

    assert reading.background is None
    assert reading.size is None
    assert reading.all_right


def test_a_fill_is_always_judged_because_a_caption_without_one_says_plain():
    assert read(drawn(PAIR), PAIR).fill
    assert set(read(drawn(FILLED), Scene((Thing(Shape.SQUARE, Colour.CYAN),))).applicable) >= {"fill", "colour"}


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
    assert [(thing.shape, thing.colour, thing.fill) for thing in things] == [
        (Shape.STAR, Colour.RED, None),
        (Shape.CIRCLE, Colour.BLUE, None),
    ]


@pytest.mark.parametrize("fill", [None, *Fill])
def test_look_finds_where_a_thing_lies_whatever_is_drawn_on_it(fill):
    scene = with_first(FILLED, fill=fill)
    _, (found,) = look(paint(scene, [Placed(27.0, 36.5, 16.0)], Background.NAVY))

    assert found.readable
    assert (found.x, found.y) == (pytest.approx(27.0, abs=0.3), pytest.approx(36.5, abs=0.3))
    assert found.radius == pytest.approx(16.0, rel=0.03)


def test_share_is_the_part_that_is_right():
    reading = Reading(background=True, count=True, colour=False, shape=True, fill=True, size=None, relation=None)

    assert reading.share == pytest.approx(0.8)
    assert not reading.all_right
    assert set(reading.applicable) == set(ATTRIBUTES) - {"size", "relation"}


@pytest.mark.parametrize("picture", [np.zeros((32, 32, 3), np.uint8), np.zeros((SIDE, SIDE, 3))])
def test_other_shapes_and_types_are_refused(picture):
    with pytest.raises(ValueError, match="uint8 \\[64, 64, 3\\]"):
        read(picture, PAIR)


def test_a_picture_is_left_as_it_was():
    picture = drawn(FILLED)
    before = picture.copy()
    read(picture, FILLED)

    assert np.array_equal(picture, before)


def test_a_blurred_and_noisy_picture_is_still_read():
    rng = np.random.default_rng(3)
    for scene in (PAIR, FILLED):
        soft = ndimage.gaussian_filter(drawn(scene).astype(float), (0.7, 0.7, 0)) + rng.normal(0, 5, (SIDE, SIDE, 3))

        assert not blamed(np.clip(soft, 0, 255).astype(np.uint8), scene)
