"""The data folder and its disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.local.doctor.findings import Finding, ok, problem, warning
from gateway.settings import Settings

_FULL_BYTES, _LOW_BYTES = 256 * 2**20, 2 * 2**30
"""The append-only file needs room for a second self when it is rewritten; below the first, writing will soon fail."""

_OTHERS = 0o077
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Where pictures, the secret and the embedded server's files are kept.

    Attributes:
        exists: whether anything is there; `maquette up` makes it.
        is_folder: whether that is a folder, or could become one.
        writable: whether we may write there, or make it.
        free_bytes: of its disk.
        exposed: files with a secret in them that other users of this machine may read.
    """

    exists: bool
    is_folder: bool
    writable: bool
    free_bytes: int
    exposed: Sequence[str]


def look_at_data_folder(settings: Settings) -> DataFolder:
    """The folder, or the nearest one above it."""
    folder = settings.data_dir.resolve()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    return DataFolder(
        exists=nearest == folder,
        is_folder=nearest.is_dir(),
        writable=os.access(nearest, os.W_OK | os.X_OK),
        free_bytes=shutil.disk_usage(nearest).free,
        exposed=[name for name in ("secret", "demo.key") if _is_exposed(folder / name)],
    )


def _is_exposed(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False


def judge_data_folder(facts: DataFolder) -> Sequence[Finding]:
    """Can it be used, is there room, does it keep its secrets?"""
    return [_place(facts), _room(facts.free_bytes), *(_exposed(name) for name in facts.exposed)]


def _place(facts: DataFolder) -> Finding:
    choose = "Choose another with MAQUETTE_DATA_DIR."
    if not facts.is_folder:
        return problem("data folder", "The data folder, or one above it, is a file.", choose)
    if not facts.writable:
        return problem("data folder", "The data folder can't be written to.", f"Change its owner. {choose}")
    return ok("data folder", "It can be written to." if facts.exists else "It is not there yet; it can be made.")


def _room(free_bytes: int) -> Finding:
    free = f"{free_bytes / 2**30:.1f} GiB" if free_bytes >= _LOW_BYTES else f"{free_bytes // _MIB} MiB"
    remedy = "Delete what is not needed, or put the data folder on another disk: MAQUETTE_DATA_DIR."
    if free_bytes < _FULL_BYTES:
        return problem("disk", f"The data folder's disk is all but full: {free} are free.", remedy)
    if free_bytes < _LOW_BYTES:
        return warning("disk", f"The data folder's disk has only {free} left.", remedy)
    return ok("disk", f"{free} are free.")


def _exposed(name: str) -> Finding:
    what = f"Other users of this machine may read the file `{name}` of the data folder."
    return warning("secret", what, f"Run `chmod 600` on it, and consider what is in `{name}` known.")
