"""The queue's Lua, held step by step to the pure queue that simulators run."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from cascade.fairness import FairQueue, Task
from cascade.jobs import TenantId
from tests.builders import LIGHT, a_job, a_plan, a_stage

TENANTS = [TenantId("acme"), TenantId("b:{odd} name"), TenantId("zoë")]


def as_task(job):
    return Task(job.deadline_ms, job.id, job.tenant, job.plan.stages[0].predicted_gpu_ms, job.weight)


class Both:
    """The same operations on both queues; what they serve must be the same."""

    def __init__(self, queue, seed):
        self._real, self._model = queue, FairQueue()
        self._rng = random.Random(seed)
        self._count = 0
        self._jobs, self._held = {}, []

    async def step(self):
        await self._rng.choice([self._submit, self._submit, self._take, self._take, self._release, self._cancel])()

    async def drain(self):
        while await self._take():
            pass

    async def _submit(self):
        self._count += 1
        predicted = self._rng.choice([0, 7, 100, 1500])
        plan = a_plan(a_stage("light", predicted=predicted, ceiling=predicted + 10, discriminator=None))
        tenant = self._rng.choice(TENANTS)
        job = a_job(
            f"job_{self._count:04}",
            plan=plan,
            tenant=tenant,
            deadline_ms=self._rng.randrange(5),
            weight=1 + TENANTS.index(tenant),
        )
        self._jobs[job.id] = job
        await self._real.submit(job)
        self._model.put(as_task(job))

    async def _take(self):
        lease, task = await self._real.take(LIGHT, "w1"), self._model.take()
        assert (lease and lease.job.id) == (task and task.name)
        if lease:
            self._held.append(lease)
        assert [state.queued for state in await self._real.census([LIGHT])] == [len(self._model)]
        return lease

    async def _release(self):
        if self._held:
            lease = self._held.pop(self._rng.randrange(len(self._held)))
            await self._real.release(lease)
            self._model.put_back(as_task(lease.job))

    async def _cancel(self):
        held = {lease.job.id for lease in self._held}
        waiting = [name for name in self._jobs if name not in held]
        if waiting:
            job = self._jobs.pop(self._rng.choice(waiting))
            await self._real.cancel(job.id)
            self._model.drop(as_task(job))


@pytest.mark.parametrize("seed", range(6))
async def test_the_scripts_serve_what_the_pure_queue_serves(queue, seed):
    both = Both(queue, seed)

    for _ in range(150):
        await both.step()
    await both.drain()


async def test_a_tenant_that_floods_a_pool_halves_it_with_one_that_does_not(queue):
    plan = a_plan(a_stage("light", predicted=100, discriminator=None))
    for number in range(200):
        await queue.submit(a_job(f"flood_{number:03}", tenant=TenantId("flood"), plan=plan, deadline_ms=0))
    for number in range(20):
        await queue.submit(a_job(f"calm_{number:03}", tenant=TenantId("calm"), plan=plan, deadline_ms=9_999))

    served = Counter([(await queue.take(LIGHT, "w1")).job.tenant for _ in range(40)])

    assert served == {"flood": 20, "calm": 20}


async def test_weights_share_a_pool_out(queue):
    plan = a_plan(a_stage("light", predicted=100, discriminator=None))
    for number in range(40):
        for tenant, weight in (("one", 1), ("three", 3)):
            await queue.submit(a_job(f"{tenant}_{number:03}", tenant=TenantId(tenant), plan=plan, weight=weight))

    served = Counter([(await queue.take(LIGHT, "w1")).job.tenant for _ in range(40)])

    assert abs(served["three"] - 30) <= 1
