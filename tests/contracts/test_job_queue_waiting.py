"""What a queue promises those who wait. Only generous bounds: the machine may be busy."""

from __future__ import annotations

import asyncio
import time

from cascade.jobs import JobId
from tests.builders import HEAVY, LIGHT, a_job, drawn

PROMPT = 30.0
"""Far more than it takes, far less than the waits below ask for."""
LONG = 300.0


async def finish(queue, job):
    lease = await queue.take(LIGHT, "w1")
    await queue.conclude(lease, drawn(lease.picture, job.plan, 0.9))


async def listeners(client):
    return (await client.pubsub_numsub("mq:{work}:closed"))[0][1]


async def listening(client):
    """Return once someone listens."""
    async with asyncio.timeout(PROMPT):
        while not await listeners(client):  # noqa: ASYNC110 - another process's subscription sets no event of ours
            await asyncio.sleep(0.01)


async def test_a_waiter_is_woken_when_the_job_closes(queue):
    job = a_job()
    await queue.submit(job)

    async with asyncio.timeout(PROMPT), asyncio.TaskGroup() as tasks:
        waiter = tasks.create_task(queue.wait_until_closed(job.id, LONG))
        await asyncio.sleep(0.05)
        assert not waiter.done()
        await finish(queue, job)

    assert not waiter.result().open


async def test_another_process_is_woken_too(queue, open_queue):
    job = a_job()
    await queue.submit(job)

    async with asyncio.timeout(PROMPT), open_queue() as other, asyncio.TaskGroup() as tasks:
        waiter = tasks.create_task(other.wait_until_closed(job.id, LONG))
        await asyncio.sleep(0.05)
        await finish(queue, job)

    assert not waiter.result().open


async def test_a_closed_job_is_answered_at_once_and_an_unknown_one_is_none(queue):
    job = a_job()
    await queue.submit(job)
    await finish(queue, job)

    async with asyncio.timeout(PROMPT):
        assert not (await queue.wait_until_closed(job.id, LONG)).open
        assert await queue.wait_until_closed(JobId("unknown"), LONG) is None


async def test_the_wait_ends_in_time_with_the_job_as_it_is(queue):
    job = a_job()
    await queue.submit(job)
    started = time.monotonic()

    assert await queue.wait_until_closed(job.id, 0.2) == job

    assert time.monotonic() - started >= 0.19
    assert await queue.wait_until_closed(job.id, 0) == job


async def test_a_waiter_survives_the_death_of_the_subscription(queue, redis_client):
    job = a_job()
    await queue.submit(job)
    await listening(redis_client)

    async with asyncio.timeout(PROMPT), asyncio.TaskGroup() as tasks:
        waiter = tasks.create_task(queue.wait_until_closed(job.id, LONG))
        await asyncio.sleep(0.05)
        await redis_client.client_kill_filter(_type="pubsub")
        await finish(queue, job)  # perhaps while nobody listens

    assert not waiter.result().open
    await listening(redis_client)  # again


async def test_a_waiter_that_hears_nothing_is_looked_for(queue, monkeypatch):
    monkeypatch.setattr(queue._bell, "_pass_on", lambda *_: None)  # deaf
    job = a_job()
    await queue.submit(job)

    async with asyncio.timeout(PROMPT), asyncio.TaskGroup() as tasks:
        waiter = tasks.create_task(queue.wait_until_closed(job.id, LONG))
        await asyncio.sleep(0.05)
        await finish(queue, job)

    assert not waiter.result().open


async def test_a_thousand_waiters_share_one_subscription_and_few_connections(queue, redis_client):
    jobs = [a_job(f"job_{number}") for number in range(40)]
    for job in jobs:
        await queue.submit(job)

    async with asyncio.timeout(PROMPT), asyncio.TaskGroup() as tasks:
        waiters = []
        for _ in range(25):
            waiters += [tasks.create_task(queue.wait_until_closed(jobs[n % 40].id, LONG)) for n in range(40)]
            await asyncio.sleep(0.01)
        clients = await redis_client.info("clients")
        subscriptions = await listeners(redis_client)
        for job in jobs:
            await finish(queue, job)

    assert not any(waiter.result().open for waiter in waiters)
    assert clients["connected_clients"] <= 40
    assert subscriptions == 1


async def test_nobody_who_left_is_remembered(queue):
    await queue.submit(a_job())
    await queue.wait_until_closed(JobId("job_1"), 0.01)
    await queue.wait_for_work(HEAVY, 0.01)

    assert not queue._bell._waiting


async def test_waiting_for_work_ends_when_something_is_queued(queue):
    async with asyncio.timeout(PROMPT), asyncio.TaskGroup() as tasks:
        waiter = tasks.create_task(queue.wait_for_work(LIGHT, LONG))
        other = tasks.create_task(queue.wait_for_work(HEAVY, 0.3))
        await asyncio.sleep(0.05)
        assert not waiter.done()
        await queue.submit(a_job())
        await waiter
        assert not other.done()


async def test_waiting_for_work_ends_when_a_picture_hops_or_comes_back(queue):
    job = a_job()
    await queue.submit(job)
    lease = await queue.take(LIGHT, "w1")
    async with asyncio.timeout(PROMPT), asyncio.TaskGroup() as tasks:
        tasks.create_task(queue.wait_for_work(LIGHT, LONG))
        await asyncio.sleep(0.02)
        await queue.release(lease)
    lease = await queue.take(LIGHT, "w1")
    async with asyncio.timeout(PROMPT), asyncio.TaskGroup() as tasks:
        tasks.create_task(queue.wait_for_work(HEAVY, LONG))
        await asyncio.sleep(0.02)
        await queue.conclude(lease, drawn(lease.picture, job.plan, 0.1))


async def test_waiting_for_work_does_not_wait_where_work_lies(queue):
    await queue.submit(a_job())

    async with asyncio.timeout(PROMPT):
        await queue.wait_for_work(LIGHT, LONG)


async def test_waiting_for_work_ends_when_a_worker_died(hasty):
    await hasty.submit(a_job())
    await hasty.take(LIGHT, "dead")

    async with asyncio.timeout(PROMPT):
        await hasty.wait_for_work(LIGHT, LONG)

    assert (await hasty.take(LIGHT, "w2")) is not None


async def test_waiting_for_work_ends_in_time(queue):
    started = time.monotonic()

    await queue.wait_for_work(LIGHT, 0.1)

    assert time.monotonic() - started >= 0.09
