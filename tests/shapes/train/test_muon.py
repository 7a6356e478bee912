import pytest
import torch

from shapes.train.muon import Muon, orthogonalise

pytestmark = pytest.mark.engine


def matrices(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("shape", [(3, 32, 64), (3, 48, 24), (3, 24, 96)])
def test_all_singular_values_are_pushed_towards_one(shape):
    values = torch.linalg.svdvals(orthogonalise(matrices(*shape)))

    assert values.min() > 0.4
    assert values.max() < 1.3


def test_the_directions_stay():
    first = matrices(1, 16, 40)
    u, _, v = torch.linalg.svd(first[0], full_matrices=False)
    found = orthogonalise(first)[0]

    across = u.T @ found @ v.T
    assert (across - torch.diag(across.diagonal())).abs().max() < 1e-4
    assert across.diagonal().min() > 0.4


def test_neither_size_nor_company_matters():
    three = matrices(3, 20, 10)

    torch.testing.assert_close(orthogonalise(three)[1:2], orthogonalise(three[1:2]), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(orthogonalise(1000 * three), orthogonalise(three), rtol=1e-4, atol=1e-5)


def test_nothing_comes_of_nothing():
    assert orthogonalise(torch.zeros(1, 4, 8)).abs().max() == 0


def step(weight, gradient, **options):
    parameter = torch.nn.Parameter(weight.clone())
    parameter.grad = gradient
    Muon([parameter], lr=0.1, **options).step()
    return parameter.detach()


@pytest.mark.parametrize("shape", [(32, 32), (64, 16), (16, 64)])
def test_an_update_is_as_large_as_half_the_rate_whatever_the_gradient(shape):
    for size in (1e-3, 1e3):
        moved = step(torch.zeros(shape), size * matrices(*shape))
        full_rank = (min(shape) * max(shape)) ** -0.5 * min(shape) ** 0.5

        assert moved.square().mean().sqrt().item() == pytest.approx(0.05 * max(shape) ** 0.5 * full_rank, rel=0.25)


def test_an_update_goes_against_the_gradient():
    gradient = matrices(8, 8)

    assert (step(torch.zeros(8, 8), gradient) * gradient).sum() < 0


def test_weights_decay_by_themselves():
    weight = matrices(8, 8)

    torch.testing.assert_close(step(weight, torch.zeros(8, 8), weight_decay=0.5), weight * (1 - 0.1 * 0.5))


def test_what_has_no_gradient_stays_and_several_shapes_go_together():
    idle, square, tall = (torch.nn.Parameter(matrices(*shape)) for shape in ((4, 4), (8, 8), (12, 4)))
    before = [parameter.detach().clone() for parameter in (idle, square, tall)]
    square.grad, tall.grad = matrices(8, 8), matrices(12, 4)
    Muon([idle, square, tall], lr=0.1).step()

    assert torch.equal(idle, before[0])
    assert not torch.equal(square, before[1])
    assert not torch.equal(tall, before[2])


def test_momentum_carries_on_after_the_gradient_has_gone():
    parameter = torch.nn.Parameter(torch.zeros(8, 8))
    muon = Muon([parameter], lr=0.1, weight_decay=0.0)
    parameter.grad = matrices(8, 8)
    muon.step()
    once = parameter.detach().clone()
    parameter.grad = torch.zeros(8, 8)
    muon.step()

    assert ((parameter.detach() - once) * once).sum() > 0
