"""What all ports on Redis promise when the server is stalled, refuses, restarts or forgot its scripts."""

from __future__ import annotations

import asyncio
import time

import pytest
from redis.exceptions import ResponseError

from cascade.adapters.redis_attempts import RedisAttemptCache
from cascade.adapters.redis_client import open_client
from cascade.adapters.redis_queue import open_job_queue
from cascade.adapters.redis_seam import as_store_errors
from cascade.errors import StoreUnavailableError
from cascade.jobs import JobId, Lease
from tenants.adapters.redis_directory import RedisDirectory
from tenants.adapters.redis_quota import RedisQuota
from tenants.adapters.redis_seam import as_budget_errors
from tenants.errors import BudgetStoreUnavailableError
from tenants.types import Balance, HoldId, KeyRecord, Tenant
from tests.builders import ACME, LIGHT, a_job, drawn

GENEROUS_SECONDS = 10.0
"""The promise is two; a busy machine may be late."""


def of_queue(queue):
    """Every call of a job queue."""
    lease = Lease(a_job(), 0, 1, "w1")
    return [
        queue.submit(a_job()),
        queue.take(LIGHT, "w1"),
        queue.wait_for_work(LIGHT, 60),
        queue.renew(lease),
        queue.conclude(lease, lease.picture),
        queue.release(lease),
        queue.cancel(JobId("job_1")),
        queue.find(JobId("job_1")),
        queue.wait_until_closed(JobId("job_1"), 60),
        queue.unsettled(1),
        queue.settled(JobId("job_1")),
        queue.beat(LIGHT, "w1"),
        queue.census([LIGHT]),
    ]


def of_tenants(client):
    """Every call of a quota and a directory."""
    quota, directory = RedisQuota(client), RedisDirectory(client)
    return [
        quota.grant(ACME, 1),
        quota.balance(ACME),
        quota.reserve(ACME, HoldId("h"), 1, 1),
        quota.extend(ACME, HoldId("h"), 1),
        quota.settle(ACME, HoldId("h"), 1),
        quota.abandoned(1),
        directory.add_tenant(Tenant(ACME, "Acme")),
        directory.tenant(ACME),
        directory.tenants(),
        directory.suspend(ACME, suspended=True),
        directory.add_key(KeyRecord("0" * 64, ACME, "abcd", "", 1)),
        directory.key("0" * 64),
        directory.keys(ACME),
        directory.revoke_key("0" * 64),
    ]


async def all_refuse(client):
    """That every call says, within its time, that the store is unavailable."""
    started = time.monotonic()
    async with open_job_queue(client) as queue:
        calls = of_queue(queue)
        results = await asyncio.gather(*calls, *of_tenants(client), return_exceptions=True)
    of_cascade, of_books = results[: len(calls)], results[len(calls) :]
    assert {type(result) for result in of_cascade} == {StoreUnavailableError}
    assert {type(result) for result in of_books} == {BudgetStoreUnavailableError}
    return time.monotonic() - started < GENEROUS_SECONDS


async def test_a_stalled_server_is_unavailable_in_time(redis_server, redis_client):
    with redis_server.stalled():
        assert await all_refuse(redis_client)

    assert await redis_client.ping()


async def test_an_absent_server_is_unavailable(tmp_path):
    client = open_client(f"unix://{tmp_path}/nobody.sock")

    assert await all_refuse(client)

    await client.aclose()


async def test_a_server_without_memory_refuses_writes_and_still_reads(redis_client):
    async with open_job_queue(redis_client) as queue:
        await queue.submit(a_job())
        await redis_client.config_set("maxmemory", "1")
        try:
            with pytest.raises(StoreUnavailableError):
                await queue.submit(a_job("job_2"))
            with pytest.raises(BudgetStoreUnavailableError):
                await RedisQuota(redis_client).grant(ACME, 1)
            assert await queue.find(JobId("job_1")) == a_job()
            assert await queue.find(JobId("job_2")) is None
        finally:
            await redis_client.config_set("maxmemory", "0")


async def test_a_read_only_replica_is_unavailable(redis_client, tmp_path):
    await redis_client.replicaof("127.0.0.1", "1")
    try:
        with pytest.raises(BudgetStoreUnavailableError):
            await RedisQuota(redis_client).grant(ACME, 1)
        async with open_job_queue(redis_client) as queue:
            with pytest.raises(StoreUnavailableError):
                await queue.submit(a_job())
    finally:
        await redis_client.replicaof("NO", "ONE")


async def test_a_mistake_of_ours_is_not_taken_for_an_absent_server(redis_client):
    await redis_client.set("text", "x")
    for seam in (as_store_errors, as_budget_errors):
        with pytest.raises(ResponseError):
            async with seam():
                await redis_client.hgetall("text")


async def test_a_server_that_forgot_its_scripts_is_taught_again(redis_client):
    quota, cache = RedisQuota(redis_client), RedisAttemptCache(redis_client)
    async with open_job_queue(redis_client) as queue:
        await queue.submit(a_job())
        await redis_client.script_flush()

        assert await queue.take(LIGHT, "w1") is not None
        assert await quota.settle(ACME, HoldId("h"), 1) == 0
        assert await cache.lead("f", JobId("job_1")) == "job_1"
        assert cache.errors == 0


async def test_a_client_that_does_not_decode_is_refused(redis_server):
    client = open_client(redis_server.url)
    client.connection_pool.connection_kwargs["decode_responses"] = False

    for adapter in (RedisAttemptCache, RedisQuota):
        with pytest.raises(ValueError, match="decode_responses"):
            adapter(client)

    await client.aclose()


async def test_a_url_can_not_take_away_what_the_adapters_rely_on(redis_server):
    client = open_client(f"{redis_server.url}?decode_responses=False&socket_timeout=3")

    assert await RedisQuota(client).balance(ACME) == Balance(0, 0, 0, 0)
    assert client.get_connection_kwargs()["socket_timeout"] is None

    await client.aclose()


async def test_a_call_that_is_cancelled_ends_at_any_moment(redis_server):
    """With a socket timeout redis-py loses some of these cancellations (python/cpython#86296)."""
    for turns in range(30):
        client = open_client(redis_server.url)
        async with asyncio.timeout(GENEROUS_SECONDS), open_job_queue(client) as queue:
            call = asyncio.ensure_future(queue.wait_for_work(LIGHT, 60))
            for _ in range(turns):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.wait([call])
            assert call.cancelled()
        await client.aclose()


async def test_after_a_restart_the_same_queue_goes_on(own_redis_server):
    client = open_client(own_redis_server.url)
    async with asyncio.timeout(60), open_job_queue(client) as queue:
        await queue.submit(a_job())
        own_redis_server.stop()
        with pytest.raises(StoreUnavailableError):
            await queue.find(JobId("job_1"))
        await asyncio.to_thread(own_redis_server.start)

        job = a_job("job_2")
        await queue.submit(job)
        waiter = asyncio.ensure_future(queue.wait_until_closed(job.id, 300))
        lease = await queue.take(LIGHT, "w1")
        await queue.conclude(lease, drawn(lease.picture, job.plan, 0.9))

        assert not (await waiter).open
    await client.aclose()
