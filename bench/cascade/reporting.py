"""From what was measured to the report. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from bench.cascade.figures import figures, plain_figures
from bench.cascade.intervals import RESAMPLES, intervals
from bench.cascade.policies import Outcomes, at_threshold, thresholds
from bench.cascade.prompts import stream_of
from bench.cascade.report import Distribution, Group, Point, Report, Shipped, StageName, Took, nested
from bench.cascade.seeing import Seen, outcomes_of
from bench.cascade.studio import Time
from discriminators.measures import Interval
from shapes.scenes import Difficulty


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that the report is made of.

    Attributes:
        model: the public name of the cascade.
        threshold: below which the shipped score climbs.
        margin: see `figures.figures`.
        judge: whose utilities the head was trained on, in its own words; empty when it does not say.
        seen: held-out prompts.
        novel: prompts of pairs never seen together.
        distribution: of the held-out prompts' pictures.
        seed: what everything was drawn from.
        versions: digests of the weights.
        machine: where it ran.
    """

    model: str
    threshold: float
    margin: float
    judge: str
    seen: Sequence[Seen]
    novel: Sequence[Seen]
    distribution: Distribution
    seed: int
    versions: Mapping[str, str]
    machine: Mapping[str, Any]


def report_of(measured: Measured) -> Report:
    """The report, intervals included: seconds of work, on no picture."""
    outcomes = outcomes_of(measured.seen)
    threshold, margin, seed = measured.threshold, measured.margin, measured.seed
    found = intervals(lambda rows: figures(outcomes.only(rows), threshold, margin), len(outcomes), seed)
    shares = {name: found.pop(("oracle_gain_share", name)) for name in ("accuracy", "graded")}
    stages = _stages(measured.seen)
    return Report(
        shipped=Shipped(
            model=measured.model, threshold=threshold, margin=margin, judge=measured.judge, prompts=len(outcomes)
        ),
        **nested(found),
        **_gain_share("oracle_gain_share", shares["accuracy"]),
        **_gain_share("oracle_gain_share_graded", shares["graded"]),
        curve=curve_of(outcomes),
        per_difficulty={level: _group(measured, _of(measured.seen, level)) for level in Difficulty},
        novel=_group(measured, measured.novel),
        light_ms=stages["light"].gpu_mean,
        discriminator_ms=stages["discriminator"].gpu_mean,
        heavy_ms=stages["heavy"].gpu_mean,
        stages=stages,
        discriminator_share_of_light=stages["discriminator"].gpu_median / stages["light"].gpu_median,
        distribution=measured.distribution,
        seeds=_seeds(seed),
        versions=dict(measured.versions),
        machine=dict(measured.machine),
    )


def curve_of(outcomes: Outcomes) -> list[Point]:
    """The cascade at every threshold that makes a difference, ascending."""
    points = ((float(threshold), at_threshold(outcomes, threshold)) for threshold in thresholds(outcomes.score))
    return [Point(threshold=threshold, **asdict(worth)) for threshold, worth in points]


def _of(seen: Sequence[Seen], difficulty: Difficulty) -> list[Seen]:
    return [each for each in seen if each.prompt.scene.difficulty is difficulty]


def _group(measured: Measured, seen: Sequence[Seen]) -> Group:
    outcomes = outcomes_of(seen)
    threshold = measured.threshold
    found = intervals(lambda rows: plain_figures(outcomes.only(rows), threshold), len(outcomes), measured.seed)
    return Group(prompts=len(outcomes), **nested(found))


def _gain_share(name: str, interval: Interval) -> dict[str, Any]:
    """A share and its interval; null where there is nothing to have a share of."""
    if math.isnan(interval.estimate):
        return {name: None, f"{name}_interval": None}
    return {name: interval.estimate, f"{name}_interval": (interval.low, interval.high)}


def _stages(seen: Sequence[Seen]) -> dict[StageName, Took]:
    return {
        "light": _took([each.drawn.light_time for each in seen]),
        "discriminator": _took([each.drawn.judge_time for each in seen]),
        "heavy": _took([each.drawn.heavy_time for each in seen]),
    }


def _took(times: Sequence[Time]) -> Took:
    gpu, cpu = [time.gpu_ms for time in times], [time.cpu_ms for time in times]
    return Took(gpu_mean=fmean(gpu), gpu_median=median(gpu), cpu_mean=fmean(cpu), cpu_median=median(cpu))


def _seeds(seed: int) -> dict[str, Any]:
    streams = {name: stream_of(name, seed) for name in ("prompts", "novel", "reference")}
    return {"seed": seed, **streams, "bootstrap": seed, "resamples": RESAMPLES}
