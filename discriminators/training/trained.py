"""From pairs to a calibrated and measured head: everything but the files."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from discriminators.calibrated_head import Kind
from discriminators.training.calibrating import Calibration, calibrate
from discriminators.training.fitting import Recipe, TruePictures, fit, logits_of
from discriminators.training.heads import Head, Mean
from discriminators.training.pairs import Floats, Pairs, Rows, Vector
from discriminators.training.report import Judged, cosine_escalation
from discriminators.training.splits import Split, split_of

_QUANTILES = np.linspace(0, 1, 101)


@dataclass(frozen=True, slots=True)
class Trained:
    """A head with its calibration and what is known of it.

    Attributes:
        head: rounded and ready to export.
        calibration: its knots.
        facts: of `calibration.json`, but for what the folder's maker adds (names, digests).
        seen: [G] int64 groups that it was fitted or calibrated on, ascending.
        examples: inputs by name to export and check with, real rows.
    """

    head: Head
    calibration: Calibration
    facts: Mapping[str, Any]
    seen: Rows
    examples: Mapping[str, Floats]


def train(pairs: Pairs, recipe: Recipe, true: TruePictures | None = None) -> Trained:
    """Split, fit, calibrate and measure.

    Raises:
        TrainingError: there is too little to learn from, or it makes no sense.
    """
    split = split_of(pairs, recipe.seed)
    head = fit(pairs, split.train, recipe, true)
    labels, weights = pairs.labels(recipe.margin), pairs.weight.astype(np.float64)
    logits = logits_of(head, pairs, split.calibrate)
    calibration = calibrate(logits, labels[split.calibrate], weights[split.calibrate])
    tested = calibration(logits_of(head, pairs, split.test))
    facts = {
        **_shape(head, pairs, recipe),
        "method": calibration.method.value,
        "knots": {"x": calibration.x.tolist(), "y": calibration.y.tolist()},
        "score_quantiles": _quantiles(1 - calibration(logits), weights[split.calibrate]),
        "splits": split.counts,
        "measures": _measures(pairs, split, tested, recipe.margin),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in ("numpy", "torch")}},
    }
    seen = np.unique(pairs.group[np.concatenate([split.train, split.calibrate])])
    return Trained(head, calibration, facts, seen, _examples(head.kind, pairs, split.test))


def _shape(head: Head, pairs: Pairs, recipe: Recipe) -> dict[str, Any]:
    """What it is and what it was made from."""
    members = len(head.body.members) if isinstance(head.body, Mean) else 0
    return {
        "kind": head.kind.value,
        "form": f"mean of {members} networks" if members else "logistic regression",
        "embedding_width": pairs.embedding_width,
        "feature_width": pairs.feature_width,
        "margin": recipe.margin,
        "seed": recipe.seed,
        "n_pairs": len(pairs),
        "n_prompts": len(np.unique(pairs.group)),
    }


def _measures(pairs: Pairs, split: Split, tested: Vector, margin: float) -> dict[str, Any]:
    """Of the test part, the plain cosine's order beside it."""
    test = pairs.only(split.test)
    cosine, everything = Judged.of(cosine_escalation(test), test, margin), np.arange(len(test))
    return {
        **Judged.of(tested, test, margin).facts(),
        **{f"{name}_of_cosine": cosine.statistic(name)(everything) for name in ("auroc", "deferral_area")},
    }


def _quantiles(scores: Vector, weights: Vector) -> list[float]:
    """101 evenly spaced quantiles of the scores as uniformly sampled requests would have them."""
    if np.ptp(weights) == 0:
        return [float(value) for value in np.quantile(scores, _QUANTILES)]
    order = np.argsort(scores, kind="stable")
    mass = weights[order]
    place = (np.cumsum(mass) - mass / 2) / mass.sum()
    return [float(value) for value in np.interp(_QUANTILES, place, scores[order])]


def _examples(kind: Kind, pairs: Pairs, rows: Rows) -> dict[str, Floats]:
    """Sixteen rows; torch.export would take a single one for a constant."""
    some = np.resize(rows, 16)
    return {
        name: column[some]
        for name, column in (("image_features", pairs.image), ("text_embedding", pairs.text))
        if name in kind.inputs
    }
