import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapes.render import RADII, SIDE, Placed, coverage, inked, paint, place, render
from shapes.scenes import Scene, Thing
from shapes.vocabulary import CANVAS, DARK_INK, INK, LIGHT_INK, PAINT, Background, Colour, Fill, Relation, Shape, Size
from tests.shapes.strategies import scenes, seeds

MIDDLE = Placed(32, 32, 15)


def brightness(colour):
    return np.asarray(colour) @ (0.2126, 0.7152, 0.0722)


@given(scenes, seeds)
def test_the_same_seed_gives_the_same_picture(scene, seed):
    picture = render(scene, np.random.default_rng(seed))

    assert picture.shape == (SIDE, SIDE, 3)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, render(scene, np.random.default_rng(seed)))


@given(scenes, seeds)
def test_things_keep_apart_and_off_the_border(scene, seed):
    places = place(scene, np.random.default_rng(seed))
    masks = [coverage(thing.shape, placed) for thing, placed in zip(scene.things, places, strict=True)]

    together = sum(mask > 0 for mask in masks)
    assert together.max() == 1
    assert not together[[0, 1, -2, -1]].any()
    assert not together[:, [0, 1, -2, -1]].any()


@given(seeds, st.sampled_from([Relation.LEFT_OF, Relation.RIGHT_OF, Relation.ABOVE, Relation.BELOW]))
def test_places_obey_the_relation(seed, relation):
    scene = Scene((Thing(Shape.STAR, Colour.RED, Size.LARGE), Thing(Shape.CROSS, Colour.BLUE, Size.SMALL)), relation)
    first, second = place(scene, np.random.default_rng(seed))

    steps = {
        Relation.LEFT_OF: second.x - first.x,
        Relation.RIGHT_OF: first.x - second.x,
        Relation.ABOVE: second.y - first.y,
        Relation.BELOW: first.y - second.y,
    }
    assert max(steps, key=steps.get) is relation
    assert RADII[2][Size.LARGE][0] <= first.radius <= RADII[2][Size.LARGE][1]
    assert RADII[2][Size.SMALL][0] <= second.radius <= RADII[2][Size.SMALL][1]


def test_small_and_large_never_meet_and_every_count_has_both():
    for radii in (RADII[1], RADII[2]):
        assert radii[Size.SMALL][1] < radii[Size.LARGE][0]
    assert RADII[3][Size.SMALL] == RADII[3][Size.LARGE]


@pytest.mark.parametrize("shape", Shape)
def test_a_shape_fills_its_middle_and_has_soft_edges(shape):
    alpha = coverage(shape, Placed(32, 32, 20))

    assert alpha[34, 32] == 1
    assert alpha[2, 2] == 0
    assert ((alpha > 0.05) & (alpha < 0.95)).sum() > 20
    assert 400 < alpha.sum() < 1300


def test_growing_a_circle_grows_its_area_with_the_square_of_the_radius():
    small, large = coverage(Shape.CIRCLE, Placed(32, 32, 10)).sum(), coverage(Shape.CIRCLE, Placed(32, 32, 20)).sum()

    assert large / small == pytest.approx(4, rel=0.02)
    assert large == pytest.approx(np.pi * (0.92 * 20) ** 2, rel=0.02)


def test_paint_uses_the_palette():
    picture = paint(Scene((Thing(Shape.SQUARE, Colour.PINK),)), [MIDDLE], Background.NAVY)

    assert tuple(picture[32, 32]) == PAINT[Colour.PINK]
    assert tuple(picture[1, 1]) == CANVAS[Background.NAVY]


def test_a_thing_outside_the_canvas_is_not_drawn():
    assert coverage(Shape.STAR, Placed(-50, 32, 10)).sum() == 0


@pytest.mark.parametrize("background", Background)
@pytest.mark.parametrize("fill", Fill)
@pytest.mark.parametrize("shape", Shape)
def test_a_fill_is_ink_and_paint_within_the_outline_and_changes_nothing_outside(shape, fill, background):
    def drawn(fill):
        return paint(Scene((Thing(shape, Colour.CYAN, None, fill),)), [MIDDLE], background)

    plain, filled = drawn(None), drawn(fill)
    inside = coverage(shape, MIDDLE)

    assert np.array_equal(filled[inside == 0], plain[inside == 0])
    seen = {tuple(colour) for colour in filled[inside == 1].tolist()}
    assert {INK[background], PAINT[Colour.CYAN]} <= seen
    assert {tuple(colour) for colour in plain[inside == 1].tolist()} == {PAINT[Colour.CYAN]}


@pytest.mark.parametrize("background", Background)
def test_ink_stands_out_from_the_background_and_from_every_paint(background):
    assert INK[background] in {DARK_INK, LIGHT_INK}
    other = LIGHT_INK if INK[background] == DARK_INK else DARK_INK
    ground = brightness(CANVAS[background])

    assert abs(brightness(INK[background]) - ground) > 100
    assert abs(brightness(INK[background]) - ground) >= abs(brightness(other) - ground)
    assert all(np.linalg.norm(np.subtract(INK[background], paint)) > 90 for paint in PAINT.values())


@pytest.mark.parametrize("shape", Shape)
@pytest.mark.parametrize("size", Size)
def test_no_fill_covers_a_thing_or_is_too_faint_to_see(shape, size):
    placed = Placed(32, 32, RADII[2][size][0])
    inside = coverage(shape, placed)
    for fill in Fill:
        share = (inside * inked(fill, shape, placed)).sum() / inside.sum()

        assert 0.1 < share < 0.9, fill


def test_stripes_repeat_downwards_a_dot_lies_in_the_middle_and_an_outline_on_the_rim():
    striped, dotted, outlined = (inked(fill, Shape.SQUARE, MIDDLE) for fill in Fill)

    assert np.ptp(striped[:, 20:44], axis=1).max() == 0, "level"
    assert np.count_nonzero(np.diff(striped[:, 32] > 0.5)) >= 4, "several"
    assert dotted[32, 32] == 1
    assert dotted[32, 22] == 0
    assert outlined[32, 32] == 0
    assert outlined[32, int(32 - 0.84 * 15) + 1] == 1


@pytest.mark.parametrize("background", Background)
def test_an_unnamed_background_and_an_unnamed_size_are_left_to_chance(background):
    scene = Scene((Thing(Shape.CIRCLE, Colour.RED),))
    pictures = [render(scene, np.random.default_rng(seed)) for seed in range(60)]
    areas = [np.any(picture != picture[0, 0], axis=-1).sum() for picture in pictures]

    assert CANVAS[background] in {tuple(picture[0, 0].tolist()) for picture in pictures}
    assert max(areas) > 2 * min(areas)
