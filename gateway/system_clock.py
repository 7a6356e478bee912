"""The machine's clock."""

from __future__ import annotations

import time

from typing_extensions import override

from cascade.clock import Clock


class SystemClock(Clock):
    """Wall-clock time of this machine."""

    @override
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
