"""ONNX export of a module, and the proof that the graph computes what torch computes.

Every fp32 initializer that fp16 holds exactly is stored in fp16 behind a Cast, which onnxruntime folds when it loads:
half the size, fp32 arithmetic, the same numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from discriminators.training.errors import ParityError

TOLERANCE = 1e-4
_OPSET = 20
_SMALLEST = 64
_RESULT = "result.of.graph."

Axes = Mapping[str, Mapping[int, str]]
"""Axes of any size by input: their numbers and names. Axes of one name have one size."""


def export(
    module: nn.Module,
    path: Path,
    inputs: Mapping[str, torch.Tensor],
    outputs: Sequence[str],
    *,
    axes: Axes | None = None,
    checks: Sequence[Mapping[str, torch.Tensor]] = (),
) -> float:
    """Write `module` to `path` as one file and compare it with torch on `inputs` and `checks`.

    Args:
        module: returns one tensor per name of `outputs`, or the only one by itself.
        path: of the file; its folder is made.
        inputs: examples by name, in call order.
        outputs: names, in order.
        axes: of any size, named, by input; by default axis 0 of every input, the batch.
        checks: further inputs to compare on.

    Returns:
        The largest absolute difference.

    Raises:
        ParityError: a difference exceeds 1e-4, or the graph lost an input.
    """
    module.eval()
    path.parent.mkdir(parents=True, exist_ok=True)
    model = _capture(module, inputs, outputs, axes or {name: {0: "batch"} for name in inputs}).model_proto
    _name_outputs(model, outputs)
    _store_in_half(model)
    _drop_traces(model)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    worst = max(_difference(module, path, some, outputs) for some in (inputs, *checks))
    if not worst <= TOLERANCE:
        raise ParityError(
            f"{path.name} differs from torch by {worst:.2e}, more than {TOLERANCE}. It cannot be shipped."
        )
    return worst


def _capture(module: nn.Module, inputs: Mapping[str, torch.Tensor], outputs: Sequence[str], axes: Axes) -> Any:
    """Run the dynamo exporter; its deprecation chatter is silenced."""
    names = {name for of_input in axes.values() for name in of_input.values()}
    sizes = {name: torch.export.Dim(name, min=1, max=65536) for name in names}
    shapes = tuple({axis: sizes[name] for axis, name in axes.get(key, {}).items()} for key in inputs)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return torch.onnx.export(
            module,
            tuple(inputs.values()),
            input_names=list(inputs),
            output_names=[_RESULT + name for name in outputs],
            dynamic_shapes=shapes,
            opset_version=_OPSET,
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def _name_outputs(model: onnx.ModelProto, outputs: Sequence[str]) -> None:
    """Give the results their names, and whatever inside the graph happens to have one of them another."""
    for name in outputs:
        _rename(model, name, f"{name}.inner")
        _rename(model, _RESULT + name, name)


def _rename(model: onnx.ModelProto, old: str, new: str) -> None:
    """Rename a value wherever it is made or used."""
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [new if name == old else name for name in names]
    for value in [*model.graph.output, *model.graph.initializer]:
        if value.name == old:
            value.name = new


def _store_in_half(model: onnx.ModelProto) -> None:
    """Replace every fp32 initializer that fp16 holds exactly by fp16 and a Cast."""
    casts = []
    for initializer in model.graph.initializer:
        if initializer.data_type != TensorProto.FLOAT:
            continue
        values = numpy_helper.to_array(initializer)
        with np.errstate(over="ignore"):
            half = values.astype(np.float16)
        if values.size < _SMALLEST or not np.array_equal(half.astype(np.float32), values):
            continue
        name = initializer.name
        initializer.CopyFrom(numpy_helper.from_array(half, f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], f"{name}.cast", to=TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _drop_traces(model: onnx.ModelProto) -> None:
    """Remove what only debugging needs: doc strings, stack traces, and intermediate shapes."""
    model.doc_string = ""
    del model.graph.value_info[:]
    del model.graph.metadata_props[:]
    del model.metadata_props[:]
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    for value in [*model.graph.input, *model.graph.output, *model.graph.initializer]:
        value.doc_string = ""
        del value.metadata_props[:]


@torch.no_grad()
def _difference(module: nn.Module, path: Path, inputs: Mapping[str, torch.Tensor], outputs: Sequence[str]) -> float:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    lost = set(inputs) - {value.name for value in session.get_inputs()}
    if lost:
        raise ParityError(f"{path.name} lost its inputs {', '.join(sorted(lost))}. It cannot be shipped.")
    found = session.run(list(outputs), {name: tensor.numpy() for name, tensor in inputs.items()})
    answer = module(*inputs.values())
    wanted = answer if isinstance(answer, tuple) else (answer,)
    return max(float(np.abs(ours - theirs.numpy()).max()) for ours, theirs in zip(found, wanted, strict=True))
