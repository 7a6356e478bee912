"""An admitted request and what has happened to its pictures.

The picture is the unit of decision, attempt, cache and charge: each one climbs its plan by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NewType

from cascade.plans import CascadePlan, Stage, VariantName
from cascade.requests import GenerationRequest

TenantId = NewType("TenantId", str)
JobId = NewType("JobId", str)
ArtifactId = NewType("ArtifactId", str)


class Verdict(StrEnum):
    """Stop here, or climb."""

    ACCEPT = "accept"
    ESCALATE = "escalate"


class Status(StrEnum):
    """Of a picture. A job is open while any of its pictures is `WAITING`."""

    WAITING = "waiting"
    """Queued or running."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Score:
    """How good a picture is for its prompt, calibrated to [0, 1]; higher is better."""

    value: float

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 1:  # also refuses NaN
            raise ValueError(f"score {self.value} is outside [0, 1]")


@dataclass(frozen=True, slots=True)
class Artifact:
    """An encoded picture and what it is.

    Attributes:
        content: PNG bytes, deterministic for the same pixels.
        width: pixels, as drawn.
        height: pixels, as drawn.
    """

    content: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One stage run for one picture.

    Attributes:
        stage: index into the plan.
        variant: what ran.
        steps: denoising steps that ran.
        artifact: where the picture lies.
        score: `None` when nobody judged.
        threshold: the one the verdict was taken with; `None` when nobody judged.
        verdict: what followed.
        gpu_ms: measured reference-GPU milliseconds, discriminator included; 0 when cached.
        cached: the attempt came from the cache.
    """

    stage: int
    variant: VariantName
    steps: int
    artifact: ArtifactId
    score: Score | None
    threshold: float | None
    verdict: Verdict
    gpu_ms: int
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a picture could not be drawn: a stable code and a sentence for the caller."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Picture:
    """One of a job's n pictures.

    Attributes:
        index: 0 … n-1.
        seed: its own.
        stage: the stage to run next, or that ran last when it is no longer waiting.
        attempts: in the order they ran.
        wasted_gpu_ms: measured time of runs that gave no picture; charged, since it ran.
    """

    index: int
    seed: int
    stage: int = 0
    status: Status = Status.WAITING
    attempts: tuple[Attempt, ...] = ()
    failure: Failure | None = None
    wasted_gpu_ms: int = 0

    @property
    def accepted(self) -> Attempt | None:
        """The attempt whose artifact is the answer."""
        return self.attempts[-1] if self.status is Status.DONE else None

    @property
    def gpu_ms(self) -> int:
        """What was measured to run for this picture."""
        return self.wasted_gpu_ms + sum(attempt.gpu_ms for attempt in self.attempts)


@dataclass(frozen=True, slots=True)
class Job:
    """An admitted request with its plan, prices and hold. The plan travels with it.

    Attributes:
        hold_gpu_ms: what is set aside for it; the charge never exceeds this.
        quoted_gpu_ms: the predicted price of the longest path.
        deadline_ms: Unix milliseconds; orders the tenant's pictures in a queue.
        weight: the tenant's share of a pool among those that have work there, 1 to 1000.
    """

    id: JobId
    tenant: TenantId
    request: GenerationRequest
    plan: CascadePlan
    hold_gpu_ms: int
    quoted_gpu_ms: int
    created_ms: int
    deadline_ms: int
    pictures: tuple[Picture, ...]
    weight: int = 1

    @property
    def open(self) -> bool:
        """Whether a picture still waits or runs."""
        return any(picture.status is Status.WAITING for picture in self.pictures)

    @property
    def gpu_ms(self) -> int:
        """What was measured to run."""
        return sum(picture.gpu_ms for picture in self.pictures)

    @property
    def charge_gpu_ms(self) -> int:
        """What the tenant pays: what ran, never above the hold."""
        return min(self.gpu_ms, self.hold_gpu_ms)

    def with_picture(self, picture: Picture) -> Job:
        """This job with one picture replaced by its newer self."""
        return replace(self, pictures=tuple(picture if p.index == picture.index else p for p in self.pictures))


@dataclass(frozen=True, slots=True)
class Lease:
    """An exclusive, renewed right to run one picture's next stage.

    Attributes:
        job: as it was when the lease was given.
        index: which picture.
        epoch: fences every write; grows with each lease given.
        worker: who holds it.
    """

    job: Job
    index: int
    epoch: int
    worker: str

    @property
    def picture(self) -> Picture:
        """The picture to draw."""
        return self.job.pictures[self.index]

    @property
    def stage(self) -> Stage:
        """The stage to run."""
        return self.job.plan.stages[self.picture.stage]
