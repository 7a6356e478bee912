"""The same folder, request and seed give the same picture in every engine, and in plain diffusers."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.flux_folder import NEGATIVE_SCALE
from cascade.plans import Stage
from cascade.requests import GenerationRequest
from tests.backends.drawing import BUNDLED, open_backend, pixels, stage

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

MEAN_TOLERANCE = 0.05
MOST_TOLERANCE = 2
"""Of 255. Two engines round differently in the last bits of float32; the eye needs more than this."""

NAMES = ("shapes-dev", "shapes-schnell")
SIZES = [(64, 64), (96, 64), (64, 96)]


@dataclass(frozen=True)
class Case:
    folder: Path
    request: GenerationRequest
    stage: Stage


def tiny(folder: Path, width: int, height: int, negative_prompt: str = "") -> Case:
    request = GenerationRequest("a red circle above the blue square", width, height, 0, negative_prompt=negative_prompt)
    return Case(folder, request, stage(6, 3.0))


def bundled(name: str, width: int, height: int, negative_prompt: str = "") -> Case:
    """A bundled folder at its shipped steps."""
    prompt = "a large red circle above a small blue square"
    request = GenerationRequest(prompt, width, height, 0, negative_prompt=negative_prompt)
    steps = json.loads((BUNDLED / name / "maquette.json").read_text())["steps"]
    return Case(BUNDLED / name, request, stage(steps))


async def drawn(kind: str, case: Case, seed: int) -> NDArray[np.int16]:
    artifact = await open_backend(kind, case.folder).generate(case.request, case.stage, seed, lambda done, total: None)
    return pixels(artifact)


def drawn_plainly(case: Case, seed: int) -> NDArray[np.int16]:
    """What a user of diffusers would write."""
    import torch
    from diffusers import FluxPipeline

    ours = json.loads((case.folder / "maquette.json").read_text())
    pipeline = FluxPipeline.from_pretrained(case.folder, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    image = pipeline(
        prompt=case.request.prompt,
        negative_prompt=case.request.negative_prompt or None,
        true_cfg_scale=NEGATIVE_SCALE if case.request.negative_prompt else 1.0,
        width=case.request.width,
        height=case.request.height,
        num_inference_steps=case.stage.steps,
        guidance_scale=case.stage.guidance or 3.5,
        generator=torch.Generator("cpu").manual_seed(seed),
        max_sequence_length=ours["max_sequence_length"],
    ).images[0]
    return np.asarray(image, np.int16)


def assert_alike(one: NDArray[np.int16], other: NDArray[np.int16]) -> None:
    difference = np.abs(one - other)
    assert one.shape == other.shape
    assert one.std() > 5, "a flat picture proves nothing"
    assert difference.mean() <= MEAN_TOLERANCE
    assert difference.max() <= MOST_TOLERANCE


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_both_engines_draw_the_same_tiny_picture(guided: Path, width: int, height: int) -> None:
    case = tiny(guided, width, height)

    for seed in (0, 2**32 - 1):
        assert_alike(await drawn("onnx", case, seed), await drawn("diffusers", case, seed))


@pytest.mark.parametrize(("width", "height"), [(64, 64), (96, 64)])
@pytest.mark.parametrize("name", NAMES)
async def test_both_engines_draw_the_same_bundled_picture(name: str, width: int, height: int) -> None:
    case = bundled(name, width, height)

    for seed in (0, 1):
        assert_alike(await drawn("onnx", case, seed), await drawn("diffusers", case, seed))


@pytest.mark.parametrize("case", ["tiny", *NAMES])
async def test_both_engines_avoid_a_negative_prompt_alike(case: str, guided: Path) -> None:
    avoiding = tiny(guided, 64, 64, "a green square") if case == "tiny" else bundled(case, 64, 64, "a green square")

    assert_alike(await drawn("onnx", avoiding, 3), await drawn("diffusers", avoiding, 3))


@pytest.mark.parametrize("negative_prompt", ["", "a green square"])
async def test_the_diffusers_backend_draws_exactly_what_plain_diffusers_draws(
    guided: Path, negative_prompt: str
) -> None:
    case = tiny(guided, 96, 64, negative_prompt)

    assert np.array_equal(await drawn("diffusers", case, 7), drawn_plainly(case, 7))


@pytest.mark.parametrize("name", NAMES)
async def test_plain_diffusers_draws_exactly_the_bundled_picture(name: str) -> None:
    case = bundled(name, 64, 64)

    assert np.array_equal(await drawn("diffusers", case, 7), drawn_plainly(case, 7))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokenizer", ["tokenizer", "tokenizer_2"])
def test_the_stored_tokenizers_give_the_ids_that_the_pipeline_gives(name: str, tokenizer: str) -> None:
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer

    folder = BUNDLED / name
    sequence = json.loads((folder / "maquette.json").read_text())["max_sequence_length"]
    theirs = AutoTokenizer.from_pretrained(folder / tokenizer, local_files_only=True)
    length = theirs.model_max_length if tokenizer == "tokenizer" else sequence
    stored = Tokenizer.from_file(str(folder / tokenizer / "tokenizer.json"))

    for prompt in ("", "a red circle", "a large red circle above a small blue square", "red " * 60):
        expected = theirs(prompt, padding="max_length", max_length=length, truncation=True).input_ids
        assert stored.encode(prompt).ids == expected
