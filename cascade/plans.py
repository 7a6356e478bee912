"""Variants, stages and plans: what may run for a request, light before heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

VariantName = NewType("VariantName", str)
PoolName = NewType("PoolName", str)
ModelName = NewType("ModelName", str)
DiscriminatorName = NewType("DiscriminatorName", str)


@dataclass(frozen=True, slots=True)
class Stage:
    """One variant's turn in a plan: the unit that is queued, run, judged and charged.

    Attributes:
        variant: the loadable model configuration.
        pool: whose queue the stage waits in.
        steps: denoising steps.
        guidance: guidance scale, or `None` for a variant that has none.
        weights: digest of the variant's weights, part of the cache identity.
        discriminator: who judges the result; `None` for a stage nobody judges.
        threshold: scores below it escalate, in [0, 1]. The last stage ignores it.
        predicted_gpu_ms: median price of one picture, discriminator included.
        ceiling_gpu_ms: 95th percentile of the same; what is held.
    """

    variant: VariantName
    pool: PoolName
    steps: int
    guidance: float | None
    weights: str
    discriminator: DiscriminatorName | None
    threshold: float
    predicted_gpu_ms: int
    ceiling_gpu_ms: int

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold {self.threshold} of {self.variant} is outside [0, 1]")
        if self.steps < 1:
            raise ValueError(f"{self.variant} needs at least one step, got {self.steps}")
        if not 0 <= self.predicted_gpu_ms <= self.ceiling_gpu_ms:
            raise ValueError(f"{self.variant}: the ceiling must not lie below the prediction")


@dataclass(frozen=True, slots=True)
class CascadePlan:
    """Stages from light to heavy. The last is always accepted; one stage is ordinary routing."""

    model: ModelName
    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError(f"the plan of {self.model} has no stage")
        for stage in self.stages[:-1]:
            if stage.discriminator is None:
                raise ValueError(f"{stage.variant} is not the last stage of {self.model} and needs a discriminator")

    def last(self, index: int) -> bool:
        """Whether stage `index` is the heaviest."""
        return index == len(self.stages) - 1

    def ceiling_gpu_ms(self, entry: int = 0) -> int:
        """The worst path from stage `entry` for one picture: every stage runs."""
        return sum(stage.ceiling_gpu_ms for stage in self.stages[entry:])

    def predicted_gpu_ms(self, entry: int = 0) -> int:
        """The median price of the longest path from stage `entry` for one picture."""
        return sum(stage.predicted_gpu_ms for stage in self.stages[entry:])
