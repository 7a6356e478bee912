"""What the doctor says: a verdict, what is the matter, what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How bad it is. A problem keeps the gateway from working; a warning will hurt somebody some day."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was examined.

    Attributes:
        about: what, in a word or two.
        verdict: how bad it is.
        what: one sentence. No secret, no path of this machine.
        remedy: one sentence on what to do; empty when all is well.
    """

    about: str
    verdict: Verdict
    what: str
    remedy: str = ""


def ok(about: str, what: str) -> Finding:
    """All is well."""
    return Finding(about, Verdict.OK, what)


def warning(about: str, what: str, remedy: str) -> Finding:
    """It works, but should not stay so."""
    return Finding(about, Verdict.WARNING, what, remedy)


def problem(about: str, what: str, remedy: str) -> Finding:
    """It does not work, or not as the gateway needs it."""
    return Finding(about, Verdict.PROBLEM, what, remedy)


def healthy(findings: Iterable[Finding]) -> bool:
    """Whether nothing is a problem."""
    return all(finding.verdict is not Verdict.PROBLEM for finding in findings)
