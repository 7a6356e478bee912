"""The story of a picture: leases, fencing, stopping."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from cascade.errors import StaleLeaseError
from cascade.jobs import Status
from gateway import flow
from gateway.worker import Engine, serve
from tests.builders import a_job, a_plan, a_stage
from tests.gateway.conftest import LEASE_SECONDS, Judge, Painter


@pytest.fixture
async def job(rooms, acme):
    """One slow picture, queued and held for."""
    plan = a_plan(a_stage("light", discriminator="judge"), a_stage("heavy", discriminator=None))
    job = a_job("job_slow", plan=plan, tenant=acme.id)
    await rooms.quota.reserve(acme.id, job.id, job.hold_gpu_ms, 60)
    await rooms.queue.submit(job)
    return job


class StubbornPainter(Painter):
    """Draws however long its lease is over: a process that was paused and goes on."""

    async def generate(self, request, stage, seed, on_step):
        await self.gate.wait()
        return await super().generate(request, stage, seed, on_step)


async def test_a_worker_that_lost_its_lease_can_neither_store_nor_publish_nor_charge(rooms, job, acme, tmp_path):
    paused = StubbornPainter()
    lease = await rooms.queue.take("light", "paused")
    lease_is_over = asyncio.create_task(
        serve(_deaf(rooms), Engine(rooms.catalogue.pools["light"], paused, {"judge": Judge()}), lease, asyncio.Event())
    )
    await asyncio.sleep(LEASE_SECONDS + 0.2)

    paused.gate.set()
    with pytest.raises(StaleLeaseError):
        await lease_is_over

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    now = await rooms.queue.find(job.id)
    assert now.pictures[0].status is Status.WAITING
    assert now.pictures[0].attempts == ()
    assert (await rooms.quota.balance(acme.id)).used_gpu_ms == 0


async def test_another_worker_draws_what_the_paused_one_lost(rooms, job, start_workers, acme):
    lost = await rooms.queue.take("light", "paused")
    await asyncio.sleep(LEASE_SECONDS + 0.1)

    async with start_workers("light", "heavy"):
        closed = await rooms.queue.wait_until_closed(job.id, 10)

    assert closed.pictures[0].status is Status.DONE
    with pytest.raises(StaleLeaseError):
        await rooms.queue.conclude(lost, closed.pictures[0])


async def test_a_lease_outlives_its_term_while_the_picture_is_drawn(rooms, start_workers, painters, acme):
    request = flow.GenerationRequest("a slow circle", 64, 64, 1)
    asked = flow.Ask(acme, "both", "auto", request, read_cache=False, write_cache=False)
    async with start_workers("light", "heavy"):
        drawing = asyncio.create_task(flow.generate(rooms, asked))
        await asyncio.sleep(3 * LEASE_SECONDS)
        painters["light"].gate.set()
        await drawing

    assert painters["light"].drawn[("a slow circle", 1)] == 1


async def test_a_worker_that_is_stopped_gives_its_picture_back(rooms, job, painters):
    stop = asyncio.Event()
    lease = await rooms.queue.take("light", "stopping")
    painter = Painter()
    engine = Engine(rooms.catalogue.pools["light"], painter, {"judge": Judge()})
    serving = asyncio.create_task(serve(rooms, engine, _slow(lease), stop))
    await asyncio.sleep(0.05)

    stop.set()
    await serving

    assert painter.cancelled == 1
    again = await rooms.queue.take("light", "next")
    assert again.job.id == job.id
    assert again.epoch > lease.epoch


def _slow(lease):
    return replace(lease, job=replace(lease.job, request=replace(lease.job.request, prompt="a slow circle")))


def _deaf(rooms):
    """A worker that is paused does not renew; its first look comes when it wakes."""
    return replace(rooms, limits=replace(rooms.limits, lease_seconds=60))
