import numpy as np
import pytest
import torch
from hypothesis import given

from shapes.oracle import ATTRIBUTES, Reading, look, read
from shapes.render import SIDE, Placed, paint, render
from shapes.scenes import Difficulty, Scene, Thing, sample_scene
from shapes.train.clip import FEATURES
from shapes.train.verdicts import Bank, Probe, _doubt, _labels, build, warp
from shapes.vocabulary import Background, Colour, Shape
from tests.shapes.strategies import seeds
from tests.shapes.train.runs import course, write_untrained

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

CIRCLE = Scene((Thing(Shape.CIRCLE, Colour.RED),), None, Background.WHITE)
PICTURE = paint(CIRCLE, [Placed(32, 32, 16)], Background.WHITE)


@given(seeds)
def test_a_warped_picture_has_the_same_shape_and_type_and_still_shows_something_on_its_background(seed):
    warped = warp(PICTURE, np.random.default_rng(seed))

    assert warped.shape == PICTURE.shape
    assert warped.dtype == np.uint8
    assert warped[:2].mean() > 235, "no sum has run over"
    assert look(warped)[0] is Background.WHITE
    assert np.array_equal(warped, warp(PICTURE, np.random.default_rng(seed)))


def test_warping_neither_wraps_around_at_black_and_white_nor_changes_its_source():
    before = PICTURE.copy()
    for shade in (0, 255):
        flat = np.full((SIDE, SIDE, 3), shade, np.uint8)
        for seed in range(20):
            assert np.abs(warp(flat, np.random.default_rng(seed)).astype(int) - shade).max() < 50
    warp(PICTURE, np.random.default_rng(0))

    assert np.array_equal(PICTURE, before)


def test_some_warped_pictures_are_wrong_and_most_are_still_right():
    right = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scene = sample_scene(rng, Difficulty.HARD)
        right += read(warp(render(scene, rng), rng), scene).all_right

    assert 20 < right < 40


def test_labels_say_right_wrong_and_not_asked_in_the_order_of_the_attributes():
    reading = Reading(background=None, count=True, colour=False, shape=True, fill=True, size=None, relation=None)

    assert dict(zip((*ATTRIBUTES, "all"), _labels(reading), strict=True)) == {
        "background": -1,
        "count": 1,
        "colour": 0,
        "shape": 1,
        "fill": 1,
        "size": -1,
        "relation": -1,
        "all": 0,
    }


def test_doubt_is_the_mean_over_what_was_asked():
    labels = torch.tensor([[1.0, 0.0, -1.0], [1.0, -1.0, -1.0]])
    unsure, certain = torch.zeros(2, 3), torch.tensor([[20.0, -20.0, 20.0], [20.0, 20.0, -20.0]])

    assert _doubt(unsure, labels).item() == pytest.approx(np.log(2))
    assert _doubt(certain, labels).item() == pytest.approx(0, abs=1e-6)


def test_the_probe_answers_for_every_attribute_and_for_all_of_them():
    assert Probe()(torch.randn(3, FEATURES), torch.randn(3, 128)).shape == (3, len(ATTRIBUTES) + 1)


def test_a_bank_holds_pictures_captions_and_verdicts_and_its_last_verdict_is_that_of_all(tmp_path):
    write_untrained(tmp_path)
    build(course(tmp_path, "verdicts", 1), course(tmp_path, "schnell", 1))
    bank = Bank.open(tmp_path)
    labels = np.asarray(bank.labels)

    assert bank.pictures.shape == (200, SIDE, SIDE, 3)
    assert set(np.unique(labels)) <= {-1, 0, 1}
    assert set(np.unique(labels[:, -1])) <= {0, 1}
    assert np.array_equal(labels[:, -1] == 1, (labels[:, :-1] != 0).all(axis=1))
    assert np.count_nonzero(bank.tokens, axis=1).min() >= 4
