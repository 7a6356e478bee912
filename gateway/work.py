"""`maquette work`: a worker process for one pool."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket

from gateway.compose import open_rooms
from gateway.compose_engine import open_engine
from gateway.settings import Settings
from gateway.sweeping import keep_sweeping
from gateway.worker import work


class UnknownPoolError(ValueError):
    """The catalogue has no such pool."""

    def __init__(self, known: tuple[str, ...]) -> None:
        super().__init__(f"The catalogue has no such pool. It has: {', '.join(known)}.")


async def work_until_stopped(settings: Settings, pool_name: str) -> None:
    """Load the pool's models and serve its queue until SIGTERM or SIGINT.

    Raises:
        UnknownPoolError: no such pool.
        ModelFilesError: a model can't be loaded.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_rooms(settings) as rooms:
        pool = next((pool for pool in rooms.catalogue.pools.values() if pool.name == pool_name), None)
        if pool is None:
            raise UnknownPoolError(tuple(rooms.catalogue.pools))
        engine = open_engine(rooms.catalogue, pool)
        await engine.backend.warm_up()
        sweeping = asyncio.create_task(keep_sweeping(rooms))
        await work(rooms, engine, f"{socket.gethostname()}:{os.getpid()}", stop)
        sweeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeping
