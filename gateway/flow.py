"""The story of a request: plan, look in the cache, hold, queue, wait, settle.

It walks from room to room and decides nothing; it does not know HTTP. What happens to a picture is in `worker`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from cascade.fingerprint import attempt_fingerprint, flight_fingerprint
from cascade.jobs import Job, JobId, Picture, Status
from cascade.ordering import deadline_ms
from cascade.plans import CascadePlan
from cascade.ports import CachedAttempt
from cascade.progress import after_stage, as_cached
from cascade.requests import GenerationRequest
from cascade.routing import plan_for
from gateway.failures import DeadlineExceededError, GenerationFailedError, NoWorkerError
from gateway.rooms import Rooms
from gateway.settlement import HOLD_LEASE_SECONDS, settle
from gateway.timings import Timings
from tenants.types import HoldId, Tenant

_RETRY_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Ask:
    """A generation as a tenant asked for it.

    Attributes:
        read_cache: an identical picture drawn before will do.
        write_cache: what is drawn may be kept for the tenant.
    """

    tenant: Tenant
    model: str
    quality: str
    request: GenerationRequest
    read_cache: bool
    write_cache: bool
    timings: Timings = field(default_factory=Timings)


@dataclass(frozen=True, slots=True)
class Answer:
    """A closed job and what it cost the tenant.

    Attributes:
        held_gpu_ms: 0 when everything came from the cache, or from another request's flight.
    """

    job: Job
    held_gpu_ms: int
    charged_gpu_ms: int


async def generate(rooms: Rooms, ask: Ask) -> Answer:
    """Pictures for `ask`: from the cache, from an identical request in flight, or drawn.

    Raises:
        CascadeError, TenantError: as their rooms name them; nothing was charged.
        NoWorkerError: nobody serves one of the plan's pools.
        DeadlineExceededError: it took too long and was cancelled; what ran was charged.
        GenerationFailedError: no picture could be drawn; what ran was charged.
    """
    plan = plan_for(rooms.catalogue, ask.model, ask.quality, ask.request)
    job = _new_job(rooms, ask, plan)
    while True:
        with ask.timings.measure("cache"):
            job = await _with_cached(rooms, ask, job)
        if not job.open:
            return Answer(job, held_gpu_ms=0, charged_gpu_ms=0)
        async with _flight(rooms, ask, job) as leader:
            if leader == job.id:
                return await _lead(rooms, ask, job)
        with ask.timings.measure("wait"):
            followed = await _follow(rooms, leader)
        if followed is not None:
            return Answer(replace(job, pictures=followed), held_gpu_ms=0, charged_gpu_ms=0)


async def _lead(rooms: Rooms, ask: Ask, job: Job) -> Answer:
    """Draw, unless the flight before ours landed between our look into the cache and our take-off."""
    job = await _with_cached(rooms, ask, job)
    return await _draw(rooms, ask, job) if job.open else Answer(job, held_gpu_ms=0, charged_gpu_ms=0)


async def _draw(rooms: Rooms, ask: Ask, job: Job) -> Answer:
    """Hold, queue, wait and settle: the way of a request that nobody drew before."""
    await _require_workers(rooms, job)
    with ask.timings.measure("hold"):
        await rooms.quota.reserve(job.tenant, HoldId(job.id), job.hold_gpu_ms, HOLD_LEASE_SECONDS)
    with ask.timings.measure("draw"):
        await rooms.queue.submit(job)
        finished = await _until_closed(rooms, job.id)
    with ask.timings.measure("settle"):
        charged = await settle(rooms, finished)
        if ask.write_cache:
            await _keep(rooms, ask, finished)
    if not any(picture.accepted for picture in finished.pictures):
        raise GenerationFailedError(finished)
    return Answer(finished, held_gpu_ms=finished.hold_gpu_ms, charged_gpu_ms=charged)


async def _until_closed(rooms: Rooms, job_id: JobId) -> Job:
    """Wait for a job. One that takes too long is given up, and charged for what ran."""
    job = await rooms.queue.wait_until_closed(job_id, rooms.limits.sync_seconds)
    if job is not None and not job.open:
        return job
    await rooms.queue.cancel(job_id)
    job = await rooms.queue.wait_until_closed(job_id, rooms.limits.lease_seconds)
    if job is not None and not job.open:
        await settle(rooms, job)
    raise DeadlineExceededError(rooms.limits.sync_seconds)


async def _keep(rooms: Rooms, ask: Ask, job: Job) -> None:
    """Remember what was drawn. Only concluded attempts are in the job, so a stale worker can't get here."""
    for picture in job.pictures:
        for attempt in picture.attempts:
            if not attempt.cached:
                stage = job.plan.stages[attempt.stage]
                key = attempt_fingerprint(rooms.secret, job.tenant, ask.request, stage, picture.seed)
                await rooms.attempts.put(key, CachedAttempt(attempt.artifact, attempt.score))


async def _with_cached(rooms: Rooms, ask: Ask, job: Job) -> Job:
    """`job` with every cached attempt taken and judged anew, priced for what is left."""
    if ask.read_cache:
        pictures = await asyncio.gather(*(_cached(rooms, ask, job.plan, picture) for picture in job.pictures))
        return _priced(job, tuple(pictures))
    return job


async def _cached(rooms: Rooms, ask: Ask, plan: CascadePlan, picture: Picture) -> Picture:
    while picture.status is Status.WAITING:
        stage = plan.stages[picture.stage]
        key = attempt_fingerprint(rooms.secret, ask.tenant.id, ask.request, stage, picture.seed)
        hit = await rooms.attempts.get(key)
        if hit is None or not await rooms.artifacts.has(hit.artifact):
            return picture
        picture = after_stage(picture, plan, hit.artifact, hit.score, gpu_ms=0, cached=True)
    return picture


@asynccontextmanager
async def _flight(rooms: Rooms, ask: Ask, job: Job) -> AsyncIterator[JobId]:
    """Lead the flight of this request, or learn who does. A request that may not share always leads its own."""
    if not (ask.read_cache and ask.write_cache):
        yield job.id
        return
    key = flight_fingerprint(rooms.secret, ask.tenant.id, ask.request, job.plan)
    try:
        yield await rooms.attempts.lead(key, job.id)
    finally:
        await asyncio.shield(rooms.attempts.land(key, job.id))


async def _follow(rooms: Rooms, leader: JobId) -> tuple[Picture, ...] | None:
    """The pictures of the flight's leader once drawn; `None` when they must be asked for again."""
    clock = asyncio.get_running_loop().time
    give_up = clock() + rooms.limits.sync_seconds
    job = await rooms.queue.wait_until_closed(leader, rooms.limits.sync_seconds)
    if job is not None and all(picture.accepted for picture in job.pictures):
        return tuple(as_cached(picture) for picture in job.pictures)
    if job is not None and job.open and clock() >= give_up:
        raise DeadlineExceededError(rooms.limits.sync_seconds)
    await asyncio.sleep(_RETRY_SECONDS)  # not queued yet, queued only just now, refused, or failed
    return None


async def _require_workers(rooms: Rooms, job: Job) -> None:
    entry = min(picture.stage for picture in job.pictures if picture.status is Status.WAITING)
    pools = [stage.pool for stage in job.plan.stages[entry:]]
    idle = [state.name for state in await rooms.queue.census(pools) if not state.workers]
    if idle:
        raise NoWorkerError(tuple(idle))


def _new_job(rooms: Rooms, ask: Ask, plan: CascadePlan) -> Job:
    pictures = tuple(Picture(index, ask.request.seed_of(index)) for index in range(ask.request.n))
    now = rooms.clock.now_ms()
    job = Job(
        id=JobId(f"job_{secrets.token_hex(16)}"),
        tenant=ask.tenant.id,
        request=ask.request,
        plan=plan,
        hold_gpu_ms=0,
        quoted_gpu_ms=0,
        created_ms=now,
        deadline_ms=now,
        pictures=pictures,
    )
    return _priced(job, pictures)


def _priced(job: Job, pictures: tuple[Picture, ...]) -> Job:
    waiting = [picture.stage for picture in pictures if picture.status is Status.WAITING]
    quoted = sum(job.plan.predicted_gpu_ms(stage) for stage in waiting)
    return replace(
        job,
        pictures=pictures,
        hold_gpu_ms=sum(job.plan.ceiling_gpu_ms(stage) for stage in waiting),
        quoted_gpu_ms=quoted,
        deadline_ms=deadline_ms(job.created_ms, quoted),
    )
