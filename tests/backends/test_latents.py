"""Our packing is FluxPipeline's."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import numpy as np
import pytest

from backends.latents import image_ids, pack, unpack


def latents() -> np.ndarray:
    return np.arange(2 * 16 * 8 * 12, dtype=np.float32).reshape(2, 16, 8, 12)


@pytest.mark.engine
def test_tokens_and_their_places_are_those_of_flux_pipeline() -> None:
    import torch
    from diffusers import FluxPipeline

    tokens = FluxPipeline._pack_latents(torch.from_numpy(latents()), 2, 16, 8, 12)
    places = FluxPipeline._prepare_latent_image_ids(1, 4, 6, torch.device("cpu"), torch.float32)

    np.testing.assert_array_equal(pack(latents()), tokens.numpy())
    np.testing.assert_array_equal(image_ids(8, 12), places.numpy())


def test_unpacking_undoes_packing() -> None:
    np.testing.assert_array_equal(unpack(pack(latents()), 8, 12), latents())
