"""Who is served first: the earliest deadline, where a deadline is arrival plus a stretch of the predicted work.

A static key, so it lives in a sorted set: short work overtakes long work, and ages as time passes.
"""

from __future__ import annotations

STRETCH = 5.0
"""Deadline slack per predicted millisecond: how strongly short work is preferred."""


def deadline_ms(arrival_ms: int, predicted_gpu_ms: int, base_ms: int = 0) -> int:
    """Unix milliseconds by which the work should be done; smaller is served first."""
    return arrival_ms + base_ms + round(STRETCH * predicted_gpu_ms)
