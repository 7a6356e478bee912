"""What a queue promises about leases: fencing, redelivery, release and cancellation."""

from __future__ import annotations

import asyncio

import pytest

from cascade.errors import StaleLeaseError
from cascade.jobs import JobId, Status
from cascade.ports import Standing
from tests.builders import HEAVY, LIGHT, a_job, drawn, failed

LONGER_THAN_A_LEASE = 0.12


async def refused(queue, lease):
    """That a lost lease opens no door, and that nothing is written through one."""
    before = await queue.find(lease.job.id)
    with pytest.raises(StaleLeaseError):
        await queue.renew(lease)
    for picture in (drawn(lease.picture, lease.job.plan, 0.9), drawn(lease.picture, lease.job.plan, 0.1)):
        with pytest.raises(StaleLeaseError):
            await queue.conclude(lease, picture)
    await queue.release(lease)
    return await queue.find(lease.job.id) == before


async def abandoned(hasty, pool=LIGHT):
    """A lease whose worker died."""
    lease = await hasty.take(pool, "dead")
    await asyncio.sleep(LONGER_THAN_A_LEASE)
    return lease


async def test_an_expired_lease_is_refused_even_before_another_has_it(hasty):
    await hasty.submit(a_job())
    lease = await abandoned(hasty)

    assert await refused(hasty, lease)


async def test_a_lease_that_was_given_to_another_is_refused_and_disturbs_nobody(hasty, queue):
    await hasty.submit(a_job(n=2))
    lost = await abandoned(hasty)
    again = await queue.take(LIGHT, "w2")

    assert (again.index, again.picture) == (lost.index, lost.picture)
    assert again.epoch > lost.epoch
    assert await refused(queue, lost)
    assert await queue.renew(again) is Standing.HELD
    assert (await queue.conclude(again, drawn(again.picture, again.job.plan, 0.9))).pictures[0].accepted


async def test_a_concluded_lease_is_spent(queue):
    await queue.submit(a_job())
    lease = await queue.take(LIGHT, "w1")
    await queue.conclude(lease, drawn(lease.picture, lease.job.plan, 0.1))

    assert await refused(queue, lease)
    assert (await queue.census([HEAVY]))[0].queued == 1


async def test_renewing_moves_the_leases_end(queue, redis_client):
    await queue.submit(a_job())
    lease = await queue.take(LIGHT, "w1")
    ((_, before),) = await redis_client.zrange("mq:{work}:leases", 0, -1, withscores=True)
    await asyncio.sleep(0.02)

    assert await queue.renew(lease) is Standing.HELD

    ((_, after),) = await redis_client.zrange("mq:{work}:leases", 0, -1, withscores=True)
    assert after >= before + 10


async def test_a_released_picture_goes_back_to_its_place_unchanged(queue):
    await queue.submit(a_job(n=2))
    lease = await queue.take(LIGHT, "w1")

    await queue.release(lease)

    assert (await queue.take(LIGHT, "w2")).picture == lease.picture
    assert await refused(queue, lease)


async def test_releasing_is_not_counted_as_a_death(hasty, queue):
    await hasty.submit(a_job())
    for _ in range(8):
        await queue.release(await queue.take(LIGHT, "w1"))
    await abandoned(hasty)

    assert (await hasty.take(LIGHT, "w1")) is not None


async def test_a_picture_that_kills_its_workers_is_given_up(hasty):
    await hasty.submit(a_job(n=1))
    for _ in range(3):  # the first delivery and the two redeliveries that `HASTY` allows
        assert await abandoned(hasty) is not None

    assert await hasty.take(LIGHT, "w9") is None

    job = await hasty.find(JobId("job_1"))
    assert job.pictures[0].status is Status.FAILED
    assert job.pictures[0].failure.code == "worker_lost"
    assert await hasty.unsettled(10) == (job.id,)


async def test_a_lighter_picture_survives_the_death_of_the_heavier_stages_workers(hasty, queue):
    job = a_job()
    await queue.submit(job)
    lease = await queue.take(LIGHT, "w1")
    await queue.conclude(lease, drawn(lease.picture, job.plan, 0.1))
    for _ in range(3):
        assert await abandoned(hasty, HEAVY) is not None

    assert await hasty.unsettled(10) == (job.id,)  # also looks for the dead, though nobody takes any more

    picture = (await hasty.find(job.id)).pictures[0]
    assert picture.status is Status.DONE
    assert (picture.accepted.variant, picture.failure.code) == ("shapes-light", "worker_lost")


async def test_the_dead_of_one_pool_are_found_by_workers_of_another(hasty):
    await hasty.submit(a_job())
    await abandoned(hasty)

    await hasty.take(HEAVY, "w2")

    (state,) = await hasty.census([LIGHT])
    assert (state.queued, state.running) == (1, 0)


async def test_cancelling_closes_what_waits_at_once(queue):
    job = a_job(n=2)
    await queue.submit(job)

    await queue.cancel(job.id)
    await queue.cancel(job.id)

    after = await queue.find(job.id)
    assert [picture.status for picture in after.pictures] == [Status.CANCELLED] * 2
    assert await queue.take(LIGHT, "w1") is None
    assert await queue.unsettled(10) == (job.id,)


async def test_cancelling_asks_a_running_worker_to_stop_and_waits_for_its_conclusion(queue):
    job = a_job(n=3)
    await queue.submit(job)
    concluded = await queue.take(LIGHT, "w1")
    await queue.conclude(concluded, drawn(concluded.picture, job.plan, 0.9))
    running = await queue.take(LIGHT, "w1")

    await queue.cancel(job.id)

    between = await queue.find(job.id)
    assert [p.status for p in between.pictures] == [Status.DONE, Status.WAITING, Status.CANCELLED]
    assert await queue.unsettled(10) == ()
    assert await queue.renew(running) is Standing.CANCELLED
    assert await queue.renew(running) is Standing.CANCELLED
    after = await queue.conclude(running, failed(running.picture))
    assert not after.open
    assert await queue.unsettled(10) == (job.id,)


async def test_a_picture_that_would_climb_after_the_cancellation_is_cancelled_with_what_it_drew(queue):
    job = a_job()
    await queue.submit(job)
    lease = await queue.take(LIGHT, "w1")
    await queue.cancel(job.id)

    after = await queue.conclude(lease, drawn(lease.picture, job.plan, 0.1, gpu_ms=80))

    assert (after.pictures[0].status, after.gpu_ms) == (Status.CANCELLED, 80)
    assert await queue.take(HEAVY, "w2") is None


async def test_a_cancelled_picture_that_is_released_is_not_queued_again(queue):
    await queue.submit(a_job())
    lease = await queue.take(LIGHT, "w1")
    await queue.cancel(lease.job.id)

    await queue.release(lease)

    assert (await queue.find(lease.job.id)).pictures[0].status is Status.CANCELLED
    assert await queue.take(LIGHT, "w2") is None


async def test_a_cancelled_job_whose_worker_dies_is_cancelled_and_not_redelivered(hasty):
    await hasty.submit(a_job())
    lease = await hasty.take(LIGHT, "dead")
    await hasty.cancel(lease.job.id)
    await asyncio.sleep(LONGER_THAN_A_LEASE)

    assert await hasty.take(LIGHT, "w2") is None

    assert (await hasty.find(lease.job.id)).pictures[0].status is Status.CANCELLED
    assert await refused(hasty, lease)


async def test_a_job_whose_worker_is_dead_already_is_cancelled_at_once(hasty):
    await hasty.submit(a_job())
    lease = await abandoned(hasty)

    await hasty.cancel(lease.job.id)

    assert not (await hasty.find(lease.job.id)).open
    assert await hasty.take(LIGHT, "w2") is None


async def test_cancelling_a_picture_that_hopped_takes_it_out_of_the_heavier_queue(queue):
    job = a_job()
    await queue.submit(job)
    lease = await queue.take(LIGHT, "w1")
    await queue.conclude(lease, drawn(lease.picture, job.plan, 0.1))

    await queue.cancel(job.id)

    assert await queue.take(HEAVY, "w1") is None
    assert (await queue.find(job.id)).pictures[0].attempts


async def test_cancelling_a_closed_or_unknown_job_changes_nothing(queue):
    job = a_job()
    await queue.submit(job)
    lease = await queue.take(LIGHT, "w1")
    closed = await queue.conclude(lease, drawn(lease.picture, job.plan, 0.9))

    await queue.cancel(job.id)
    await queue.cancel(JobId("unknown"))

    assert await queue.find(job.id) == closed
    assert await queue.find(JobId("unknown")) is None
