"""This machine's clock: links expire by it. The store's clock is the server's check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.local.doctor.findings import Finding, ok, problem
from gateway.system_clock import SystemClock

_HALF_A_DAY_MS = 12 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Clock:
    """Two times, in milliseconds since 1970.

    Attributes:
        now_ms: what the clock says.
        installed_ms: when the youngest file of this package was written: the past, whatever the clock says.
    """

    now_ms: int
    installed_ms: int


def look_at_clock() -> Clock:
    """The clock, and the files beside this one."""
    files = Path(__file__).parent.glob("*.py")
    return Clock(SystemClock().now_ms(), max(file.stat().st_mtime_ns for file in files) // 1_000_000)


def judge_clock(facts: Clock) -> Sequence[Finding]:
    """A clock that is behind the past is wrong."""
    if facts.now_ms >= facts.installed_ms - _HALF_A_DAY_MS:
        return [ok("clock", "It is later than Maquette's installation.")]
    what = "By this machine's clock, Maquette was installed in the future: links will expire wrongly and TLS may fail."
    return [problem("clock", what, "Set the clock, e.g. with `timedatectl set-ntp true`.")]
