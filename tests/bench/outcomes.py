"""Outcomes made by hand."""

from __future__ import annotations

import numpy as np

from bench.cascade.policies import Outcomes


def some_outcomes(light_right, heavy_right, score, *, light_share=None, heavy_share=None, **baselines):
    """Outcomes with whole milliseconds: 10 to draw lightly, 3 to judge, 100 to draw heavily."""
    light, heavy = np.asarray(light_right, float), np.asarray(heavy_right, float)
    ones = np.ones(len(light))
    return Outcomes(
        light_right=light,
        heavy_right=heavy,
        light_share=light if light_share is None else np.asarray(light_share, float),
        heavy_share=heavy if heavy_share is None else np.asarray(heavy_share, float),
        light_ms=10 * ones,
        judge_ms=3 * ones,
        heavy_ms=100 * ones,
        score=np.asarray(score, float),
        baselines={name: np.asarray(order, float) for name, order in baselines.items()},
    )
