"""What the cascade needs from the outside, named for the need.

A backend or discriminator lives in a worker process; the other ports are shared by all processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from cascade.jobs import Artifact, ArtifactId, Job, JobId, Lease, Picture, Score, TenantId
from cascade.plans import PoolName, Stage
from cascade.requests import GenerationRequest

OnStep = Callable[[int, int], None]
"""Called after each denoising step with (steps done, steps in all), from the thread that draws."""


class Backend(Protocol):
    """Draws one variant's pictures."""

    async def generate(self, request: GenerationRequest, stage: Stage, seed: int, on_step: OnStep) -> Artifact:
        """Draw one picture of `request` with `seed`, at the stage's steps and guidance.

        The same arguments give the same bytes. Cancelling stops within one step, waits until the
        engine has let go and leaves the next picture unchanged.

        Raises:
            BackendError: the picture could not be drawn.
        """
        ...

    async def warm_up(self) -> None:
        """Run once so that the first caller does not pay for lazy initialisation."""
        ...


class Discriminator(Protocol):
    """Judges a picture for its prompt."""

    async def score(self, request: GenerationRequest, artifact: Artifact) -> Score:
        """The calibrated probability that `artifact` is good enough for `request`.

        Raises:
            DiscriminatorError: the picture could not be judged.
        """
        ...


class Standing(StrEnum):
    """What renewing a lease says."""

    HELD = "held"
    CANCELLED = "cancelled"
    """Still held, but nobody wants the picture any more: stop, then conclude."""


class JobQueue(Protocol):
    """Jobs whose pictures hop between central per-pool queues. Every write of a worker is fenced by its lease.

    All methods raise `StoreUnavailableError` when the store does not answer.
    """

    async def submit(self, job: Job) -> None:
        """Record `job` and queue each waiting picture in its next stage's pool, in one step."""
        ...

    async def take(self, pool: PoolName, worker: str) -> Lease | None:
        """The pool's most urgent picture, leased, or `None`. Expired leases go back to their queues first."""
        ...

    async def wait_for_work(self, pool: PoolName, seconds: float) -> None:
        """Return when something may have been queued in `pool`, or after `seconds`."""
        ...

    async def renew(self, lease: Lease) -> Standing:
        """Keep the lease alive.

        Raises:
            StaleLeaseError: it expired or was given to another.
        """
        ...

    async def conclude(self, lease: Lease, picture: Picture) -> Job:
        """Replace the leased picture by `picture`, give the lease up and queue what comes next; all or nothing.

        A waiting picture goes to its next stage's pool. Returns the job as it is now.

        Raises:
            StaleLeaseError: the lease was lost; nothing was written.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Give the picture back unchanged, e.g. on shutdown. A lost lease is nothing to release."""
        ...

    async def cancel(self, job_id: JobId) -> None:
        """Cancel what still waits in a queue and ask running workers to stop. Idempotent."""
        ...

    async def find(self, job_id: JobId) -> Job | None:
        """The job as it is now, or `None` when unknown or long forgotten."""
        ...

    async def wait_until_closed(self, job_id: JobId, seconds: float) -> Job | None:
        """The job once no picture is open, or as it is after `seconds`; `None` when unknown."""
        ...

    async def unsettled(self, limit: int) -> Sequence[JobId]:
        """Closed jobs whose hold has not been reported settled, oldest first."""
        ...

    async def settled(self, job_id: JobId) -> None:
        """Report that the job's hold is closed. Idempotent."""
        ...

    async def beat(self, pool: PoolName, worker: str) -> None:
        """Say that `worker` serves `pool`; valid for a few seconds."""
        ...

    async def census(self, pools: Sequence[PoolName]) -> Sequence[PoolState]:
        """Depth and live workers of each pool."""
        ...


@dataclass(frozen=True, slots=True)
class PoolState:
    """A pool as the queue sees it."""

    name: PoolName
    queued: int
    running: int
    workers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CachedAttempt:
    """What the attempt cache keeps: the picture and its score, never the verdict."""

    artifact: ArtifactId
    score: Score | None


class AttemptCache(Protocol):
    """Attempts by fingerprint, and single flight of identical requests. Never raises: a dead cache is a miss."""

    async def get(self, fingerprint: str) -> CachedAttempt | None:
        """The attempt kept under `fingerprint`."""
        ...

    async def put(self, fingerprint: str, attempt: CachedAttempt) -> None:
        """Keep an attempt for the cache's time to live."""
        ...

    async def lead(self, fingerprint: str, job_id: JobId) -> JobId:
        """Become the leader of an identical request's flight. Returns the leader: `job_id` if that is us."""
        ...

    async def land(self, fingerprint: str, job_id: JobId) -> None:
        """End the flight if `job_id` leads it."""
        ...


class ArtifactStore(Protocol):
    """Encoded pictures, content-addressed under their tenant.

    Raises `StoreUnavailableError` when the store does not answer.
    """

    async def put(self, tenant: TenantId, content: bytes) -> ArtifactId:
        """Store PNG bytes. The id is opaque, and the same for the same tenant and bytes."""
        ...

    async def get(self, artifact_id: ArtifactId) -> bytes:
        """The bytes.

        Raises:
            ArtifactMissingError: there is none, or what is there is not what was stored.
        """
        ...

    async def has(self, artifact_id: ArtifactId) -> bool:
        """Whether there is one, and whole."""
        ...

    def owned_by(self, artifact_id: ArtifactId, tenant: TenantId) -> bool:
        """Whether the artifact is the tenant's."""
        ...
