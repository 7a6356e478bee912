"""What a fit sees: features with what they should be mapped to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

from discriminators.training.pairs import Rows
from discriminators.training.splits import folds

_LEAST_SPREAD = 1e-3
_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows to learn from.

    Attributes:
        x: [N, P] float32 features.
        label: [N] float32 in 0..1.
        gain: [N] float32 in -1..1; zeros where the label is not about a gain.
        quality: [N] float32 in 0..1, the light picture's own utility; zeros where there is none.
        weight: [N] float32 of mean 1.
        group: [N] int64.
    """

    x: torch.Tensor
    label: torch.Tensor
    gain: torch.Tensor
    quality: torch.Tensor
    weight: torch.Tensor
    group: Rows

    @property
    def gain_mean(self) -> float:
        """Mean gain."""
        return float(self.gain.mean())

    @property
    def gain_spread(self) -> float:
        """The gain's standard deviation: the unit in which it is learnt."""
        return _spread(self.gain)

    @property
    def quality_spread(self) -> float:
        """The quality's standard deviation: the unit in which it is learnt."""
        return _spread(self.quality)

    def standard_gain(self) -> torch.Tensor:
        """[N] gains of mean 0 and spread 1."""
        return (self.gain - self.gain_mean) / self.gain_spread

    def only(self, rows: torch.Tensor) -> Examples:
        """These rows."""
        columns = ("x", "label", "gain", "quality", "weight")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns}, group=self.group[rows.numpy()])

    def held_out(self, seed: int, count: int, number: int) -> tuple[Examples, Examples]:
        """(to fit on, to validate on): fold `number` of `count` is held out, whole groups.

        With fewer groups than folds both are everything.
        """
        fold = folds(self.group, seed, count)
        inner, outer = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if not (len(inner) and len(outer)):
            return self, self
        return self.only(torch.from_numpy(inner)), self.only(torch.from_numpy(outer))

    @torch.no_grad()
    def brier(self, body: nn.Module) -> float:
        """Weighted mean squared distance of a body's raw probabilities from the labels."""
        body.eval()
        probability = torch.cat([body(part)[:, 0] for part in self.x.split(_AT_ONCE)]).sigmoid()
        return float((self.weight * (probability - self.label).square()).sum() / self.weight.sum())


def _spread(column: torch.Tensor) -> float:
    """The standard deviation, or 1 where nothing varies."""
    spread = float(column.std(correction=0))
    return spread if spread > _LEAST_SPREAD else 1.0
