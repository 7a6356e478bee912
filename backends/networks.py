"""ONNX graphs as functions of named arrays. The only module here that meets onnxruntime and its errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as states

from cascade.errors import GenerationError
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
    """One ONNX graph with one float32 output."""

    def __init__(self, files: ModelFolder, name: str, offers: frozenset[str], threads: int) -> None:
        """Load a graph.

        Args:
            files: the model folder.
            name: of the graph's file, relative to the folder.
            offers: the inputs that the caller will give; the graph may take fewer.
            threads: within one operator; operators run one after another and idle threads sleep.

        Raises:
            ModelFilesError: the file is missing or corrupt, or the graph wants an input that is not offered.
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
        self._name = name
        self.inputs = frozenset(node.name for node in self._session.get_inputs())
        if not self.inputs <= offers:
            raise files.broken(name, f"has unknown inputs: {', '.join(sorted(self.inputs - offers))}")

    def run(self, offered: Mapping[str, NDArray[np.float32] | NDArray[np.int64]]) -> NDArray[np.float32]:
        """The graph's output for the inputs it takes from `offered`.

        Raises:
            GenerationError: onnxruntime failed.
        """
        try:
            (output,) = self._session.run(None, {name: offered[name] for name in self.inputs})
        except RUN_ERRORS as error:
            raise GenerationError(f"{self._name} failed on this picture.") from error
        return np.asarray(output, np.float32)
