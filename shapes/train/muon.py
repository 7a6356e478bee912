"""Muon: momentum whose update is orthogonalised (Jordan et al. 2024), for the weight matrices inside blocks.

torch.optim.Muon works in bf16 only, which CPUs without bf16 arithmetic run four times slower, and one matrix at a
time; this one works in the parameters' own type and on all matrices of one shape at once.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from typing_extensions import override

from shapes.train import team

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5
_SCALE = 0.5
"""Moonshot scales updates to 0.2, AdamW's usual size; short courses at this width learn faster with larger ones."""


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum, decoupled weight decay, and updates scaled to AdamW's size (Moonshot 2025)."""

    def __init__(
        self, parameters: Iterable[torch.nn.Parameter], lr: float, *, momentum: float = 0.95, weight_decay: float = 0.01
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @override
    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Update every parameter that has a gradient; `closure` is ignored."""
        del closure
        for group in self.param_groups:
            alike: dict[torch.Size, list[torch.nn.Parameter]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike[parameter.shape].append(parameter)
            for parameters in alike.values():
                self._update(parameters, group)

    def _update(self, parameters: list[torch.nn.Parameter], group: dict[str, Any]) -> None:
        """Update parameters of one shape [rows, columns]."""
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        buffers = []
        for parameter, gradient in zip(parameters, gradients, strict=True):
            state = self.state[parameter]
            buffer = state.setdefault("momentum_buffer", torch.zeros_like(gradient))
            buffers.append(buffer.lerp_(gradient, 1 - group["momentum"]))
        steps = [g.lerp(b, group["momentum"]) for g, b in zip(gradients, buffers, strict=True)]
        updates = _shared(torch.stack(steps))
        rate = group["lr"] * _SCALE * max(updates.shape[-2:]) ** 0.5
        for parameter, update in zip(parameters, updates, strict=True):
            parameter.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-rate)


def _shared(matrices: torch.Tensor) -> torch.Tensor:
    """Orthogonalise [K, rows, columns], each member of the team its share when K divides evenly."""
    if len(matrices) % team.size():
        return orthogonalise(matrices)
    mine = orthogonalise(matrices.chunk(team.size())[team.rank()])
    return team.gather(mine.contiguous())


def orthogonalise(matrices: torch.Tensor) -> torch.Tensor:
    """Push all singular values towards one by a quintic Newton–Schulz iteration: [K, rows, columns] → the same."""
    first, second, third = _COEFFICIENTS
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.mT
        x = first * x + (second * gram + third * gram @ gram) @ x
    return x.mT if tall else x
