"""The graphs and our preprocessing give what open_clip and torch give."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import io
import json
import shutil
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from cascade.errors import ModelFilesError
from discriminators.calibrated_head import CalibratedHead, Kind
from discriminators.clip_embeddings import ClipEmbeddings
from discriminators.clip_head import ClipHead
from tests.discriminators.judging import BUNDLED, PROMPTS, SIZES, picture, request
from tests.discriminators.tiny_clip import DIMENSIONS, FEATURES

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

TOLERANCE = 1e-4


class Pair(NamedTuple):
    """A head and the CLIP that it stands on."""

    clip: Path
    head: Path


class Theirs:
    """A CLIP as a user of open_clip has it."""

    def __init__(self, folder: Path) -> None:
        import open_clip

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model, _, self.preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
        self.model.eval().visual.output_tokens = True
        self.folder = folder

    def image(self, content: bytes) -> np.ndarray:
        """The embedding, and the patches' mean and maximum."""
        import torch

        pixels = self.preprocess(Image.open(io.BytesIO(content)))[None]
        with torch.no_grad():
            whole, patches = self.model.visual(pixels)
        unit = torch.nn.functional.normalize(whole, dim=-1)
        return torch.cat((unit, patches.mean(dim=1), patches.amax(dim=1)), dim=-1).numpy()

    def text(self, prompt: str) -> np.ndarray:
        import torch
        from tokenizers import Tokenizer

        ids = Tokenizer.from_file(str(self.folder / "tokenizer.json")).encode(prompt).ids
        with torch.no_grad():
            return self.model.encode_text(torch.tensor([ids]), normalize=True).numpy()


@pytest.fixture(params=["tiny", "patchy", "shapes-clip", "shapes-clip-judge"])
def folder(request: pytest.FixtureRequest, clip: Path, patchy_clip: Path) -> Path:
    return {"tiny": clip, "patchy": patchy_clip}.get(request.param, BUNDLED / request.param)


@pytest.fixture(params=["tiny", "patchy", "bundled"])
def pair(request: pytest.FixtureRequest, clip: Path, patchy_clip: Path, head: Path, patchy_head: Path) -> Pair:
    bundled = Pair(BUNDLED / "shapes-clip", BUNDLED / "heads" / "schnell-vs-dev")
    return {"tiny": Pair(clip, head), "patchy": Pair(patchy_clip, patchy_head), "bundled": bundled}[request.param]


def test_pictures_of_any_size_are_embedded_as_open_clip_embeds_them(folder: Path) -> None:
    ours, theirs = ClipEmbeddings(folder, threads=1), Theirs(folder)

    for seed, (width, height) in enumerate(SIZES):
        content = picture(seed, width, height).content
        expected = theirs.image(content)[:, : ours.feature_width]
        np.testing.assert_allclose(ours.image(content), expected, rtol=0, atol=TOLERANCE)


def test_prompts_are_embedded_as_open_clip_embeds_them(folder: Path) -> None:
    ours, theirs = ClipEmbeddings(folder, threads=1), Theirs(folder)

    for prompt in PROMPTS:
        np.testing.assert_allclose(ours.text(prompt), theirs.text(prompt), rtol=0, atol=TOLERANCE)


def test_embeddings_have_length_one(folder: Path) -> None:
    ours = ClipEmbeddings(folder, threads=1)

    for vector in (ours.image(picture(0, 64, 64).content)[:, : ours.width], ours.text("a red circle")):
        assert vector.dtype == np.float32
        assert vector.ndim == 2
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_the_score_is_the_calibrated_answer_of_the_head_on_open_clips_embeddings(pair: Pair) -> None:
    theirs, ours = Theirs(pair.clip), ClipEmbeddings(pair.clip, threads=1)
    judge = ClipHead(pair.clip, pair.head, threads=1)
    alone = CalibratedHead(pair.head, ours, frozenset({Kind.PAIR}), threads=1)

    for seed, prompt in enumerate(PROMPTS):
        artifact = picture(seed, 64, 64)
        features = theirs.image(artifact.content)[:, : ours.feature_width]
        expected = 1 - alone.probability(features, theirs.text(prompt))
        assert (await judge.score(request(prompt), artifact)).value == pytest.approx(expected, abs=TOLERANCE)


def test_a_manifest_that_gives_another_width_is_refused(patchy_clip: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(patchy_clip, tmp_path / "clip"))
    card = json.loads((folder / "maquette.json").read_text())
    for values, complaint in (
        ({"feature_width": FEATURES + 1}, r"onnx/image\.onnx .* must give exactly one output, 81 wide"),
        ({"feature_width": None}, r"onnx/image\.onnx .* must give exactly one output, 16 wide"),
        ({"embedding_width": DIMENSIONS + 1}, r"onnx/text\.onnx .* must give exactly one output, 17 wide"),
        ({"embedding_width": FEATURES, "feature_width": DIMENSIONS}, "feature_width no smaller"),
        ({"embedding_width": 0}, "embedding_width above 0"),
    ):
        (folder / "maquette.json").write_text(json.dumps(card | values))
        with pytest.raises(ModelFilesError, match=complaint):
            ClipEmbeddings(folder, threads=1)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_bundled_tokenizer_gives_the_ids_that_open_clip_gives(prompt: str) -> None:
    import open_clip
    from tokenizers import Tokenizer

    folder = BUNDLED / "shapes-clip"
    stored = Tokenizer.from_file(str(folder / "tokenizer.json"))
    length = json.loads((folder / "maquette.json").read_text())["context_length"]
    theirs = open_clip.get_tokenizer(f"local-dir:{folder}", context_length=length)

    assert stored.encode(prompt).ids == theirs(prompt)[0].tolist()
