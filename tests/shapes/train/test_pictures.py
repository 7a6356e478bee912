"""Training never sees what calibration and tests are for."""

from collections import Counter

import numpy as np
import pytest

from shapes.scenes import NEVER_TOGETHER, Difficulty, Split
from shapes.train.pictures import MIX, draw, scene_of, to_pictures, to_tensor, training_scene, unseen_scenes
from shapes.vocabulary import Colour, Fill, Shape

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def trained_on():
    rng = np.random.default_rng(21)
    return [training_scene(rng) for _ in range(6000)]


def test_training_never_draws_a_combination_of_another_split_nor_a_novel_pair(trained_on):
    assert {scene.split for scene in trained_on} == {Split.TRAIN}
    assert not any(scene.novel for scene in trained_on)


def test_training_draws_every_other_pair_of_shape_and_colour_with_every_fill(trained_on):
    things = [thing for scene in trained_on for thing in scene.things]
    pairs = {(thing.shape, thing.colour) for thing in things}

    assert pairs == {(shape, colour) for shape in Shape for colour in Colour} - NEVER_TOGETHER
    assert {thing.fill for thing in things} == {None, *Fill}


def test_the_mix_is_what_it_says(trained_on):
    counts = Counter(scene.difficulty for scene in trained_on)

    assert sum(MIX.values()) == pytest.approx(1)
    for difficulty, share in MIX.items():
        assert counts[difficulty] / len(trained_on) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("difficulty", Difficulty)
@pytest.mark.parametrize("novel", [False, True])
def test_unseen_scenes_are_of_the_test_split_and_novel_only_when_asked(difficulty, novel):
    scenes = unseen_scenes(5, 40, difficulty, novel=novel)

    assert {(scene.split, scene.difficulty, scene.novel) for scene in scenes} == {(Split.TEST, difficulty, novel)}
    assert scenes == unseen_scenes(5, 40, difficulty, novel=novel)
    assert scenes != unseen_scenes(6, 40, difficulty, novel=novel)


@pytest.mark.parametrize("split", Split)
def test_a_scene_can_be_had_of_any_split(split):
    assert scene_of(np.random.default_rng(1), Difficulty.HARD, split).split is split


def test_a_batch_depends_on_its_seed_and_its_number_only():
    again, other = draw(1, 2, 4), draw(1, 3, 4)

    assert draw(1, 2, 4).scenes == again.scenes
    assert np.array_equal(draw(1, 2, 4).pictures, again.pictures)
    assert again.pictures.shape == (4, 64, 64, 3)
    assert not np.array_equal(again.pictures, other.pictures)


def test_pictures_become_tensors_and_come_back():
    pictures = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3)).astype(np.uint8)
    pixels = to_tensor(pictures)

    assert pixels.shape == (2, 3, 64, 64)
    assert -1 <= pixels.min() < -0.9 < 0.9 < pixels.max() <= 1
    assert np.array_equal(to_pictures(pixels), pictures)
    assert to_pictures(3 * pixels).max() == 255
