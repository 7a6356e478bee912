"""Our packing is FluxPipeline's, and the files of encoded pictures keep what fits."""

import numpy as np
import pytest
import torch
from diffusers import FluxPipeline

from shapes.train.latents import create_map, open_map, pack, unpack

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("side", [1, 4, 8])
def test_packing_is_flux_pipelines_and_unpacking_undoes_it(side):
    latents = torch.arange(2 * 16 * 4 * side * side, dtype=torch.float32).view(2, 16, 2 * side, 2 * side)
    tokens = pack(latents)

    assert tokens.shape == (2, side * side, 64)
    assert torch.equal(tokens, FluxPipeline._pack_latents(latents, 2, 16, 2 * side, 2 * side))
    assert torch.equal(unpack(tokens, side), FluxPipeline._unpack_latents(tokens, 16 * side, 16 * side, 8))
    assert torch.equal(unpack(tokens, side), latents)


def test_a_file_whose_shape_fits_is_kept_and_another_is_made_anew(tmp_path):
    path = tmp_path / "tokens.npy"
    create_map(path, "|u1", (3, 2))
    written = open_map(path)
    written[:] = 7
    written.flush()

    create_map(path, "|u1", (3, 2))
    assert np.load(path).tolist() == [[7, 7]] * 3
    create_map(path, "|u1", (4, 2))
    assert np.load(path).tolist() == [[0, 0]] * 4
