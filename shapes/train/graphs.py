"""ONNX export of the parts, and the proof that each computes what torch computes.

Weights are rounded to fp16 before anything is exported. In the files every initializer that fp16 holds exactly is
stored in fp16 behind a Cast, which onnxruntime folds when it loads: half the size, fp32 arithmetic, the same numbers.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

TOLERANCE = 1e-4
_OPSET = 20
_SMALLEST = 64
_RESULT = "result.of.graph"


class ParityError(RuntimeError):
    """The exported graph does not compute what the module computes."""


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
        ParityError: A difference exceeds 1e-4.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part.module.eval()
    program = _capture(part)
    model = program.model_proto
    _rename(model, part.output, f"{part.output}.inner")
    _rename(model, _RESULT, part.output)
    _store_in_half(model)
    _drop_traces(model)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    worst = max(_difference(part, path, inputs) for inputs in (part.inputs, *checks))
    if not worst <= TOLERANCE:
        msg = f"{path.name} differs from torch by {worst:.2e}"
        raise ParityError(msg)
    return worst


def _capture(part: Part) -> Any:
    """Run the dynamo exporter; its deprecation chatter is silenced."""
    names = {name for axes in part.axes.values() for name in axes.values()}
    dims = {name: torch.export.Dim(name, min=1, max=4096) for name in names}
    shapes = tuple({axis: dims[name] for axis, name in part.axes.get(key, {}).items()} for key in part.inputs)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return torch.onnx.export(
            part.module,
            tuple(part.inputs.values()),
            input_names=list(part.inputs),
            output_names=[_RESULT],
            dynamic_shapes=shapes,
            opset_version=_OPSET,
            dynamo=True,
            external_data=False,
            verbose=False,
        )


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
    held = {initializer.name for initializer in model.graph.initializer}
    cast = {node.input[0].removesuffix(".half") for node in casts}
    kept = [value for value in model.graph.value_info if value.name not in cast and value.name not in held]
    del model.graph.value_info[:]
    model.graph.value_info.extend(kept)


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
def _difference(part: Part, path: Path, inputs: Mapping[str, torch.Tensor]) -> float:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    wanted = {value.name for value in session.get_inputs()}
    if wanted != set(part.inputs):
        msg = f"{path.name} lost the inputs {sorted(set(part.inputs) - wanted)}"
        raise ParityError(msg)
    found = session.run([part.output], {name: tensor.numpy() for name, tensor in inputs.items()})[0]
    return float(np.abs(found - part.module(*inputs.values()).numpy()).max())
