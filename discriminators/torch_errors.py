"""What open_clip, transformers and torch raise when they load or run a model: they have no error of their own."""

from __future__ import annotations

from pickle import UnpicklingError

from safetensors import SafetensorError

LOAD_ERRORS = (
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ImportError,
    AssertionError,
    EOFError,
    UnpicklingError,
    SafetensorError,
)
"""A torch built without CUDA asserts."""

RUN_ERRORS = (RuntimeError, ValueError, TypeError, LookupError, MemoryError)
"""torch.OutOfMemoryError is a RuntimeError; a token id beyond the vocabulary is an IndexError."""
