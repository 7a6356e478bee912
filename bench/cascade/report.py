"""The benchmark's report: what `--json` prints. A figure `x` with an interval has a field `x_interval` beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from discriminators.measures import Interval
from shapes.scenes import Difficulty

Range = tuple[float, float]
PolicyName = Literal["light", "heavy", "cascade", "random", "oracle", "gain_oracle", "real_fake", "cosine", "router"]
ScoreName = Literal["cascade", "real_fake", "cosine", "router"]
StageName = Literal["light", "discriminator", "heavy"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Measured(_Part):
    """Share of pictures with all right, mean share right, GPU-ms a picture, each with its 95 % interval."""

    accuracy: float
    accuracy_interval: Range
    graded: float
    graded_interval: Range
    gpu_ms: float
    gpu_ms_interval: Range


class Figures(_Measured):
    """A policy, and the share that climbs."""

    deferral_rate: float
    deferral_rate_interval: Range


class Difference(_Measured):
    """The cascade minus another policy, on the same prompts."""


class Areas(_Part):
    """Normalised area under a score's deferral curve: 0 for a random order, 1 for the pair's own gain."""

    accuracy: float
    accuracy_interval: Range
    graded: float
    graded_interval: Range


class Point(_Part):
    """The cascade at another threshold."""

    threshold: float
    deferral_rate: float
    accuracy: float
    graded: float
    gpu_ms: float


class Took(_Part):
    """Milliseconds of a stage."""

    gpu_mean: float
    gpu_median: float
    cpu_mean: float
    cpu_median: float


class Distances(_Part):
    """Unbiased squared MMDs to fresh renders; 0 for true pictures. `cmmd_median` has the median distance as σ."""

    cmmd: float
    cmmd_median: float
    kid: float


class Distribution(_Part):
    """How far each policy's pictures are from true ones, and true ones from each other."""

    light: Distances
    heavy: Distances
    cascade: Distances
    renders: Distances
    sigma: float
    sigma_median: float
    prompts: int


class Group(_Part):
    """What three policies are worth on some of the prompts."""

    prompts: int
    policies: dict[Literal["light", "heavy", "cascade"], Figures]


class Shipped(_Part):
    """The cascade as the catalogue has it; `judge` says whose utilities its head was trained on."""

    model: str
    threshold: float
    margin: float
    judge: str
    prompts: int


class Report(_Part):
    """All of it. `oracle_gain_share` is null where the verdict oracle gains nothing over random escalation."""

    shipped: Shipped
    policies: dict[PolicyName, Figures]
    paired: dict[str, Difference]
    oracle_gain_share: float | None
    oracle_gain_share_interval: Range | None
    oracle_gain_share_graded: float | None
    oracle_gain_share_graded_interval: Range | None
    ece: float
    ece_interval: Range
    ece_graded: float
    ece_graded_interval: Range
    areas: dict[ScoreName, Areas]
    curve: list[Point]
    per_difficulty: dict[Difficulty, Group]
    novel: Group
    light_ms: float
    discriminator_ms: float
    heavy_ms: float
    stages: dict[StageName, Took]
    discriminator_share_of_light: float
    distribution: Distribution
    seeds: dict[str, Any]
    versions: dict[str, str]
    machine: dict[str, Any]


def nested(figures: Mapping[tuple[str, ...], Interval]) -> dict[str, Any]:
    """Figures named by where they stand, as nested objects, each with its interval beside it."""
    tree: dict[str, Any] = {}
    for (*path, name), interval in figures.items():
        place = tree
        for step in path:
            place = place.setdefault(step, {})
        place[name] = interval.estimate
        place[f"{name}_interval"] = (interval.low, interval.high)
    return tree
