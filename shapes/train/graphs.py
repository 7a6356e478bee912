"""ONNX export of the parts: `discriminators.training.graph` with the axes that each part leaves open.

Weights are rounded to fp16 before anything is exported; the files hold them so and both runtimes compute in fp32.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from discriminators.training import graph


@dataclass(frozen=True, slots=True)
class Part:
    """One graph: a module, example inputs by name in call order, the output's name, and dynamic axes by input."""

    module: nn.Module
    inputs: Mapping[str, torch.Tensor]
    output: str
    axes: Mapping[str, Mapping[int, str]]


def round_to_half(module: nn.Module) -> nn.Module:
    """Round all floating parameters and buffers to fp16 precision, keeping them fp32; returns the module."""
    for tensor in [*module.parameters(), *module.buffers()]:
        if tensor.is_floating_point():
            tensor.data = tensor.data.half().float()
    return module


def export(part: Part, path: Path, checks: Sequence[Mapping[str, torch.Tensor]] = ()) -> float:
    """Write `part` to `path` as one file and compare it with torch on its example and on `checks`.

    Returns:
        The largest absolute difference.

    Raises:
        ParityError: A difference exceeds 1e-4, or the graph lost an input.
    """
    return graph.export(part.module, path, part.inputs, [part.output], axes=part.axes, checks=checks)
