"""Who climbs: every policy as the chance, picture by picture, that the heavy model draws it too. Pure.

Policies that choose at random are never sampled. Their chances are, so what they are worth is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

BASELINES = ("real_fake", "cosine", "router")
"""Scores that climb at the cascade's deferral rate instead of the shipped one."""

POLICIES = ("light", "heavy", "cascade", "random", "oracle", "gain_oracle", *BASELINES)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What both models drew for N prompts, as the oracle reads it, what it took, and who would escalate it.

    Attributes:
        light_right: [N] 0 or 1: all that the prompt says is right in the light picture.
        heavy_right: [N] the same of the heavy picture.
        light_share: [N] in 0..1: the share of what the prompt says that is right in the light picture.
        heavy_share: [N] the same of the heavy picture.
        light_ms: [N] GPU-milliseconds of drawing the light picture.
        judge_ms: [N] of judging it.
        heavy_ms: [N] of drawing the heavy picture.
        score: [N] in 0..1: the shipped discriminator's; a picture below the threshold climbs.
        baselines: [N] each, by name; the higher climbs first.
    """

    light_right: Vector
    heavy_right: Vector
    light_share: Vector
    heavy_share: Vector
    light_ms: Vector
    judge_ms: Vector
    heavy_ms: Vector
    score: Vector
    baselines: Mapping[str, Vector]

    def __len__(self) -> int:
        return len(self.score)

    def only(self, rows: Rows) -> Outcomes:
        """These rows, in this order; rows may repeat."""
        columns = {name: getattr(self, name)[rows] for name in self.__slots__ if name != "baselines"}
        return replace(self, **columns, baselines={name: column[rows] for name, column in self.baselines.items()})

    @property
    def orders(self) -> dict[str, Vector]:
        """Every score as an order of escalation: the higher climbs first."""
        return {"cascade": -self.score, **self.baselines}


@dataclass(frozen=True, slots=True)
class Policy:
    """What is run for each of N pictures.

    Attributes:
        climb: [N] in 0..1: the chance that the heavy model draws it and its picture is delivered.
        light: [N] in 0..1: the chance that the light model draws it.
        judged: [N] in 0..1: the chance that the discriminator looks at it.
    """

    climb: Vector
    light: Vector
    judged: Vector


@dataclass(frozen=True, slots=True)
class Worth:
    """What a policy delivers for what.

    Attributes:
        accuracy: share of delivered pictures in which all is right.
        graded: mean share of what the prompt says that is right.
        gpu_ms: GPU-milliseconds a picture.
        deferral_rate: share that climbs.
    """

    accuracy: float
    graded: float
    gpu_ms: float
    deferral_rate: float


def climbing(order: ArrayLike, rate: float) -> Vector:
    """The chance of each picture to climb when a share of them does, the highest of `order` first.

    Args:
        order: [N]; equal ones are chosen among at random.
        rate: in 0..1.

    Returns:
        [N] in 0..1 with mean `rate`.
    """
    _, place = np.unique(-np.asarray(order, np.float64), return_inverse=True)
    sizes = np.bincount(place)
    before = np.cumsum(sizes) - sizes
    return np.clip((rate * len(place) - before) / sizes, 0.0, 1.0)[place]


def below(score: Vector, threshold: float) -> Vector:
    """[N] 0 or 1: the cascade's own rule, `cascade.deferral.decide`."""
    return (score < threshold).astype(np.float64)


def policies(outcomes: Outcomes, threshold: float) -> dict[str, Policy]:
    """Every policy of `POLICIES`; all but `light` and `heavy` climb at the cascade's deferral rate.

    - `cascade`: the shipped score below the threshold.
    - `random`: any picture with the same chance.
    - `oracle`: light pictures that are wrong first, then any; it does not know the heavy ones.
    - `gain_oracle`: knows both: what the heavy model mends first, what it spoils last.
    - `real_fake`, `cosine`, `router`: in the order of that score.

    `random`, `oracle` and `gain_oracle` pay for no discriminator. A router decides before anything is drawn, so what
    it sends to the heavy model is not drawn by the light one; it is charged the whole discriminator's time, an upper
    bound.
    """
    found = shipped(outcomes, threshold)
    rate = float(found["cascade"].climb.mean())
    found = escalating(outcomes, rate) | found
    return {name: found[name] for name in POLICIES if name in found}


def shipped(outcomes: Outcomes, threshold: float) -> dict[str, Policy]:
    """What the catalogue's three routes do: `light`, `heavy` and `cascade`."""
    nobody, everybody = np.zeros(len(outcomes)), np.ones(len(outcomes))
    return {
        "light": Policy(nobody, everybody, nobody),
        "heavy": Policy(everybody, nobody, nobody),
        "cascade": Policy(below(outcomes.score, threshold), everybody, everybody),
    }


def escalating(outcomes: Outcomes, rate: float) -> dict[str, Policy]:
    """Every policy that can be told what share of the pictures climbs: all but `light` and `heavy`."""
    nobody, everybody = np.zeros(len(outcomes)), np.ones(len(outcomes))
    free = {
        "random": np.full(len(outcomes), rate),
        "oracle": climbing(-outcomes.light_right, rate),
        "gain_oracle": climbing(_gain_order(outcomes), rate),
    }
    judged = {name: climbing(order, rate) for name, order in outcomes.orders.items()}
    found = {
        **{name: Policy(chances, everybody, nobody) for name, chances in free.items()},
        **{name: Policy(chances, everybody, everybody) for name, chances in judged.items()},
    }
    if "router" in found:
        found["router"] = replace(found["router"], light=1 - found["router"].climb)
    return found


def _gain_order(outcomes: Outcomes) -> Vector:
    """[N]: what becomes right first, what stops being right last; the change of the share decides between equals."""
    return 2 * (outcomes.heavy_right - outcomes.light_right) + outcomes.heavy_share - outcomes.light_share


def worth(outcomes: Outcomes, policy: Policy) -> Worth:
    """What the policy is worth on these outcomes, in expectation.

    A stage costs what it takes on average: steps and size fix its work, so what one picture took longer than another
    was the machine's doing, and no policy's.
    """
    right = outcomes.light_right + policy.climb * (outcomes.heavy_right - outcomes.light_right)
    share = outcomes.light_share + policy.climb * (outcomes.heavy_share - outcomes.light_share)
    stages = ((policy.light, outcomes.light_ms), (policy.judged, outcomes.judge_ms), (policy.climb, outcomes.heavy_ms))
    spent = sum(float(ran.mean() * took.mean()) for ran, took in stages)
    return Worth(float(right.mean()), float(share.mean()), spent, float(policy.climb.mean()))


def at_threshold(outcomes: Outcomes, threshold: float) -> Worth:
    """What the cascade would be worth with this threshold."""
    return worth(outcomes, shipped(outcomes, threshold)["cascade"])


def thresholds(score: Vector) -> Vector:
    """[K + 1] ascending: every threshold that makes a difference, from nobody climbs to everybody does.

    The last is just above the highest score: past 1, which no catalogue may say, if a picture scored that.
    """
    different = np.unique(score)
    return np.append(different, np.nextafter(different[-1], np.inf))
