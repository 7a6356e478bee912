"""An open_clip folder without graphs, through torch: the same numbers, and what cannot be one is refused."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cascade.errors import DiscriminatorError, ModelFilesError
from discriminators.clip_embeddings import ClipEmbeddings
from discriminators.clip_folder import open_embeddings
from discriminators.open_clip_embeddings import OpenClipEmbeddings
from tests.discriminators.judging import PROMPTS, SIZES, picture
from tests.discriminators.tiny_clip import DIGEST, DIMENSIONS, FEATURES, PATCH_WIDTH
from tests.discriminators.tiny_scorers import Intruder, torch_only

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

TOLERANCE = 1e-4
WEIGHTS = "open_clip_model.safetensors"


@pytest.fixture
def folder(patchy_clip: Path, tmp_path: Path) -> Path:
    """As its authors publish it; a test may spoil it."""
    return torch_only(patchy_clip, tmp_path / "clip")


def reconfigure(folder: Path, part: str, **values: object) -> None:
    path = folder / "open_clip_config.json"
    config = json.loads(path.read_text())
    config["model_cfg"][part] |= values
    path.write_text(json.dumps(config))


def test_graphs_and_torch_embed_alike(patchy_clip: Path, clip: Path) -> None:
    for folder, features in ((patchy_clip, FEATURES), (clip, DIMENSIONS)):
        graphs, torch = ClipEmbeddings(folder, threads=1), OpenClipEmbeddings(folder, threads=1)
        for seed, (width, height) in enumerate(SIZES):
            content = picture(seed, width, height).content
            assert graphs.image(content).shape == (1, features)
            np.testing.assert_allclose(torch.image(content)[:, :features], graphs.image(content), atol=TOLERANCE)
        for prompt in PROMPTS:
            np.testing.assert_allclose(torch.text(prompt), graphs.text(prompt), rtol=0, atol=TOLERANCE)


def test_graphs_and_torch_of_one_folder_count_as_one_clip(patchy_clip: Path) -> None:
    graphs, torch = ClipEmbeddings(patchy_clip, threads=1), OpenClipEmbeddings(patchy_clip, threads=1)

    assert (torch.digest, torch.width, torch.feature_width) == (graphs.digest, graphs.width, graphs.feature_width)
    assert (graphs.digest, graphs.width, graphs.feature_width) == (DIGEST, DIMENSIONS, FEATURES)


def test_features_are_the_unit_embedding_and_the_patches_mean_and_maximum(folder: Path) -> None:
    import open_clip
    import torch

    content = picture(1, 64, 48).content
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    model.eval().visual.output_tokens = True
    with torch.no_grad():
        whole, patches = (part[0].numpy() for part in model.visual(preprocess(Image.open(io.BytesIO(content)))[None]))

    (features,) = OpenClipEmbeddings(folder, threads=1).image(content)

    assert patches.shape == (16, PATCH_WIDTH)
    parts = (whole / np.linalg.norm(whole), patches.mean(axis=0), patches.max(axis=0))
    np.testing.assert_allclose(features, np.concatenate(parts), rtol=0, atol=1e-5)


def test_the_folder_says_which_library_runs_it(patchy_clip: Path, folder: Path) -> None:
    assert isinstance(open_embeddings(patchy_clip, threads=1), ClipEmbeddings)
    assert isinstance(open_embeddings(folder, threads=1), OpenClipEmbeddings)


def test_without_our_manifest_the_digest_is_that_of_the_weights(folder: Path) -> None:
    expected = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()

    assert OpenClipEmbeddings(folder, threads=1).digest == expected


def test_a_tower_without_patches_gives_the_embedding_alone(folder: Path) -> None:
    import open_clip
    from safetensors.torch import save_file

    reconfigure(folder, "vision_cfg", layers=[1, 1, 1, 1], width=16)
    config = json.loads((folder / "open_clip_config.json").read_text())["model_cfg"]
    save_file(open_clip.CLIP(**config).state_dict(), folder / WEIGHTS)

    clip = OpenClipEmbeddings(folder, threads=1)

    assert (clip.width, clip.feature_width) == (DIMENSIONS, DIMENSIONS)
    assert np.linalg.norm(clip.image(picture(1, 64, 64).content)) == pytest.approx(1, abs=1e-5)


def test_a_clip_that_names_no_tokenizer_takes_open_clips_own(tmp_path: Path) -> None:
    import open_clip
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(11)
    vision = {"image_size": 32, "patch_size": 16, "width": 16, "layers": 1, "head_width": 8}
    text = {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}
    config = {"embed_dim": 8, "vision_cfg": vision, "text_cfg": text}
    model = open_clip.CLIP(**config).eval()
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": {}}))
    save_file(model.state_dict(), tmp_path / "hps.safetensors")

    clip = OpenClipEmbeddings(tmp_path, threads=1)

    for prompt in PROMPTS:
        with torch.no_grad():
            expected = model.encode_text(open_clip.tokenize([prompt]), normalize=True).numpy()
        np.testing.assert_allclose(clip.text(prompt), expected, rtol=0, atol=1e-5)


async def test_pictures_and_prompts_embedded_at_once_are_as_those_embedded_alone(folder: Path) -> None:
    clip = OpenClipEmbeddings(folder, threads=1)
    contents, prompts = [picture(seed, 40, 40).content for seed in range(4)], [*PROMPTS, "red", "green"]
    alone = [clip.image(content) for content in contents], [OpenClipEmbeddings(folder, 1).text(p) for p in prompts]

    images = asyncio.gather(*(asyncio.to_thread(clip.image, content) for content in contents))
    texts = asyncio.gather(*(asyncio.to_thread(clip.text, prompt) for prompt in prompts))

    np.testing.assert_allclose(np.stack(await images), np.stack(alone[0]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(np.stack(await texts), np.stack(alone[1]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("content", [b"", b"not a picture", picture(1, 64, 64).content[:200]])
def test_what_is_not_a_picture_cannot_be_embedded(folder: Path, content: bytes) -> None:
    with pytest.raises(DiscriminatorError, match="not a picture"):
        OpenClipEmbeddings(folder, threads=1).image(content)


def test_a_prompt_that_is_not_text_cannot_be_embedded(folder: Path) -> None:
    with pytest.raises(DiscriminatorError, match="not valid Unicode"):
        OpenClipEmbeddings(folder, threads=1).text("a \ud800")


def _as_pickle(folder: Path, content: bytes) -> None:
    (folder / WEIGHTS).unlink()
    (folder / "open_clip_pytorch_model.bin").write_bytes(content)


SPOILS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no configuration": (lambda f: (f / "open_clip_config.json").unlink(), "open_clip_config.json is missing"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), "needs one file of weights beside it"),
    "two unusual weights": (
        lambda f: (
            [(f / name).write_bytes((f / WEIGHTS).read_bytes()) for name in ("a.pth", "b.pth")]
            and (f / WEIGHTS).unlink()
        ),
        "needs one file of weights beside it",
    ),
    "truncated weights": (lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-9]), "is truncated"),
    "garbage": (lambda f: _as_pickle(f, b"\x7f" * 99), "open_clip cannot load model folder clip"),
    "other architecture": (
        lambda f: reconfigure(f, "vision_cfg", width=48),
        "Compare its open_clip_config.json with its weights",
    ),
    "unknown key": (lambda f: reconfigure(f, "text_cfg", depth=2), "open_clip cannot load model folder clip"),
    "hub tower": (lambda f: reconfigure(f, "text_cfg", hf_model_name="a/b"), "that only a hub completes"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "open_clip cannot load model folder clip"),
    "other tokenizer": (
        lambda f: reconfigure(f, "text_cfg", hf_tokenizer_name=""),
        "does not fit the weights and the tokenizer",
    ),
}


@pytest.mark.parametrize(("spoil", "complaint"), SPOILS.values(), ids=SPOILS.keys())
@pytest.mark.filterwarnings("ignore")
def test_what_open_clip_cannot_load_is_refused(
    folder: Path, spoil: Callable[[Path], object], complaint: str, tmp_path: Path
) -> None:
    spoil(folder)

    with pytest.raises(ModelFilesError, match=complaint) as caught:
        OpenClipEmbeddings(folder, threads=1)
    assert str(tmp_path) not in str(caught.value)


def test_pickled_code_is_not_run(folder: Path, tmp_path: Path) -> None:
    intruder = Intruder(tmp_path / "taken")
    _as_pickle(folder, pickle.dumps(intruder, protocol=2))

    with pytest.raises(ModelFilesError):
        OpenClipEmbeddings(folder, threads=1)
    assert not intruder.place.exists()


def test_a_device_that_torch_does_not_have_is_refused(folder: Path) -> None:
    with pytest.raises(ModelFilesError, match="on cuda:77"):
        OpenClipEmbeddings(folder, threads=1, device="cuda:77")
