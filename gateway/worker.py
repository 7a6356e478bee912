"""The story of a picture: lease, draw, judge, store, conclude. One worker process tells it for one pool.

Every write is fenced by the lease: a worker that was paused past it can draw on, but not store, publish or charge.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass

from cascade.catalogue import Pool
from cascade.errors import BackendError, DiscriminatorError, StaleLeaseError, StoreUnavailableError
from cascade.jobs import Artifact, Failure, Lease, Picture, Score
from cascade.plans import DiscriminatorName
from cascade.ports import Backend, Discriminator, Standing
from cascade.pricing import to_gpu_ms
from cascade.progress import after_cancel, after_failure, after_stage
from gateway.rooms import Rooms
from gateway.settlement import settle

logger = logging.getLogger(__name__)

_IDLE_SECONDS = 1.0
_BACK_OFF_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Engine:
    """A loaded variant and whoever may judge it."""

    pool: Pool
    backend: Backend
    discriminators: Mapping[DiscriminatorName, Discriminator]


@dataclass(frozen=True, slots=True)
class Drawn:
    """What running a stage gave, in measured GPU-milliseconds: a picture, or why there is none."""

    gpu_ms: int
    artifact: Artifact | None = None
    score: Score | None = None
    failure: Failure | None = None


async def work(rooms: Rooms, engine: Engine, name: str, stop: asyncio.Event) -> None:
    """Serve the engine's pool until `stop` is set. A picture in hand then goes back to its queue."""
    async with asyncio.TaskGroup() as group:
        beating = group.create_task(_beat(rooms, engine.pool, name))
        while not stop.is_set():
            try:
                lease = await rooms.queue.take(engine.pool.name, name)
                if lease is None:
                    await _either(rooms.queue.wait_for_work(engine.pool.name, _IDLE_SECONDS), stop)
                else:
                    await serve(rooms, engine, lease, stop)
            except StaleLeaseError:
                logger.warning("lost the lease of a picture; another worker has it")
            except StoreUnavailableError:
                logger.warning("the queue does not answer")
                await _either(asyncio.sleep(_BACK_OFF_SECONDS), stop)
        beating.cancel()


async def serve(rooms: Rooms, engine: Engine, lease: Lease, stop: asyncio.Event) -> None:
    """Run the leased picture's next stage and conclude it.

    Raises:
        StaleLeaseError: the lease was lost; nothing was written.
        StoreUnavailableError: the queue or the store does not answer; the lease will run out.
    """
    drawing = asyncio.create_task(_draw(engine, lease))
    try:
        standing = await _keep_lease(rooms, lease, drawing, stop)
        if standing is None:
            await rooms.queue.release(lease)
            return
        picture = await _next(rooms, lease, standing, await _drawn(drawing))
        job = await rooms.queue.conclude(lease, picture)
    finally:
        drawing.cancel()
        await asyncio.wait({drawing})
    if not job.open:
        await settle(rooms, job)


async def _keep_lease(rooms: Rooms, lease: Lease, drawing: asyncio.Task[Drawn], stop: asyncio.Event) -> Standing | None:
    """Renew the lease while the picture is drawn. `None` when the worker must stop first."""
    stopping = asyncio.create_task(stop.wait())
    try:
        while True:
            done, _ = await asyncio.wait(
                {drawing, stopping}, timeout=rooms.limits.lease_seconds / 3, return_when=asyncio.FIRST_COMPLETED
            )
            if drawing in done:
                return await rooms.queue.renew(lease)  # the last look before anything is stored
            if stopping in done:
                return None
            try:
                if await rooms.queue.renew(lease) is Standing.CANCELLED:
                    drawing.cancel()
                    return Standing.CANCELLED
            except StoreUnavailableError:
                logger.warning("cannot renew a lease; trying on")
    finally:
        stopping.cancel()


async def _next(rooms: Rooms, lease: Lease, standing: Standing, drawn: Drawn) -> Picture:
    """The picture's next self."""
    if standing is Standing.CANCELLED:
        return after_cancel(lease.picture, gpu_ms=drawn.gpu_ms)
    if drawn.artifact is None:
        failure = drawn.failure or Failure("cancelled", "The picture was cancelled.")
        return after_failure(lease.picture, failure, gpu_ms=drawn.gpu_ms)
    stored = await rooms.artifacts.put(lease.job.tenant, drawn.artifact.content)
    return after_stage(lease.picture, lease.job.plan, stored, drawn.score, gpu_ms=drawn.gpu_ms, cached=False)


async def _draw(engine: Engine, lease: Lease) -> Drawn:
    """Draw and judge one picture. Expected failures, and a cancel, are values: what ran is charged all the same."""
    started = time.perf_counter()
    try:
        artifact = await engine.backend.generate(lease.job.request, lease.stage, lease.picture.seed, _ignore_step)
        score = await _judge(engine, lease, artifact)
    except BackendError as error:
        return Drawn(_spent(engine, started), failure=Failure("generation_failed", str(error)))
    except asyncio.CancelledError:
        return Drawn(_spent(engine, started))
    except Exception:  # a fault of ours must not take the worker down with it
        logger.exception("drawing failed in an unforeseen way")
        return Drawn(_spent(engine, started), failure=Failure("internal_error", "The engine failed unexpectedly."))
    return Drawn(_spent(engine, started), artifact=artifact, score=score)


async def _judge(engine: Engine, lease: Lease, artifact: Artifact) -> Score | None:
    """The score, or `None` when nobody need or can judge."""
    name = lease.stage.discriminator
    if name is None or lease.job.plan.last(lease.picture.stage):
        return None
    try:
        return await engine.discriminators[name].score(lease.job.request, artifact)
    except DiscriminatorError:
        logger.exception("a picture could not be judged and is accepted")
        return None


async def _drawn(drawing: asyncio.Task[Drawn]) -> Drawn:
    """Its result, once the engine has let go."""
    await asyncio.wait({drawing})
    return Drawn(gpu_ms=0) if drawing.cancelled() else drawing.result()


async def _beat(rooms: Rooms, pool: Pool, name: str) -> None:
    """Tell the others that this worker lives."""
    while True:
        try:
            await rooms.queue.beat(pool.name, name)
        except StoreUnavailableError:
            logger.warning("cannot say that this worker lives")
        await asyncio.sleep(1.0)


async def _either(first: Awaitable[None], stop: asyncio.Event) -> None:
    """Wait for `first` or for `stop`, whichever comes first."""
    tasks = {asyncio.ensure_future(first), asyncio.create_task(stop.wait())}
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()


def _spent(engine: Engine, started: float) -> int:
    return to_gpu_ms((time.perf_counter() - started) * 1000, engine.pool.gpu_weight)


def _ignore_step(done: int, steps: int) -> None:
    """Progress is not shown yet."""
