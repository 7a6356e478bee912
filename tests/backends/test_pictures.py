"""Pixels become the PNG that diffusers would have made."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from backends.pictures import to_artifact
from cascade.errors import GenerationError


def ramp() -> np.ndarray:
    """[3, 8, 16] through and beyond -1..1."""
    return np.linspace(-1.2, 1.2, 3 * 8 * 16, dtype=np.float32).reshape(3, 8, 16)


@pytest.mark.engine
def test_pixels_are_rounded_the_way_diffusers_rounds_them() -> None:
    import torch
    from diffusers.image_processor import VaeImageProcessor

    (theirs,) = VaeImageProcessor().postprocess(torch.from_numpy(ramp())[None], output_type="pil")
    ours = Image.open(io.BytesIO(to_artifact(ramp()).content))

    assert np.array_equal(np.asarray(ours), np.asarray(theirs))


def test_an_artifact_knows_its_size() -> None:
    artifact = to_artifact(ramp())

    assert (artifact.width, artifact.height) == (16, 8)
    assert Image.open(io.BytesIO(artifact.content)).size == (16, 8)


def test_the_same_pixels_give_the_same_bytes_without_metadata() -> None:
    artifact = to_artifact(ramp())

    assert artifact == to_artifact(ramp())
    assert Image.open(io.BytesIO(artifact.content)).info == {}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_pixels_that_are_not_numbers_are_no_picture(value: float) -> None:
    broken = ramp()
    broken[0, 0, 0] = value

    with pytest.raises(GenerationError, match="not numbers"):
        to_artifact(broken)
