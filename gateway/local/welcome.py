"""The first minute of `maquette up`: wait until it serves, say where, and show what it does."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Coroutine
from typing import Any

from rich.console import Console

from gateway.compose import open_rooms
from gateway.local.bootstrap import demo_key_file, ensure_demo
from gateway.local.client import Client
from gateway.local.demo import run_demo
from gateway.settings import Settings

_READY_SECONDS = 60.0


async def welcome(settings: Settings, stop: asyncio.Event, *, demo: bool, once: bool) -> bool:
    """Greet whoever started the gateway. Returns whether every pool is served and the demo, if asked for, went well."""
    console = Console()
    url = f"http://{settings.host}:{settings.port}"
    async with open_rooms(settings) as rooms:
        key = await ensure_demo(rooms, settings.data_dir)
    async with Client(url, key) as client:
        if not await _unless(stop, client.wait_until_ready(_READY_SECONDS)):
            if not stop.is_set():
                console.print("[bold red]Not every pool has a worker; see the log above.[/]")
            return False
        _say_where(console, settings, url, key)
        if demo and not await _unless(stop, run_demo(client, console, settings.data_dir)):
            return False
    console.print("That was the demo." if once else "Serving. Ctrl-C stops everything.")
    return True


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, bool]) -> bool:
    """What `work` returns, or `False` if `stop` comes first."""
    task = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not task.done():
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return False
    return task.result()


def _say_where(console: Console, settings: Settings, url: str, key: str) -> None:
    console.print(f"\n[bold]Maquette is up.[/] Page: [link={url}/#key={key}]{url}/#key={key}[/link]", soft_wrap=True)
    console.print(f"API: {url}/v1   metrics: {url}/metrics   ready: {url}/readyz")
    console.print(f"The demo tenant's key lies in {demo_key_file(settings.data_dir)}. Draw something:")
    console.print(f'  {sys.argv[0]} generate "a large red circle on a white background" --seed 1\n', highlight=False)
