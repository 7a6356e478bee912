"""Sets of pictures set against true ones: which distances are taken, and of what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.cascade.distribution import CMMD_SIGMA, Matrix, cmmd, kid, median_distance
from bench.cascade.instruments import Judge
from bench.cascade.policies import Vector
from bench.cascade.prompts import Prompt
from bench.cascade.report import Distances, Distribution
from bench.cascade.seeing import Seen, rendered

_RENDERS = 17


def distribution_of(judge: Judge, seen: Sequence[Seen], climb: Vector, others: Sequence[Prompt]) -> Distribution:
    """How far each policy's pictures are from fresh renders of other prompts.

    Args:
        judge: whose space it is measured in.
        seen: N prompts with their pictures.
        climb: [N] 1 where the cascade delivers the heavy picture, else 0.
        others: 2 N prompts, none of them among the first: N to compare with, N for what true pictures come out at.

    Raises:
        DiscriminatorError: the judge failed.
    """
    light = judge.embeddings(each.drawn.light for each in seen)
    heavy = judge.embeddings(each.drawn.heavy for each in seen)
    rng = np.random.default_rng(_RENDERS)
    renders = judge.embeddings(rendered(prompt, rng) for prompt in others)
    truth, control = renders[: len(seen)], renders[len(seen) :]
    sigma = median_distance(truth)
    return Distribution(
        light=_distances(light, truth, sigma),
        heavy=_distances(heavy, truth, sigma),
        cascade=_distances(np.where(climb[:, None] > 0, heavy, light), truth, sigma),
        renders=_distances(control, truth, sigma),
        sigma=CMMD_SIGMA,
        sigma_median=sigma,
        prompts=len(seen),
    )


def _distances(pictures: Matrix, truth: Matrix, sigma: float) -> Distances:
    return Distances(cmmd=cmmd(pictures, truth), cmmd_median=cmmd(pictures, truth, sigma), kid=kid(pictures, truth))
