"""Closing holds: once when a job ends, and again by the sweeper for whatever a crash left open.

Every step is idempotent and the first settle wins, so any process may run any of this at any time.
"""

from __future__ import annotations

from cascade.jobs import Job, JobId
from gateway.rooms import Rooms
from tenants.types import HoldId

HOLD_LEASE_SECONDS = 30.0
"""A hold whose job never reached the queue comes back after this."""

_BATCH = 100


async def settle(rooms: Rooms, job: Job) -> int:
    """Charge a closed job what ran and free the rest. Returns what was charged."""
    charged = await rooms.quota.settle(job.tenant, HoldId(job.id), job.gpu_ms)
    await rooms.queue.settled(job.id)
    return charged


async def sweep(rooms: Rooms) -> int:
    """Settle closed jobs that nobody settled and return holds without a job. Returns how many holds were closed."""
    closed = 0
    for job_id in await rooms.queue.unsettled(_BATCH):
        job = await rooms.queue.find(job_id)
        if job is None:
            await rooms.queue.settled(job_id)
        elif not job.open:
            await settle(rooms, job)
            closed += 1
    for tenant, hold in await rooms.quota.abandoned(_BATCH):
        job = await rooms.queue.find(JobId(hold))
        if job is None:
            await rooms.quota.settle(tenant, hold, 0)
            closed += 1
        elif job.open:
            await rooms.quota.extend(tenant, hold, HOLD_LEASE_SECONDS)
        else:
            await settle(rooms, job)
            closed += 1
    return closed
