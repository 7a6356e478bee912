import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapes.render import RADII, SIDE, Placed, coverage, paint, place, render
from shapes.scenes import Difficulty, Scene, Thing, sample_scene
from shapes.vocabulary import CANVAS, PAINT, Background, Colour, Relation, Shape, Size

seeds = st.integers(0, 2**32)


@given(seeds, st.sampled_from(Difficulty))
def test_the_same_seed_gives_the_same_picture(seed, difficulty):
    def draw():
        rng = np.random.default_rng(seed)
        return render(sample_scene(rng, difficulty), rng)

    picture = draw()

    assert picture.shape == (SIDE, SIDE, 3)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, draw())


@given(seeds, st.sampled_from(Difficulty))
def test_things_keep_apart_and_off_the_border(seed, difficulty):
    rng = np.random.default_rng(seed)
    scene = sample_scene(rng, difficulty)
    masks = [coverage(thing.shape, placed) for thing, placed in zip(scene.things, place(scene, rng), strict=True)]

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
    scene = Scene((Thing(Shape.SQUARE, Colour.PINK),))
    picture = paint(scene, [Placed(32, 32, 15)], Background.NAVY)

    assert tuple(picture[32, 32]) == PAINT[Colour.PINK]
    assert tuple(picture[1, 1]) == CANVAS[Background.NAVY]


def test_a_thing_outside_the_canvas_is_not_drawn():
    assert coverage(Shape.STAR, Placed(-50, 32, 10)).sum() == 0
