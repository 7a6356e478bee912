"""Queues on the session's servers."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from cascade.adapters.redis_queue import QueueRules, open_job_queue

HASTY = QueueRules(lease_seconds=0.06, max_redeliveries=2, beat_seconds=0.06)


@pytest.fixture
async def queue(redis_client):
    """A queue whose leases do not run out during a test."""
    async with open_job_queue(redis_client, QueueRules(lease_seconds=60)) as queue:
        yield queue


@pytest.fixture
async def hasty(redis_client):
    """A queue on the same keys whose leases run out at once, for workers that are about to die."""
    async with open_job_queue(redis_client, HASTY) as queue:
        yield queue


@pytest.fixture
def open_queue(redis_client):
    """Open a further queue on the same keys, as another process would."""

    @asynccontextmanager
    async def opened(rules=None):
        async with open_job_queue(redis_client, rules) as queue:
            yield queue

    return opened
