"""How long each step of a request took, for `Server-Timing`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Timings:
    """Milliseconds by step, in the order the steps were first entered."""

    def __init__(self) -> None:
        self._spent: dict[str, float] = {}

    @contextmanager
    def measure(self, step: str) -> Iterator[None]:
        """Add the time spent inside to `step`."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._spent[step] = self._spent.get(step, 0.0) + (time.perf_counter() - started) * 1000

    def header(self) -> str:
        """The value of a `Server-Timing` header."""
        return ", ".join(f"{step};dur={spent:.1f}" for step, spent in self._spent.items())
