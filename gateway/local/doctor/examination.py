"""The examination: every check, one after another, whatever the others found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from gateway.local.doctor.check import Check
from gateway.local.doctor.configuration import judge_validation
from gateway.local.doctor.findings import Finding
from gateway.local.doctor.roster import of_the_installation, of_the_settings
from gateway.settings import Settings


def examine(now_at: Callable[[str], None], *, quick: bool = False) -> Sequence[Finding]:
    """Examine this installation as the environment configures it. Changes nothing, and ends.

    Args:
        now_at: told what is examined next.
        quick: leave out the slow checks.
    """
    try:
        invalid, configured = [], of_the_settings(Settings())
    except ValidationError as error:
        invalid, configured = list(judge_validation(error)), ()
    checks = [check for check in (*of_the_installation(), *configured) if not (quick and check.slow)]
    return [*invalid, *findings_of(checks, now_at)]


def findings_of(checks: Sequence[Check[Any]], now_at: Callable[[str], None]) -> Iterator[Finding]:
    """What `checks` find."""
    for check in checks:
        now_at(check.name)
        yield from check.findings()
