"""From settings to rooms: names every adapter that a process without models needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cascade.adapters.obstore_artifacts import open_folder
from cascade.adapters.redis_attempts import RedisAttemptCache
from cascade.adapters.redis_client import open_client
from cascade.adapters.redis_queue import QueueRules, open_job_queue
from gateway.catalogue_file import load_configured
from gateway.rooms import Limits, Rooms
from gateway.secret import installation_secret
from gateway.settings import Settings
from gateway.system_clock import SystemClock
from tenants.adapters.redis_directory import RedisDirectory
from tenants.adapters.redis_quota import RedisQuota

_BEAT_SECONDS = 15.0
"""A pool whose worker was replaced within this still counts as served."""


@asynccontextmanager
async def open_rooms(settings: Settings) -> AsyncIterator[Rooms]:
    """The wired rooms; connections close in reverse.

    Raises:
        CatalogueError, WeakSecretError: the configuration can't be used.
    """
    catalogue, secret = load_configured(settings), installation_secret(settings)
    rules = QueueRules(
        lease_seconds=settings.lease_seconds, keep_seconds=settings.retain_seconds, beat_seconds=_BEAT_SECONDS
    )
    client = open_client(settings.redis_address)
    try:
        async with open_job_queue(client, rules) as queue:
            yield Rooms(
                catalogue=catalogue,
                queue=queue,
                attempts=RedisAttemptCache(
                    client, keep_seconds=settings.cache_seconds, flight_seconds=settings.sync_seconds
                ),
                artifacts=open_folder(settings.data_dir / "artifacts", secret),
                directory=RedisDirectory(client),
                quota=RedisQuota(client),
                clock=SystemClock(),
                secret=secret,
                limits=Limits(settings.sync_seconds, settings.lease_seconds, settings.link_seconds),
            )
    finally:
        await client.aclose()
