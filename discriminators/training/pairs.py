"""Pairs: what the light tier drew for a prompt, seen by a CLIP, and how the heavy tier's pictures compare."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from discriminators.training.errors import PairsError

MARGIN = 0.05
"""By how much a heavy picture's utility must exceed the light one's to count as better."""

Floats = NDArray[np.float32]
Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """One row per light picture; rows of one prompt are of one group.

    Attributes:
        image: [N, F] float32 features of the light picture; the first D are its embedding, of length one.
        text: [N, D] float32 embedding of the prompt, of length one.
        light: [N] float32 utility of the light picture, 0..1.
        heavy: [N, K] float32 utility of each heavy picture, 0..1; NaN where one was not drawn, at least one per row.
        weight: [N] float32 above 0: inverse of the chance with which the row was sampled; ones if uniformly.
        group: [N] int64, the prompt. No split cuts a group.
        split: [N] int64, which part a row is in if that was decided elsewhere (see `splits.PARTS`), or empty.

    Raises:
        PairsError: shapes or ranges are wrong.
    """

    image: Floats
    text: Floats
    light: Floats
    heavy: Floats
    weight: Floats
    group: Rows
    split: Rows

    def __post_init__(self) -> None:
        self._check_shapes()
        drawn = np.isfinite(self.heavy)
        utilities = np.concatenate([self.light, self.heavy[drawn]])
        if not drawn.any(axis=1).all():
            raise PairsError("Every row of the pairs needs at least one heavy picture.")
        if not ((utilities >= 0) & (utilities <= 1)).all():  # false if one is NaN
            raise PairsError("Utilities must be numbers in 0..1.")
        if not (np.isfinite(self.weight) & (self.weight > 0)).all():
            raise PairsError("Weights must be above 0.")
        if not (np.isfinite(self.image).all() and np.isfinite(self.text).all()):
            raise PairsError("The embeddings hold values that are not numbers.")

    def _check_shapes(self) -> None:
        count, width = len(self.light), self.text.shape[-1]
        tables = all(table.ndim == 2 and len(table) == count for table in (self.image, self.text, self.heavy))  # noqa: PLR2004
        columns = all(column.shape == (count,) for column in (self.light, self.weight, self.group))
        if not (tables and columns and self.split.shape in {(0,), (count,)} and self.image.shape[1] >= width > 0):
            raise PairsError("Pairs need one row each of image [F >= D], text [D], light, heavy [K], weight and group.")

    def __len__(self) -> int:
        return len(self.light)

    @property
    def embedding_width(self) -> int:
        """D: how many numbers an embedding has."""
        return int(self.text.shape[1])

    @property
    def feature_width(self) -> int:
        """F: how many numbers describe a picture, its embedding first."""
        return int(self.image.shape[1])

    def labels(self, margin: float = MARGIN) -> Vector:
        """[N] in 0..1: the share of heavy pictures better by more than `margin`; a tie keeps the light picture."""
        drawn = np.isfinite(self.heavy)
        better = np.where(drawn, self.heavy, 0.0).astype(np.float64) - self.light[:, None] > margin + _ROUNDING
        return np.asarray((better & drawn).sum(axis=1) / drawn.sum(axis=1), np.float64)

    def expected_heavy(self) -> Vector:
        """[N] in 0..1: mean utility of the heavy pictures."""
        return np.asarray(np.nanmean(self.heavy.astype(np.float64), axis=1), np.float64)

    def gains(self) -> Vector:
        """[N] in -1..1: mean utility of the heavy pictures minus that of the light one."""
        return self.expected_heavy() - self.light

    def only(self, rows: Rows) -> Pairs:
        """These rows, in this order."""
        return Pairs(**{name: column[rows] if len(column) else column for name, column in self._columns().items()})

    def save(self, path: Path) -> None:
        """Write an npz file."""
        np.savez(path, **self._columns())

    @classmethod
    def load(cls, path: Path) -> Pairs:
        """Read what `save` wrote.

        Raises:
            PairsError: the file cannot be read, lacks a column or makes no sense.
        """
        try:
            with np.load(path) as stored:
                columns = {field.name: stored[field.name] for field in fields(cls)}
        except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
            raise PairsError(f"{path.name} is not a file of pairs. Write it with Pairs.save.") from error
        return cls(**columns)

    def _columns(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


_ROUNDING = 1e-6
"""float32 utilities that differ by exactly the margin are a tie."""


def uniform(image: Floats, text: Floats, light: Floats, heavy: Floats) -> Pairs:
    """Pairs of as many prompts as rows, uniformly sampled, not yet split."""
    count = len(light)
    return Pairs(
        image=image,
        text=text,
        light=light,
        heavy=heavy,
        weight=np.ones(count, np.float32),
        group=np.arange(count, dtype=np.int64),
        split=np.empty(0, np.int64),
    )
