"""How exact the oracle is, on many pictures. The shipped figures mean nothing unless these hold."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import ndimage

from shapes.oracle import look, read
from shapes.render import render
from shapes.scenes import Difficulty, Scene, Thing, sample_scene
from shapes.train.contrast import contradict
from shapes.vocabulary import Background, Colour, Fill, Shape, Size
from tests.shapes.differing import OF_A_THING, differences, same_things

SINGLES = tuple(product((None, *Fill), Size, Colour, Background))


def soften(picture, rng):
    """Blur and roughen a picture as much as the autoencoder's training lets it."""
    soft = ndimage.gaussian_filter(picture.astype(float), (0.7, 0.7, 0)) + rng.normal(0, 5, picture.shape)
    return np.clip(soft, 0, 255).astype(np.uint8)


def misread(seed, difficulty, count, spoil):
    """Scenes of which something is read as wrong although their picture is true, `spoil`t afterwards."""
    rng = np.random.default_rng(seed)
    scenes = [sample_scene(rng, difficulty) for _ in range(count)]
    return [scene for scene in scenes if not read(spoil(render(scene, rng), rng), scene).all_right]


def untouched(picture, rng):
    return picture


@pytest.mark.parametrize("difficulty", Difficulty)
def test_true_pictures_are_right(difficulty):
    assert misread(11, difficulty, 150, untouched) == []


@pytest.mark.parametrize("difficulty", Difficulty)
def test_true_pictures_are_right_even_a_little_blurred_and_noisy(difficulty):
    assert len(misread(12, difficulty, 100, soften)) <= 1


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("difficulty", Difficulty)
def test_a_thousand_true_pictures_are_right_without_exception(difficulty):
    assert misread(13, difficulty, 1100, untouched) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("difficulty", Difficulty)
def test_of_a_thousand_blurred_and_noisy_pictures_at_most_ten_are_misread(difficulty):
    assert len(misread(14, difficulty, 1000, soften)) <= 10


def misread_fills(shape, singles, rng):
    """Single things whose picture is taken for another thing, or whose ink is taken for another fill."""
    for fill, size, colour, background in singles:
        thing = Thing(shape, colour, size, fill)
        scene = Scene((thing,), None, background)
        ground, found = look(render(scene, rng))
        if ground is not background or [(f.shape, f.colour, f.fill, f.readable) for f in found] != [
            (shape, colour, fill, True)
        ]:
            yield scene


@pytest.mark.parametrize("shape", Shape)
def test_each_fill_reads_as_itself_in_every_size_and_on_every_background(shape):
    singles = [single for at, single in enumerate(SINGLES) if at % 3 == 0]

    assert {fill for fill, *_ in singles} == {None, *Fill}
    assert {(fill, size, background) for fill, size, _, background in singles} == set(
        product((None, *Fill), Size, Background)
    )
    assert list(misread_fills(shape, singles, np.random.default_rng(15))) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("shape", Shape)
def test_each_fill_reads_as_itself_in_every_size_and_colour_and_on_every_background(shape):
    assert list(misread_fills(shape, SINGLES, np.random.default_rng(16))) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("shape", Shape)
def test_each_fill_of_two_things_reads_as_itself(shape):
    rng = np.random.default_rng(17)
    for fill, size, colour, background in SINGLES:
        scene = Scene((Thing(shape, colour, size, fill),) * 2, None, background)
        reading = read(render(scene, rng), scene)

        assert reading.all_right, scene


def unexplained(scene, picture, changed):
    """What the oracle blames on a picture of `scene` when `changed` was asked for; empty where that is as it should be.

    The same things in another order may be blamed on the order, or on any one attribute that tells them apart.
    """
    (attribute,) = differences(scene, changed)
    wrong = {name for name, right in read(picture, changed).applicable.items() if not right}
    if attribute == "count":
        explained = "count" in wrong
    elif same_things(scene, changed):
        explained = len(wrong) == 1 and wrong <= {"relation", attribute, *told_apart_by(scene)}
    else:
        explained = wrong == {attribute}
    return set() if explained else wrong or {"nothing"}


def told_apart_by(scene):
    return {name for name in OF_A_THING if len({getattr(thing, name) for thing in scene.things}) > 1}


def unexplained_contradictions(seed, difficulty, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        scene = replace(sample_scene(rng, difficulty), background=Background.GREY)
        changed = contradict(scene, rng)
        problem = unexplained(scene, render(scene, rng), changed)
        if problem:
            yield scene, changed, problem


@pytest.mark.parametrize("difficulty", Difficulty)
def test_every_contradiction_is_found_and_blamed_on_what_was_changed(difficulty):
    assert list(unexplained_contradictions(18, difficulty, 150)) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("difficulty", Difficulty)
def test_every_one_of_a_thousand_contradictions_is_found_and_blamed_on_what_was_changed(difficulty):
    assert list(unexplained_contradictions(19, difficulty, 1000)) == []
