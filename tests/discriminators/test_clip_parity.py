"""The graphs and our preprocessing give what open_clip and torch give."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cascade.model_folder import ModelFolder
from discriminators.clip_embeddings import ClipEmbeddings
from discriminators.clip_head import ClipHead, read_knots
from discriminators.networks import Network
from tests.discriminators.judging import BUNDLED, PROMPTS, SIZES, picture, request

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

TOLERANCE = 1e-4


class Theirs:
    """A CLIP as a user of open_clip has it."""

    def __init__(self, folder: Path) -> None:
        import open_clip

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model, _, self.preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
        self.model.eval()
        self.folder = folder

    def image(self, content: bytes) -> np.ndarray:
        import torch

        pixels = self.preprocess(Image.open(io.BytesIO(content)))[None]
        with torch.no_grad():
            return self.model.encode_image(pixels, normalize=True).numpy()

    def text(self, prompt: str) -> np.ndarray:
        import torch
        from tokenizers import Tokenizer

        ids = Tokenizer.from_file(str(self.folder / "tokenizer.json")).encode(prompt).ids
        with torch.no_grad():
            return self.model.encode_text(torch.tensor([ids]), normalize=True).numpy()


@pytest.fixture(params=["tiny", "bundled"])
def folder(request: pytest.FixtureRequest, clip: Path) -> Path:
    return clip if request.param == "tiny" else BUNDLED / "shapes-clip"


def head_of(folder: Path, tiny_head: Path) -> Path:
    return BUNDLED / "heads" / "schnell-vs-dev" if BUNDLED in folder.parents else tiny_head


def test_pictures_of_any_size_are_embedded_as_open_clip_embeds_them(folder: Path) -> None:
    ours, theirs = ClipEmbeddings(folder, threads=1), Theirs(folder)

    for seed, (width, height) in enumerate(SIZES):
        content = picture(seed, width, height).content
        np.testing.assert_allclose(ours.image(content), theirs.image(content), rtol=0, atol=TOLERANCE)


def test_prompts_are_embedded_as_open_clip_embeds_them(folder: Path) -> None:
    ours, theirs = ClipEmbeddings(folder, threads=1), Theirs(folder)

    for prompt in PROMPTS:
        np.testing.assert_allclose(ours.text(prompt), theirs.text(prompt), rtol=0, atol=TOLERANCE)


def test_embeddings_have_length_one(folder: Path) -> None:
    ours = ClipEmbeddings(folder, threads=1)

    for vector in (ours.image(picture(0, 64, 64).content), ours.text("a red circle")):
        assert vector.dtype == np.float32
        assert vector.ndim == 2
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_the_score_is_the_calibrated_answer_of_the_head_on_open_clips_embeddings(
    folder: Path, head: Path
) -> None:
    theirs, files = Theirs(folder), ModelFolder(head_of(folder, head))
    judge = ClipHead(folder, files.path, threads=1)
    network = Network(files, "head.onnx", frozenset({"image_embedding", "text_embedding"}), 1)
    knots = read_knots(files.settings("calibration.json"))

    for seed, prompt in enumerate(PROMPTS):
        artifact = picture(seed, 64, 64)
        inputs: dict[str, Any] = {
            "image_embedding": theirs.image(artifact.content),
            "text_embedding": theirs.text(prompt),
        }
        expected = 1 - knots.probability(float(network.run(inputs).item()))
        assert (await judge.score(request(prompt), artifact)).value == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_bundled_tokenizer_gives_the_ids_that_open_clip_gives(prompt: str) -> None:
    import open_clip
    from tokenizers import Tokenizer

    folder = BUNDLED / "shapes-clip"
    stored = Tokenizer.from_file(str(folder / "tokenizer.json"))
    length = json.loads((folder / "maquette.json").read_text())["context_length"]
    theirs = open_clip.get_tokenizer(f"local-dir:{folder}", context_length=length)

    assert stored.encode(prompt).ids == theirs(prompt)[0].tolist()
