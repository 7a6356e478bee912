"""`maquette serve`: the HTTP process."""

from __future__ import annotations

import asyncio

import uvicorn

from gateway.app import create_app
from gateway.compose import open_rooms
from gateway.settings import Settings
from gateway.sweeping import keep_sweeping

_GRACE_SECONDS = 5


async def serve(settings: Settings) -> None:
    """Serve HTTP until the process is told to stop."""
    async with open_rooms(settings) as rooms:
        config = uvicorn.Config(
            create_app(rooms, settings.public_url),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        sweeping = asyncio.create_task(keep_sweeping(rooms))
        try:
            await uvicorn.Server(config).serve()
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)
