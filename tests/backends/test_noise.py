"""Our noise is torch's."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import numpy as np
import pytest

from backends.noise import standard_normal


@pytest.mark.engine
@pytest.mark.parametrize("seed", [0, 1, 42, 2**31, 2**32 - 1])
@pytest.mark.parametrize("shape", [(16,), (17,), (31,), (1, 16, 8, 8), (1, 16, 8, 12), (3, 5, 7), (1, 16, 64, 64)])
def test_the_noise_is_what_torchs_cpu_generator_draws(seed: int, shape: tuple[int, ...]) -> None:
    import torch

    torchs = torch.randn(shape, generator=torch.Generator("cpu").manual_seed(seed)).numpy()
    ours = standard_normal(seed, shape)

    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, torchs, rtol=0, atol=1e-6)


def test_the_noise_never_changes_between_releases() -> None:
    np.testing.assert_allclose(
        standard_normal(0, (16,))[:4], [-1.1258398, -1.1523602, -0.2505786, -0.4338788], rtol=0, atol=1e-6
    )


def test_a_shape_that_torch_fills_by_another_method_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        standard_normal(0, (15,))


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_outside_its_range_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="2\\*\\*32"):
        standard_normal(seed, (16,))
