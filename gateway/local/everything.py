"""What `maquette up` does: own the data folder, start everything, say where to look, and wait for Ctrl-C.

The children start first; what this process needs to greet people is imported while they do.
"""

from __future__ import annotations

import asyncio
import os
import signal

from gateway.catalogue_file import load_configured
from gateway.local.ports import fault_of_binding
from gateway.local.supervisor import embedded_server, gateway_children, kept_alive, sole_owner
from gateway.settings import Settings


class PortTakenError(RuntimeError):
    """Somebody else listens on the port, or the address is not this machine's."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"Cannot listen on port {port} of {host}: {reason}. Choose others with --port and --host.")


async def run_everything(settings: Settings, *, demo: bool, once: bool) -> int:
    """Run the whole gateway until told to stop, or, with `once`, until the demo is over. Returns the exit code.

    Raises:
        CatalogueError, AlreadyRunningError, EmbeddedServerError, PortTakenError: it can't start; nothing runs on.
    """
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    catalogue = load_configured(settings)
    _require_free_port(settings.host, settings.port)
    pools = {str(pool.name): pool.workers for pool in catalogue.pools.values()}
    with sole_owner(settings.data_dir):
        async with embedded_server(settings), kept_alive(gateway_children(settings, pools)):
            from gateway.local.welcome import welcome

            welcomed = await welcome(settings, stop, demo=demo, once=once)
            if once or not welcomed:
                return 0 if welcomed else 1
            await stop.wait()
    return 0


def _require_free_port(host: str, port: int) -> None:
    fault = fault_of_binding(host, port)
    if fault is None:
        raise PortTakenError(host, port, "the host has no address")
    if fault:
        raise PortTakenError(host, port, os.strerror(fault))
