"""`maquette up`: Valkey, HTTP and workers as child processes of one supervisor, and none of them without it.

Children are told by the kernel when the supervisor dies (Linux: PR_SET_PDEATHSIG), so even `kill -9` leaves no orphan.
A child that dies is started again, ever more slowly while it keeps dying.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.local import embedded_valkey
from gateway.local.embedded_valkey import EmbeddedServerError
from gateway.settings import Settings

logger = logging.getLogger(__name__)

_SERVER_SECONDS = 10.0
_GRACE_SECONDS = 8.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_STEADY_SECONDS = 10.0
"""A child that lived this long is restarted at once when it dies."""

_WORKERS_GIVE_WAY = 5
"""Niceness of workers on a machine that they share with HTTP: answers come before drawing."""


class AlreadyRunningError(RuntimeError):
    """Another supervisor owns the data folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"Another `maquette up` is running with the data folder {folder}. Stop it, or set MAQUETTE_DATA_DIR."
        )


class DataFolderError(RuntimeError):
    """The data folder can't be written to."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"The data folder {folder} can't be used: {error.strerror}. Choose another: MAQUETTE_DATA_DIR."
        )


@dataclass(frozen=True, slots=True)
class Child:
    """A process to keep alive.

    Attributes:
        death_signal: what the kernel sends it when the supervisor dies.
        niceness: how much it gives way to the others.
    """

    name: str
    command: Sequence[str]
    death_signal: signal.Signals = signal.SIGKILL
    niceness: int = 0


@contextmanager
def sole_owner(folder: Path) -> Iterator[None]:
    """Own the data folder while inside; the lock goes with the process, however it ends.

    Raises:
        AlreadyRunningError: somebody else owns it.
        DataFolderError: it can't be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        opened = (folder / "up.lock").open("w")
    except OSError as error:
        raise DataFolderError(folder, error) from error
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunningError(folder) from error
        yield


@asynccontextmanager
async def embedded_server(settings: Settings) -> AsyncIterator[None]:
    """Run the embedded server while inside, unless a Redis is configured. It is kept alive, and stopped last.

    Raises:
        EmbeddedServerError: it does not start.
    """
    if settings.redis_url is not None:
        yield
        return
    socket = settings.socket
    # A killed supervisor's server may still be writing its last second: let it go first.
    if not await embedded_valkey.wait_until(socket, answering=False, seconds=_SERVER_SECONDS):
        raise EmbeddedServerError(f"Something answers on {socket} and does not stop.")
    socket.unlink(missing_ok=True)
    child = Child("valkey", embedded_valkey.command(socket, settings.data_dir / "valkey"), signal.SIGTERM)
    async with kept_alive([child]):
        if not await embedded_valkey.wait_until(socket, answering=True, seconds=_SERVER_SECONDS):
            raise EmbeddedServerError(f"The embedded server does not start; see {settings.data_dir}/valkey/valkey.log")
        yield


@asynccontextmanager
async def kept_alive(children: Sequence[Child]) -> AsyncIterator[None]:
    """Keep `children` running while inside, then ask them to stop, and make them."""
    keepers = [asyncio.create_task(_keep(child)) for child in children]
    try:
        yield
    finally:
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)


async def _keep(child: Child) -> None:
    """Start `child` again whenever it ends, until cancelled."""
    clock = asyncio.get_running_loop().time
    pause = _FIRST_PAUSE
    while True:
        started = clock()
        process = await asyncio.create_subprocess_exec(
            *child.command,
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the supervisor alone, which then stops the others in order
            preexec_fn=_prelude(child, os.getpid()),
        )
        try:
            code = await process.wait()
        finally:
            await asyncio.shield(_stop(process))
        pause = _FIRST_PAUSE if clock() - started > _STEADY_SECONDS else min(pause * 2, _LONGEST_PAUSE)
        logger.warning("%s ended (%s); starting it again in %.1f s", child.name, code, pause)
        await asyncio.sleep(pause)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End a process: politely, then not."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _prelude(child: Child, parent: int) -> Callable[[], None]:
    """What a child does before it becomes its program: give way, and ask the kernel to end it with its parent."""
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    set_parent_death_signal = 1

    def prepare() -> None:
        os.nice(child.niceness)
        if libc is not None:
            libc.prctl(set_parent_death_signal, child.death_signal)
            if os.getppid() != parent:  # it died before we asked
                os.kill(os.getpid(), child.death_signal)

    return prepare


def gateway_children(settings: Settings, pools: dict[str, int]) -> list[Child]:
    """The HTTP process and every pool's workers."""
    python = (sys.executable, "-m", "gateway")
    workers = [
        Child(f"worker {pool}#{number}", (*python, "work", "--pool", pool), niceness=_WORKERS_GIVE_WAY)
        for pool, count in pools.items()
        for number in range(count)
    ]
    return [Child("http", (*python, "serve", "--port", str(settings.port), "--host", settings.host)), *workers]
