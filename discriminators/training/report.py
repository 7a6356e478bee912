"""What a head's probabilities are worth on pairs it was not fitted on, and how two heads compare there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discriminators.measures import (
    Interval,
    Statistic,
    auroc,
    bootstrap,
    brier,
    calibration_error,
    deferral_area,
    deferral_curve,
    paired_bootstrap,
)
from discriminators.training.pairs import Pairs, Rows, Vector

SHARES = (0.1, 0.2, 0.3, 0.4)
RESAMPLES = 1000

Measure = Callable[["Judged", Rows], float]

MEASURES: Mapping[str, Measure] = {
    "auroc": lambda judged, rows: auroc(judged.probability[rows], judged.label[rows], judged.weight[rows]),
    "brier": lambda judged, rows: brier(judged.probability[rows], judged.label[rows], judged.weight[rows]),
    "ece": lambda judged, rows: calibration_error(judged.probability[rows], judged.label[rows], judged.weight[rows]),
    "deferral_area": lambda judged, rows: deferral_area(
        judged.probability[rows], judged.gain[rows], judged.weight[rows]
    ),
}
"""Of brier and ece less is better; of auroc and deferral_area more."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Probabilities of “heavy better” beside what was true.

    Attributes:
        probability: [N] in 0..1, or any escalation score where only the order is measured.
        label: [N] in 0..1.
        light: [N] utility of the light picture.
        gain: [N] in -1..1.
        weight: [N] above 0.
        group: [N] int64.
    """

    probability: Vector
    label: Vector
    light: Vector
    gain: Vector
    weight: Vector
    group: Rows

    @classmethod
    def of(cls, probability: Vector, pairs: Pairs, margin: float) -> Judged:
        """Put the probabilities [N] beside the pairs' labels."""
        return cls(
            probability=probability,
            label=pairs.labels(margin),
            light=pairs.light.astype(np.float64),
            gain=pairs.gains(),
            weight=pairs.weight.astype(np.float64),
            group=pairs.group,
        )

    def statistic(self, name: str) -> Statistic:
        """One of `MEASURES` as a statistic of row numbers."""
        measure = MEASURES[name]
        return lambda rows: measure(self, rows)

    def intervals(self, resamples: int = RESAMPLES) -> dict[str, Interval]:
        """Every measure with its bootstrap interval over prompts."""
        return {name: bootstrap(self.statistic(name), self.group, resamples=resamples) for name in MEASURES}

    def facts(self, resamples: int = RESAMPLES) -> dict[str, Any]:
        """All that a model card says of a test, ready for JSON."""
        curve = deferral_curve(self.probability, self.light, self.light + self.gain, self.weight)
        return {
            "pairs": len(self.label),
            "prompts": len(np.unique(self.group)),
            "heavy_better": float(np.average(self.label, weights=self.weight)),
            "light_utility": curve.at(0),
            "heavy_utility": curve.at(1),
            "utility_at": {f"{share:.1f}": curve.at(share) for share in SHARES},
            **{name: asdict(interval) for name, interval in self.intervals(resamples).items()},
        }


def differences(first: Judged, second: Judged, resamples: int = RESAMPLES) -> dict[str, Interval]:
    """How much each measure of `first` exceeds that of `second` on the same rows, with paired intervals."""
    return {
        name: paired_bootstrap(first.statistic(name), second.statistic(name), first.group, resamples=resamples)
        for name in MEASURES
    }


def cosine_escalation(pairs: Pairs) -> Vector:
    """The plain baseline's escalation score [N]: the less picture and prompt agree, the sooner it climbs."""
    seen = pairs.image[:, : pairs.embedding_width].astype(np.float64)
    return np.asarray(-(seen * pairs.text).sum(axis=1), np.float64)
