"""Says what to install when a folder needs torch and torch is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cascade.errors import ModelFilesError


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Translate a missing library.

    Args:
        what: needs it, as the beginning of a sentence.

    Raises:
        ModelFilesError: a library that is imported within is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModelFilesError(f"{what} needs {error.name}: install the `engine` extra, maquette[engine].") from error
