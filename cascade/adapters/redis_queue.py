"""The job queue on Redis or Valkey: one central queue per pool, leases by the server's clock, every decision in Lua.

It does not know what a stage draws or costs. Start with `queue.lua`, which describes the keys, then `conclude.lua`,
the one fenced write.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from redis.asyncio import Redis
from typing_extensions import override

from cascade.adapters.redis_bell import Bell
from cascade.adapters.redis_records import job_record, picture_record, to_job
from cascade.adapters.redis_seam import Script, as_store_errors
from cascade.errors import StaleLeaseError, StoreUnavailableError
from cascade.jobs import Job, JobId, Lease, Picture
from cascade.plans import PoolName
from cascade.ports import JobQueue, PoolState, Standing

LOOK_AGAIN_SECONDS = 1.0
"""Rings may be lost, so we look this often for those who wait."""

LOOK_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class QueueRules:
    """How patient the queue is.

    Attributes:
        lease_seconds: a worker that does not renew for so long has lost its picture.
        max_redeliveries: a picture whose worker died more often than this is given up.
        keep_seconds: how long a job can be found after it was settled.
        beat_seconds: a worker that does not beat for so long is not counted.
    """

    lease_seconds: float = 10.0
    max_redeliveries: int = 3
    keep_seconds: float = 86_400.0
    beat_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class QueueKeys:
    """The key scheme: `<prefix><kind>` or `<prefix><kind>:<name>`, the same rule as `key` in `queue.lua`."""

    prefix: str = "mq:{work}:"

    def key(self, kind: str, name: str = "") -> str:
        """The key, or channel, of that kind and name."""
        return f"{self.prefix}{kind}:{name}" if name else f"{self.prefix}{kind}"


@asynccontextmanager
async def open_job_queue(
    client: Redis, rules: QueueRules | None = None, keys: QueueKeys | None = None
) -> AsyncIterator[RedisJobQueue]:
    """A queue on `client`, which stays the caller's to close. Takes one of its connections to listen on."""
    keys = keys or QueueKeys()
    bell = Bell(client, keys.key("queued"), keys.key("closed"))
    queue = RedisJobQueue(client, bell, rules or QueueRules(), keys)
    async with _meanwhile(bell.listen()), _meanwhile(queue.look_again()):
        yield queue


@asynccontextmanager
async def _meanwhile(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `work` for as long as the body runs. A task group would wrap the body's exceptions in a group."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        while not task.done():  # a client with a socket timeout may swallow a cancellation, see `open_client`
            task.cancel()
            await asyncio.wait([task], timeout=LOOK_AGAIN_SECONDS)


class RedisJobQueue(JobQueue):
    """Made by `open_job_queue`, which listens for it."""

    def __init__(self, client: Redis, bell: Bell, rules: QueueRules, keys: QueueKeys) -> None:
        self._client = client
        self._bell = bell
        self._rules = rules
        self._keys = keys
        self._submit, self._take, self._renew, self._conclude, self._release, self._cancel = (
            Script(client, name, prelude="queue")
            for name in ("submit", "take", "renew", "conclude", "release", "cancel")
        )
        self._unsettled, self._settled, self._ready, self._closed_among, self._beat, self._census = (
            Script(client, name, prelude="queue")
            for name in ("unsettled", "settled", "ready", "closed_among", "beat", "census")
        )

    @override
    async def submit(self, job: Job) -> None:
        pictures = [part for picture in job.pictures for part in picture_record(picture, job.plan)]
        known = job.id, job_record(job), job.deadline_ms, job.tenant, job.weight
        await self._call(self._submit, *known, *pictures)

    @override
    async def take(self, pool: PoolName, worker: str) -> Lease | None:
        rules = self._rules
        taken = await self._call(self._take, pool, worker, _ms(rules.lease_seconds), rules.max_redeliveries)
        if taken is None:
            return None
        index, epoch, fields = taken
        return Lease(job=to_job(_pairs(fields)), index=index, epoch=epoch, worker=worker)

    @override
    async def wait_for_work(self, pool: PoolName, seconds: float) -> None:
        with self._bell.hear(self._keys.key("queued"), pool) as rung:
            await _until(partial(self._may_take, pool), rung, seconds, look_again=LOOK_AGAIN_SECONDS)

    @override
    async def renew(self, lease: Lease) -> Standing:
        standing = await self._call(self._renew, *_named(lease), _ms(self._rules.lease_seconds))
        if standing == "stale":
            raise _stale(lease)
        return Standing(standing)

    @override
    async def conclude(self, lease: Lease, picture: Picture) -> Job:
        if picture.index != lease.index:
            raise ValueError(f"the lease is for picture {lease.index}, not {picture.index}")
        fields = await self._call(self._conclude, *_named(lease), *picture_record(picture, lease.job.plan))
        if fields is None:
            raise _stale(lease)
        return to_job(_pairs(fields))

    @override
    async def release(self, lease: Lease) -> None:
        await self._call(self._release, *_named(lease))

    @override
    async def cancel(self, job_id: JobId) -> None:
        await self._call(self._cancel, job_id)

    @override
    async def find(self, job_id: JobId) -> Job | None:
        async with as_store_errors():
            fields: Any = await self._client.hgetall(self._keys.key("job", job_id))
        return to_job(fields) if fields else None

    @override
    async def wait_until_closed(self, job_id: JobId, seconds: float) -> Job | None:
        with self._bell.hear(self._keys.key("closed"), job_id) as rung:
            await _until(partial(self._not_open, job_id), rung, seconds, look_again=seconds)
        return await self.find(job_id)

    @override
    async def unsettled(self, limit: int) -> Sequence[JobId]:
        if limit < 1:
            return ()
        ids = await self._call(self._unsettled, limit, self._rules.max_redeliveries)
        return tuple(JobId(job_id) for job_id in ids)

    @override
    async def settled(self, job_id: JobId) -> None:
        await self._call(self._settled, job_id, _ms(self._rules.keep_seconds))

    @override
    async def beat(self, pool: PoolName, worker: str) -> None:
        await self._call(self._beat, pool, worker, _ms(self._rules.beat_seconds))

    @override
    async def census(self, pools: Sequence[PoolName]) -> Sequence[PoolState]:
        states = await self._call(self._census, _ms(self._rules.beat_seconds), self._rules.max_redeliveries, *pools)
        return tuple(
            PoolState(name=pool, queued=queued, running=running, workers=tuple(workers))
            for pool, (queued, running, workers) in zip(pools, states, strict=True)
        )

    async def look_again(self) -> None:
        """Look for all who wait for a job to close, in one call, until cancelled. A thousand waiters cost no more."""
        closed = self._keys.key("closed")
        while True:
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
            waited_for = self._bell.words(closed)
            with suppress(StoreUnavailableError):  # they go on waiting, and ask for themselves when their time is up
                for start in range(0, len(waited_for), LOOK_AT_ONCE):
                    for job_id in await self._call(self._closed_among, *waited_for[start : start + LOOK_AT_ONCE]):
                        self._bell.ring(closed, job_id)

    async def _call(self, script: Script, *arguments: str | int) -> Any:
        return await script([self._keys.prefix], *arguments)

    async def _may_take(self, pool: PoolName) -> bool:
        return bool(await self._call(self._ready, pool))

    async def _not_open(self, job_id: JobId) -> bool:
        async with as_store_errors():
            still_open = await self._client.hget(self._keys.key("job", job_id), "open")
        return still_open is None or still_open == "0"


async def _until(met: Callable[[], Awaitable[bool]], rung: asyncio.Event, seconds: float, *, look_again: float) -> None:
    """Return once `met`, or after `seconds`. Looks whenever `rung`, and every `look_again` seconds by itself."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not await met():
        left = end - loop.time()
        if left <= 0:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(min(left, look_again)):
                await rung.wait()
        rung.clear()


def _named(lease: Lease) -> tuple[str, int, int]:
    return lease.job.id, lease.index, lease.epoch


def _stale(lease: Lease) -> StaleLeaseError:
    return StaleLeaseError(f"The lease on picture {lease.index} of {lease.job.id} was lost; nothing was written.")


def _pairs(flat: Sequence[str]) -> dict[str, str]:
    """A script's HGETALL: names and values by turns."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
