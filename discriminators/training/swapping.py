"""Putting a whole folder in another's place: a reader finds the old one or the new one, never half of one."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable
from pathlib import Path

_HERE = -100
_EXCHANGE = 2


def swap_in(place: Path, write: Callable[[Path], None], *, keep: Path | None = None) -> None:
    """Have `write` fill a fresh folder beside `place`, then put it there. What was there goes to `keep`, or away.

    If `write` raises, `place` is untouched.
    """
    fresh = _beside(place, "new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        write(fresh)
        put(fresh, place)
        if keep is not None and fresh.exists():
            shutil.rmtree(keep, ignore_errors=True)
            fresh.rename(keep)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def put(fresh: Path, place: Path) -> None:
    """Move `fresh` to `place`; what was there is at `fresh` afterwards. One step on Linux, two elsewhere."""
    if not place.exists():
        fresh.rename(place)
        return
    if _exchange(fresh, place):
        return
    aside = _beside(place, "aside")
    place.rename(aside)
    fresh.rename(place)
    aside.rename(fresh)


def previous_of(place: Path) -> Path:
    """Where what `place` held before its last promotion is kept."""
    return place.with_name(f"{place.name}.previous")


def _beside(place: Path, what: str) -> Path:
    return place.with_name(f".{place.name}.{what}")


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two paths in one step, by Linux' renameat2. Returns whether system and file system could."""
    call = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    return call is not None and call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0
