"""A head folder is whole, computes what torch computes, and fits its CLIP alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from cascade.errors import DiscriminatorError, ModelFilesError
from discriminators.calibrated_head import CalibratedHead, Kind
from discriminators.training.errors import ParityError
from discriminators.training.fitting import Recipe, TruePictures, logits_of
from discriminators.training.graph import export
from discriminators.training.head_folder import Names, write_head
from discriminators.training.perceptron import Schedule
from discriminators.training.seen import seen_by, unseen_rows
from discriminators.training.trained import Trained, train
from tests.discriminators.training.worlds import FEATURES, WIDTH, straight_world

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

NAMES = Names("small", "light-1", "heavy-1", "digest-1", "coin 1")
EVERY = frozenset(Kind)
MANY = Recipe(few=100, members=2, schedule=Schedule(epochs=2, steps=20))


@dataclass
class Eyes:
    """A CLIP as far as a head wants to know it."""

    digest: str = "digest-1"
    width: int = WIDTH
    feature_width: int = FEATURES

    def image(self, content: bytes) -> NDArray[np.float32]:
        return np.frombuffer(content, np.float32)[None]

    def text(self, prompt: str) -> NDArray[np.float32]:
        return np.full((1, WIDTH), len(prompt), np.float32)


def made(kind: Kind, recipe: Recipe = MANY, count: int = 400) -> Trained:
    pairs, _ = straight_world(count)
    return train(pairs, replace(recipe, kind=kind), TruePictures(pairs.image + 1, np.full(count, -1)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("heads") / "small"
    write_head(place, made(Kind.PAIR), NAMES)
    return place


@pytest.fixture
def copy(folder, tmp_path) -> Path:
    """One that a test may spoil."""
    return Path(shutil.copytree(folder, tmp_path / "small"))


def change(folder: Path, **values) -> None:
    path = folder / "calibration.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize("recipe", [MANY, Recipe()], ids=["networks", "regression"])
@pytest.mark.parametrize("kind", list(Kind))
def test_the_graph_computes_what_torch_computes(kind, recipe, tmp_path):
    trained = made(kind, recipe)
    new, _ = straight_world(300, seed=5)

    assert write_head(tmp_path / "head", trained, NAMES) <= 1e-4

    served = CalibratedHead(tmp_path / "head", Eyes(), EVERY, threads=1)
    np.testing.assert_allclose(
        served.logits(new.image, new.text), logits_of(trained.head, new, np.arange(300)), rtol=0, atol=1e-4
    )
    expected = trained.calibration(logits_of(trained.head, new, np.arange(300)))
    np.testing.assert_allclose(served.probabilities(new.image, new.text), expected, rtol=0, atol=1e-4)
    one = served.probability(new.image[:1], new.text[:1])
    assert one == pytest.approx(expected[0], abs=1e-4)


def test_a_head_is_not_shipped_when_its_graph_computes_something_else(tmp_path):
    class Counting(torch.nn.Module):
        """Answers differently each time: what is exported is not what is asked again."""

        asked = 0

        def forward(self, x):
            self.asked += 1
            return (x.sum(-1) * self.asked,)

    with pytest.raises(ParityError, match=r"head\.onnx differs from torch"):
        export(Counting(), tmp_path / "head.onnx", {"x": torch.ones(4, 3)}, ("logit",))


def test_a_failed_write_leaves_the_old_head_in_place(copy):
    trained = made(Kind.ROUTER)
    broken = replace(trained, examples={"text_embedding": np.ones((16, WIDTH + 1), np.float32)})
    before = {path.name: path.read_bytes() for path in copy.iterdir()}

    with pytest.raises(Exception, match=r"size|shape"):
        write_head(copy, broken, NAMES)

    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
    assert [path.name for path in copy.parent.iterdir()] == ["small"]


def test_the_folder_says_what_the_head_is(folder):
    card = (folder / "README.md").read_text()
    facts = json.loads((folder / "calibration.json").read_text())

    assert card.startswith("# small\n")
    for told in ("light-1", "heavy-1", "coin 1", "mean of 2 networks", "temperature", "400 pairs", "| auroc | 0."):
        assert told in card
    assert facts["clip_digest"] == "digest-1"
    assert facts["splits"] == {"train": 240, "calibrate": 80, "threshold": 40, "test": 40}
    assert len(facts["score_quantiles"]) == 101
    assert max(len(line) for line in card.splitlines()) <= 120


def test_prompts_a_head_was_made_from_are_not_new_to_it(folder):
    groups = np.arange(400)

    assert len(seen_by(folder)) == 320
    assert len(unseen_rows(groups, [folder])) == 80
    assert len(unseen_rows(groups + 10_000, [folder])) == 400
    assert len(unseen_rows(groups, [])) == 400


@pytest.mark.parametrize(
    ("eyes", "complaint"),
    [
        (Eyes(digest="another"), "Head small was trained for another CLIP"),
        (Eyes(feature_width=FEATURES + 1), "trained on 12 features of a picture and 8 of a prompt; this CLIP gives 13"),
        (Eyes(width=WIDTH - 1), "this CLIP gives 12 and 7"),
    ],
)
def test_a_head_of_another_clip_is_refused(folder, eyes, complaint):
    with pytest.raises(ModelFilesError, match=complaint):
        CalibratedHead(folder, eyes, EVERY, threads=1)


def test_a_graph_of_another_calibration_is_refused(copy, tmp_path):
    write_head(tmp_path / "other", made(Kind.PAIR, replace(MANY, seed=3)), NAMES)
    shutil.copy(tmp_path / "other" / "head.onnx", copy)

    with pytest.raises(ModelFilesError, match=r"is not the graph that calibration\.json was made for"):
        CalibratedHead(copy, Eyes(), EVERY, threads=1)


@pytest.mark.parametrize("kind", ["router", "oracle", ""])
def test_a_head_of_a_kind_the_caller_cannot_use_is_refused(copy, kind):
    change(copy, kind=kind)

    with pytest.raises(ModelFilesError, match="here it must be pair, real-fake"):
        CalibratedHead(copy, Eyes(), frozenset({Kind.PAIR, Kind.REAL_FAKE}), threads=1)


def test_an_answer_that_is_not_a_number_is_an_error(folder):
    head = CalibratedHead(folder, Eyes(), EVERY, threads=1)

    with pytest.raises(DiscriminatorError, match="not a number"):
        head.probability(np.full((1, FEATURES), np.nan, np.float32), np.ones((1, WIDTH), np.float32))
