"""A check, and how it is made without hanging and without taking the others down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from cascade.errors import CascadeError
from gateway.failures import HallError
from gateway.local.doctor.findings import Finding, problem

Facts = TypeVar("Facts")

EXPECTED = (CascadeError, HallError, OSError, ValueError, RuntimeError, ImportError)
"""What the world may do to a look. Anything else is a fault of ours: its traceback is shown, the others go on."""


@dataclass(frozen=True, slots=True)
class Check(Generic[Facts]):
    """Something to examine.

    Attributes:
        name: what, in a word or two.
        look: gathers the facts; the only part with effects, and those change nothing.
        judge: what the facts mean. Pure.
        seconds: after so long the look is given up.
        slow: whether it usually takes seconds, and whoever is in a hurry goes without.
    """

    name: str
    look: Callable[[], Facts]
    judge: Callable[[Facts], Sequence[Finding]]
    seconds: float = 15.0
    slow: bool = False

    def findings(self) -> Sequence[Finding]:
        """What is found, at the latest after `seconds`. A look that can't be ended dies with the process."""
        told: SimpleQueue[Sequence[Finding]] = SimpleQueue()
        threading.Thread(target=self._tell, args=(told,), daemon=True).start()
        try:
            return told.get(timeout=self.seconds)
        except Empty:
            return [
                problem(
                    self.name,
                    f"There was no answer within {self.seconds:g} s.",
                    "Look for a disk, a name server or a server that hangs, and ask again.",
                )
            ]

    def _tell(self, told: SimpleQueue[Sequence[Finding]]) -> None:
        found: Sequence[Finding] = [
            problem(self.name, "The check itself failed; its traceback is above.", "Please report it.")
        ]
        try:
            found = self.judge(self.look())
        except EXPECTED as error:
            found = [problem(self.name, f"It could not be examined: {said(error)}", "Mend that, and ask again.")]
        finally:
            told.put(found)


def said(error: BaseException) -> str:
    """An error as a sentence: our own words, or the system's without its paths, or no more than the error's kind.

    What a library says may quote a password or a path.
    """
    if isinstance(error, CascadeError | HallError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    return f"{type(error).__name__}."
