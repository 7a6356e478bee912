from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from shapes.captions import parse
from shapes.oracle import read
from shapes.render import render
from shapes.scenes import Scene, Thing
from shapes.train.contrast import contradict
from shapes.vocabulary import Background, Colour, Relation, Shape, Size
from tests.shapes.differing import differences
from tests.shapes.strategies import scenes, seeds


@given(scenes, seeds)
def test_a_contradiction_differs_in_exactly_one_attribute(scene, seed):
    assert len(differences(scene, contradict(scene, np.random.default_rng(seed)))) == 1


@given(scenes, seeds)
def test_the_same_seed_contradicts_in_the_same_way(scene, seed):
    assert contradict(scene, np.random.default_rng(seed)) == contradict(scene, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("a red circle", {"shape", "colour", "fill", "count"}),
        ("a striped red circle", {"shape", "colour", "fill"}),
        ("a small red circle on a white background", {"shape", "colour", "fill", "size", "background"}),
        ("two red circles", {"shape", "colour", "fill", "count"}),
        ("a red circle above a blue star", {"shape", "colour", "fill", "relation"}),
        ("three red circles", {"shape", "colour", "count"}),
        ("a red circle, a blue star and a green heart", {"shape", "colour"}),
    ],
)
def test_whatever_a_caption_says_is_contradicted_sooner_or_later(text, attributes):
    scene, rng = parse(text), np.random.default_rng(0)
    changed = [contradict(scene, rng) for _ in range(300)]

    assert set().union(*(differences(scene, other) for other in changed)) == attributes


@pytest.mark.parametrize("attribute", ["shape", "colour", "fill"])
def test_two_things_have_what_tells_them_apart_swapped_sooner_or_later(attribute):
    scene, rng = parse("a striped red circle above a blue star"), np.random.default_rng(1)
    first, second = scene.things
    swapped = (
        replace(first, **{attribute: getattr(second, attribute)}),
        replace(second, **{attribute: getattr(first, attribute)}),
    )

    assert replace(scene, things=swapped) in [contradict(scene, rng) for _ in range(300)]


def test_no_picture_shows_both_a_scene_and_its_contradiction_not_even_of_things_alike_but_for_an_unnamed_size():
    thing = Thing(Shape.CIRCLE, Colour.RED)
    scene = Scene((replace(thing, size=Size.LARGE), thing), Relation.LEFT_OF, Background.WHITE)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        picture, changed = render(scene, rng), contradict(scene, rng)

        assert not read(picture, changed).all_right, changed
