"""Time, as something that is passed in."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Wall-clock time for stamps and links. Redis decisions use the server's own clock."""

    def now_ms(self) -> int:
        """Unix milliseconds."""
        ...
