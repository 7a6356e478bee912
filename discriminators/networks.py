"""ONNX graphs as functions of named arrays. The only module here that meets onnxruntime and its errors.

`backends/networks.py` is its twin: rooms do not import one another, and the cascade does not know onnxruntime.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as states

from cascade.errors import DiscriminatorError
from cascade.model_folder import ModelFolder

LOAD_ERRORS = (
    states.Fail,
    states.InvalidArgument,
    states.InvalidGraph,
    states.InvalidProtobuf,
    states.NoModel,
    states.NoSuchFile,
    states.NotImplemented,
    states.RuntimeException,
)
RUN_ERRORS = (
    states.EPFail,
    states.Fail,
    states.InvalidArgument,
    states.NotImplemented,
    states.RuntimeException,
    MemoryError,
    ValueError,
)


class Network:
    """One ONNX graph with one float32 output. Any number of threads may run it at once."""

    def __init__(self, files: ModelFolder, name: str, inputs: frozenset[str], threads: int) -> None:
        """Load a graph.

        Args:
            files: the model folder.
            name: of the graph's file, relative to the folder.
            inputs: exactly what the graph must take.
            threads: within one operator; operators run one after another and idle threads sleep.

        Raises:
            ModelFilesError: the file is missing or corrupt, or the graph takes other inputs.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4  # errors are raised, not printed with the machine's paths
        path = files.file(name)
        try:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except LOAD_ERRORS as error:
            raise files.broken(name, "is not a graph that onnxruntime can load") from error
        self._files, self._name = files, name
        if frozenset(node.name for node in self._session.get_inputs()) != inputs:
            raise files.broken(name, f"must take exactly {', '.join(sorted(inputs))}")

    def require_output_width(self, width: int) -> None:
        """Check that the graph has one output, [B, width].

        Raises:
            ModelFilesError: it has others, or leaves the width open.
        """
        shapes = [node.shape for node in self._session.get_outputs()]
        if [shape[1:] for shape in shapes] != [[width]]:
            raise self._files.broken(self._name, f"must give exactly one output, {width} wide as its manifest says")

    def run(self, inputs: Mapping[str, NDArray[np.float32] | NDArray[np.int64]]) -> NDArray[np.float32]:
        """The graph's output.

        Raises:
            DiscriminatorError: onnxruntime failed.
        """
        try:
            (output,) = self._session.run(None, dict(inputs))
        except RUN_ERRORS as error:
            raise DiscriminatorError(f"{self._name} failed on this picture.") from error
        return np.asarray(output, np.float32)
