"""`in_thread` never lets go of a thread that still works."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from cascade.threads import StoppedError, in_thread

PATIENCE_S = 5.0


class Worker:
    """Work that goes on until it may let go."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.may_let_go = threading.Event()
        self.saw_stop = threading.Event()
        self.returned = threading.Event()

    def __call__(self, stop: threading.Event) -> str:
        self.started.set()
        if stop.wait(PATIENCE_S):
            self.saw_stop.set()
        self.may_let_go.wait(PATIENCE_S)
        self.returned.set()
        raise StoppedError


async def started(worker: Worker) -> asyncio.Task[str]:
    task = asyncio.create_task(in_thread(worker))
    await asyncio.to_thread(worker.started.wait, PATIENCE_S)
    return task


async def test_the_result_of_the_work_is_returned() -> None:
    assert await in_thread(lambda stop: stop.is_set()) is False


async def test_an_error_of_the_work_reaches_the_caller() -> None:
    def fail(stop: threading.Event) -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        await in_thread(fail)


async def test_the_work_sees_the_callers_context() -> None:
    trace = contextvars.ContextVar("trace", default="none")
    trace.set("mine")

    assert await in_thread(lambda stop: trace.get()) == "mine"


async def test_cancelling_sets_stop_and_waits_until_the_work_has_returned() -> None:
    worker = Worker()
    task = await started(worker)

    task.cancel()
    await asyncio.to_thread(worker.saw_stop.wait, PATIENCE_S)
    done_before_letting_go = task.done()
    worker.may_let_go.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not done_before_letting_go
    assert worker.returned.is_set()


async def test_cancelling_again_does_not_abandon_the_work() -> None:
    worker = Worker()
    task = await started(worker)

    task.cancel()
    await asyncio.to_thread(worker.saw_stop.wait, PATIENCE_S)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.01)
    done_before_letting_go = task.done()
    worker.may_let_go.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not done_before_letting_go
    assert worker.returned.is_set()


async def test_a_time_out_waits_for_the_work_too() -> None:
    worker = Worker()
    worker.may_let_go.set()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await in_thread(worker)

    assert worker.returned.is_set()


async def test_an_error_of_stopped_work_is_not_reported_as_forgotten() -> None:
    reports: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reports.append(context))
    worker = Worker()
    worker.may_let_go.set()
    task = await started(worker)

    task.cancel()
    await asyncio.wait((task,))
    await asyncio.sleep(0)

    assert reports == []
