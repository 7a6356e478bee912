"""From raw logits to probabilities, by how much there is to calibrate on; every way ends in knots of a rising line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, log_expit

from discriminators.training.pairs import Vector

MOST_KNOTS = 200
ISOTONIC_FROM, PLATT_FROM = 1000, 100
"""Calibration pairs that each way needs."""

_TILT = 0.005
"""How much of the isotonic curve is a ramp: its plateaus must rise, or no threshold cuts within one."""
_FLOOR = 0.005
"""The isotonic curve stays this far off 0 and 1: a thousand pairs prove no certainty."""
_REACH = 8.0
_FLATTEST, _STEEPEST = 0.01, 100.0


class Method(StrEnum):
    """How a calibration was fitted."""

    ISOTONIC = "isotonic"
    PLATT = "platt"
    TEMPERATURE = "temperature"


@dataclass(frozen=True, slots=True)
class Calibration:
    """A line through knots, flat outside them.

    Attributes:
        method: how it was fitted.
        x: [K] float64 logits, strictly rising.
        y: [K] float64 probabilities in (0, 1), strictly rising.
    """

    method: Method
    x: Vector
    y: Vector

    def __call__(self, logits: Vector) -> Vector:
        """P(heavy better) of raw logits, [N] each."""
        return np.interp(logits, self.x, self.y)


def calibrate(logits: Vector, labels: Vector, weights: Vector) -> Calibration:
    """Fit the most flexible calibration that so many pairs carry.

    Weighted rows count as many as Kish's effective sample size says (Survey Sampling, 1965).

    Args:
        logits: [N] raw.
        labels: [N] in 0..1.
        weights: [N] above 0.
    """
    effective = weights.sum() ** 2 / np.square(weights).sum()
    if effective >= ISOTONIC_FROM:
        return isotonic(logits, labels, weights)
    return platt(logits, labels, weights) if effective >= PLATT_FROM else temperature(logits, labels, weights)


def isotonic(logits: Vector, labels: Vector, weights: Vector) -> Calibration:
    """The best rising step curve (Zadrozny and Elkan, 2002), its steps joined, slightly tilted, at most 200 knots."""
    x, place = np.unique(logits, return_inverse=True)
    mass = np.bincount(place, weights)
    fitted = isotonic_regression(np.bincount(place, weights * labels) / mass, weights=mass).x
    rank = (np.cumsum(mass) - mass / 2) / mass.sum()
    y = _FLOOR + (1 - 2 * _FLOOR) * ((1 - _TILT) * fitted + _TILT * rank)
    edges = np.flatnonzero(np.diff(fitted) > 0)
    kept = np.unique(np.concatenate([[0, len(x) - 1], edges, edges + 1]))
    if len(kept) > MOST_KNOTS:
        kept = kept[np.linspace(0, len(kept) - 1, MOST_KNOTS).round().astype(np.int64)]
    return Calibration(Method.ISOTONIC, x[kept], y[kept])


def platt(logits: Vector, labels: Vector, weights: Vector) -> Calibration:
    """A sigmoid of slope and shift, the targets smoothed as in Platt (1999) so that few pairs prove no certainty."""
    positives, negatives = (weights * labels).sum(), (weights * (1 - labels)).sum()
    certain, impossible = (positives + 1) / (positives + 2), 1 / (negatives + 2)
    targets = labels * certain + (1 - labels) * impossible
    slope, shift = _sigmoid_fit(logits, targets, weights, shifted=True)
    return _sampled(Method.PLATT, slope, shift)


def temperature(logits: Vector, labels: Vector, weights: Vector) -> Calibration:
    """A sigmoid of slope alone (Guo et al., 2017)."""
    slope, shift = _sigmoid_fit(logits, labels, weights, shifted=False)
    return _sampled(Method.TEMPERATURE, slope, shift)


def _sigmoid_fit(logits: Vector, targets: Vector, weights: Vector, *, shifted: bool) -> tuple[float, float]:
    """The slope (never falling) and shift of least cross-entropy."""
    share = weights / weights.sum()

    def loss(values: Vector) -> tuple[float, Vector]:
        z = values[0] * logits + values[1]
        off = share * (expit(z) - targets)
        value = -(share * (targets * log_expit(z) + (1 - targets) * log_expit(-z))).sum()
        return float(value), np.array([(off * logits).sum(), off.sum()])

    free = (None, None) if shifted else (0.0, 0.0)
    found = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B", bounds=[(_FLATTEST, _STEEPEST), free])
    return float(found.x[0]), float(found.x[1])


def _sampled(method: Method, slope: float, shift: float) -> Calibration:
    """Knots of a sigmoid, within 2e-4 of it."""
    z = np.linspace(-_REACH, _REACH, 129)
    return Calibration(method, (z - shift) / slope, expit(z))
