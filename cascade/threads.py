"""Work that blocks, run beside the event loop so that cancelling it really stops it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class StoppedError(Exception):
    """Raised by work that saw its stop flag. Nobody meets it: the cancellation is what the caller sees."""


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """Run `work(stop)` in a thread and return what it returns.

    Cancelling sets `stop`, waits until `work` has returned and only then raises `CancelledError`: until then its
    memory is ours. Cancelling again while waiting changes nothing.
    """
    stop = threading.Event()
    run = contextvars.copy_context().run
    thread = asyncio.get_running_loop().run_in_executor(None, run, work, stop)
    try:
        await asyncio.wait((thread,))
    except asyncio.CancelledError:
        stop.set()
        await _outlast(thread)
        raise
    return thread.result()


async def _outlast(thread: asyncio.Future[T]) -> None:
    """Wait through further cancellations; the first one is on its way to the caller already."""
    while not thread.done():
        try:
            await asyncio.wait((thread,))
        except asyncio.CancelledError:
            continue
    thread.exception()  # whatever the stopped work raised has no reader but must not be logged as forgotten
