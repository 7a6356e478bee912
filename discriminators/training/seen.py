"""Which prompts a head was made from, so that it is never praised for remembering them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from discriminators.training.errors import HeadUnfitError
from discriminators.training.pairs import Rows

_FILE = "seen.npy"


def write_seen(head: Path, groups: Rows) -> None:
    """Write the group numbers [G] that a head was fitted or calibrated on."""
    np.save(head / _FILE, np.unique(groups))


def seen_by(head: Path) -> Rows:
    """[G] int64 group numbers, ascending; none when the folder does not say.

    Raises:
        HeadUnfitError: the file cannot be read.
    """
    path = head / _FILE
    if not path.is_file():
        return np.empty(0, np.int64)
    try:
        return np.asarray(np.load(path), np.int64)
    except (OSError, EOFError, ValueError) as error:
        raise HeadUnfitError(f"{_FILE} of head {head.name} cannot be read. Copy the whole folder again.") from error


def unseen_rows(groups: Rows, heads: Iterable[Path]) -> Rows:
    """Numbers of the rows whose group none of the heads was made from.

    Raises:
        HeadUnfitError: what a head has seen cannot be read.
    """
    known = [seen_by(head) for head in heads]
    return np.flatnonzero(~np.isin(groups, np.concatenate(known))) if known else np.arange(len(groups))
