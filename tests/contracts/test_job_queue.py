"""What a queue promises about jobs, pools and order."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from cascade.adapters.redis_queue import QueueRules
from cascade.jobs import JobId, Picture, Status
from cascade.plans import PoolName
from cascade.ports import PoolState
from tests.builders import ACME, HEAVY, LIGHT, a_job, a_plan, a_stage, drawn, failed


async def test_a_submitted_job_is_found_as_it_was(queue):
    plan = a_plan(a_stage("light", threshold=0.123456789012345), a_stage("heavy", guidance=3.5, discriminator=None))
    job = a_job("job:with:colons", n=3, plan=plan)

    await queue.submit(job)

    assert await queue.find(job.id) == job


async def test_an_unknown_job_is_not_found(queue):
    assert await queue.find(JobId("job_unknown")) is None


async def test_submitting_twice_changes_nothing(queue):
    job = a_job(n=2)
    await queue.submit(job)
    lease = await queue.take(LIGHT, "w1")
    await queue.conclude(lease, drawn(lease.picture, job.plan, 0.9))
    before = await queue.find(job.id)

    await queue.submit(job)

    assert await queue.find(job.id) == before
    assert [state.queued for state in await queue.census([LIGHT])] == [1]


async def test_a_taken_lease_carries_the_job_the_picture_and_its_stage(queue):
    job = a_job(n=2)
    await queue.submit(job)

    lease = await queue.take(LIGHT, "w1")

    assert lease.job == job
    assert (lease.picture, lease.stage, lease.worker) == (job.pictures[0], job.plan.stages[0], "w1")


async def test_an_empty_pool_gives_nothing(queue):
    await queue.submit(a_job())

    assert await queue.take(HEAVY, "w1") is None


async def test_the_earliest_deadline_is_served_first_and_ties_go_by_job_and_picture(queue):
    for name, deadline in [("c", 2_000), ("b", 1_000), ("a", 2_000), ("late", 1_764_000_000_123)]:
        await queue.submit(a_job(name, n=2, deadline_ms=deadline))

    served = [await queue.take(LIGHT, "w1") for _ in range(8)]

    names = [(lease.job.id, lease.index) for lease in served]
    assert names == [(name, index) for name in ("b", "a", "c", "late") for index in (0, 1)]


async def test_pictures_beyond_the_tenth_keep_their_order(queue):
    await queue.submit(a_job(n=12))

    served = [(await queue.take(LIGHT, "w1")).index for _ in range(12)]

    assert served == list(range(12))


async def test_a_picture_is_given_to_one_worker_only(queue):
    await queue.submit(a_job(n=20))

    leases = await asyncio.gather(*(queue.take(LIGHT, f"w{worker}") for worker in range(30)))

    given = [lease for lease in leases if lease is not None]
    assert sorted(lease.index for lease in given) == list(range(20))
    assert len({lease.epoch for lease in given}) == 20


async def test_epochs_grow_with_each_lease(queue):
    await queue.submit(a_job(n=3))
    leases = [await queue.take(LIGHT, "w1") for _ in range(3)]

    epochs = [lease.epoch for lease in leases]

    assert epochs == sorted(set(epochs))


async def test_a_rejected_picture_hops_to_the_next_stages_pool_with_its_attempt(queue):
    job = a_job()
    await queue.submit(job)
    lease = await queue.take(LIGHT, "w1")

    after = await queue.conclude(lease, drawn(lease.picture, job.plan, 0.1))

    assert after == await queue.find(job.id)
    assert after.open
    assert await queue.take(LIGHT, "w1") is None
    hopped = await queue.take(HEAVY, "w2")
    assert hopped.stage == job.plan.stages[1]
    assert [attempt.stage for attempt in hopped.picture.attempts] == [0]


async def test_a_hop_keeps_the_jobs_place_in_the_order(queue):
    plan = a_plan()
    late, early = a_job("late", plan=plan, deadline_ms=9), a_job("early", plan=plan, deadline_ms=1)
    for job in (late, early):
        await queue.submit(job)
    leases = [await queue.take(LIGHT, "w1") for _ in range(2)]
    for lease in reversed(leases):
        await queue.conclude(lease, drawn(lease.picture, plan, 0.1))

    assert [(await queue.take(HEAVY, "w2")).job.id for _ in range(2)] == ["early", "late"]


async def test_a_job_closes_with_its_last_picture(queue):
    job = a_job(n=2)
    await queue.submit(job)
    first, second = [await queue.take(LIGHT, "w1") for _ in range(2)]

    one = await queue.conclude(first, drawn(first.picture, job.plan, 0.9))
    assert one.open
    assert await queue.unsettled(10) == ()

    both = await queue.conclude(second, failed(second.picture))
    assert not both.open
    assert [picture.status for picture in both.pictures] == [Status.DONE, Status.FAILED]
    assert await queue.unsettled(10) == (job.id,)


async def test_conclusions_of_several_workers_do_not_overwrite_each_other(queue):
    job = a_job(n=16)
    await queue.submit(job)
    leases = [await queue.take(LIGHT, f"w{worker}") for worker in range(16)]

    await asyncio.gather(*(queue.conclude(lease, drawn(lease.picture, job.plan, 0.9, gpu_ms=1)) for lease in leases))

    after = await queue.find(job.id)
    assert (after.open, after.gpu_ms) == (False, 16)


async def test_another_picture_than_the_leased_one_is_refused(queue):
    await queue.submit(a_job(n=2))
    lease = await queue.take(LIGHT, "w1")

    with pytest.raises(ValueError, match="picture 0, not 1"):
        await queue.conclude(lease, lease.job.pictures[1])


async def test_pictures_from_the_cache_are_not_queued(queue):
    job = a_job(n=2)
    cached = drawn(job.pictures[0], job.plan, 0.9, gpu_ms=0)
    await queue.submit(job.with_picture(cached))

    lease = await queue.take(LIGHT, "w1")

    assert lease.index == 1
    assert await queue.take(LIGHT, "w1") is None
    closed = await queue.conclude(lease, drawn(lease.picture, job.plan, 0.9))
    assert not closed.open


async def test_a_picture_rejected_from_the_cache_starts_in_its_next_pool(queue):
    job = a_job()
    rejected = drawn(job.pictures[0], job.plan, 0.1, gpu_ms=0)
    await queue.submit(job.with_picture(rejected))

    assert await queue.take(LIGHT, "w1") is None
    assert (await queue.take(HEAVY, "w1")).picture == rejected


async def test_a_job_all_from_the_cache_is_closed_at_once(queue):
    job = a_job()
    await queue.submit(job.with_picture(drawn(job.pictures[0], job.plan, 0.9, gpu_ms=0)))

    closed = await queue.wait_until_closed(job.id, seconds=30)

    assert not closed.open
    assert await queue.unsettled(10) == (job.id,)


async def test_closed_jobs_are_unsettled_oldest_first_until_reported(queue):
    names = ["job_b", "job_a", "job_c"]
    for name in names:
        job = a_job(name)
        await queue.submit(job)
        lease = await queue.take(LIGHT, "w1")
        await queue.conclude(lease, drawn(lease.picture, job.plan, 0.9))
        await asyncio.sleep(0.003)  # another millisecond of the server's clock

    assert list(await queue.unsettled(2)) == names[:2]
    assert list(await queue.unsettled(0)) == []

    await queue.settled(JobId("job_b"))
    await queue.settled(JobId("job_b"))
    assert list(await queue.unsettled(10)) == names[1:]


async def test_a_settled_job_is_found_until_its_time_is_up_and_an_unsettled_one_for_ever(open_queue):
    async with open_queue(QueueRules(keep_seconds=0.05)) as queue:
        for name in ("settled", "unsettled", "open"):
            await queue.submit(a_job(name))
        for _ in range(2):
            await queue.cancel(JobId("settled"))
            await queue.cancel(JobId("unsettled"))
        await queue.settled(JobId("settled"))
        await queue.settled(JobId("open"))  # not closed yet, so there is nothing to report
        await queue.settled(JobId("unknown"))
        await asyncio.sleep(0.3)

        assert await queue.find(JobId("settled")) is None
        assert await queue.find(JobId("unsettled")) is not None
        assert await queue.find(JobId("open")) is not None


async def test_the_census_counts_queued_running_and_live_workers(queue):
    await queue.submit(a_job(n=3))
    await queue.take(LIGHT, "w1")
    for worker in ("w2", "w1", "w1"):
        await queue.beat(LIGHT, worker)

    states = await queue.census([LIGHT, HEAVY])

    assert states == (
        PoolState(LIGHT, queued=2, running=1, workers=("w1", "w2")),
        PoolState(HEAVY, queued=0, running=0, workers=()),
    )


async def test_a_census_of_no_pools_is_empty(queue):
    assert await queue.census([]) == ()


async def test_a_worker_that_stops_beating_is_no_longer_counted(hasty):
    await hasty.beat(LIGHT, "dead")
    await asyncio.sleep(0.12)

    (state,) = await hasty.census([LIGHT])

    assert state.workers == ()


async def test_all_keys_of_the_queue_lie_in_one_slot(queue, redis_client):
    job = a_job(n=3)
    await queue.submit(job)
    lease = await queue.take(LIGHT, "w1")
    await queue.conclude(lease, drawn(lease.picture, job.plan, 0.1))
    await queue.take(LIGHT, "w1")
    await queue.beat(PoolName("{odd} pool"), "w1")
    await queue.cancel(job.id)

    keys = [key async for key in redis_client.scan_iter()]

    assert keys
    assert all(key.startswith("mq:{work}:") for key in keys)


async def test_tenants_and_failures_survive_the_store(queue):
    job = replace(a_job(), pictures=(failed(Picture(0, 2**32 - 1)),))
    await queue.submit(job)

    assert (await queue.find(job.id)).pictures[0].failure.code == "engine_failed"
    assert (await queue.find(job.id)).tenant == ACME
