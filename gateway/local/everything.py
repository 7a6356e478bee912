"""What `maquette up` does: own the data folder, start everything, say where to look, and wait for Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Coroutine
from typing import Any

from rich.console import Console

from gateway.compose import load_catalogue, open_rooms
from gateway.local.bootstrap import demo_key_file, ensure_demo
from gateway.local.client import Client
from gateway.local.demo import run_demo
from gateway.local.supervisor import embedded_server, gateway_children, kept_alive, sole_owner
from gateway.settings import Settings

_READY_SECONDS = 60.0


class PortTakenError(RuntimeError):
    """Somebody else listens on the port."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"Port {port} of {host} is taken. Choose another with --port or MAQUETTE_PORT.")


async def run_everything(settings: Settings, *, demo: bool, once: bool) -> int:
    """Run the whole gateway until told to stop, or, with `once`, until the demo is over. Returns the exit code.

    Raises:
        CatalogueError, AlreadyRunningError, EmbeddedServerError, PortTakenError: it can't start; nothing runs on.
    """
    console = Console()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    catalogue = load_catalogue(settings)
    _require_free_port(settings.host, settings.port)
    url = f"http://{settings.host}:{settings.port}"
    pools = {str(pool.name): pool.workers for pool in catalogue.pools.values()}
    with sole_owner(settings.data_dir):
        async with embedded_server(settings), kept_alive(gateway_children(settings, pools)):
            async with open_rooms(settings) as rooms:
                key = await ensure_demo(rooms, settings.data_dir)
            async with Client(url, key) as client:
                if not await _unless(stop, client.wait_until_ready(_READY_SECONDS)):
                    console.print("[bold red]Not every pool has a worker; see the log above.[/]")
                    return 1
                _say_where(console, settings, url, key)
                passed = await _unless(stop, run_demo(client, console, settings.data_dir)) if demo else True
                if once:
                    return 0 if passed else 1
                console.print("Serving. Ctrl-C stops everything.")
                await stop.wait()
    return 0


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
    console.print('  maquette generate "a large red circle on a white background" --seed 1\n', highlight=False)


def _require_free_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise PortTakenError(host, port) from error
