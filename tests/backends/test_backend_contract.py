"""What every `Backend` promises, held against each engine on the same tiny folder."""

from __future__ import annotations

import asyncio
import io
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from cascade.errors import GenerationError
from cascade.jobs import Artifact
from cascade.ports import Backend
from cascade.requests import GenerationRequest
from tests.backends.drawing import KINDS, open_backend, stage

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

REQUEST = GenerationRequest(prompt="a red circle above the blue square", width=64, height=48, seed=0)
PATIENCE_S = 20.0


@pytest.fixture(params=KINDS)
def backend(request: pytest.FixtureRequest, guided: Path) -> Backend:
    return open_backend(request.param, guided)


def silent(done: int, total: int) -> None:
    """Progress that nobody reads."""


async def draw(backend: Backend, seed: int = 0, request: GenerationRequest = REQUEST) -> Artifact:
    return await backend.generate(request, stage(), seed, silent)


class Pause:
    """Progress that stops at one step until it may go on."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.seen: list[int] = []
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, done: int, total: int) -> None:
        self.seen.append(done)
        if done == self.step:
            self.reached.set()
            self.go_on.wait(PATIENCE_S)


async def paused(backend: Backend, pause: Pause, steps: int = 8) -> asyncio.Task[Artifact]:
    task = asyncio.create_task(backend.generate(REQUEST, stage(steps), 0, pause))
    assert await asyncio.to_thread(pause.reached.wait, PATIENCE_S)
    return task


async def test_the_same_seed_gives_the_same_bytes(backend: Backend) -> None:
    assert (await draw(backend, 5)).content == (await draw(backend, 5)).content


async def test_another_seed_gives_another_picture(backend: Backend) -> None:
    contents = {(await draw(backend, seed)).content for seed in (0, 1, 2**32 - 1)}

    assert len(contents) == 3


async def test_a_picture_does_not_depend_on_what_was_drawn_before(backend: Backend) -> None:
    forwards = {seed: (await draw(backend, seed)).content for seed in (3, 4, 5)}
    await draw(backend, 9, replace(REQUEST, prompt="a green square", width=32))
    backwards = {seed: (await draw(backend, seed)).content for seed in (5, 4, 3)}

    assert forwards == backwards


async def test_the_artifact_is_a_png_of_the_size_asked_for(backend: Backend) -> None:
    artifact = await draw(backend)
    image = Image.open(io.BytesIO(artifact.content))

    assert (image.format, image.size, image.mode) == ("PNG", (64, 48), "RGB")
    assert (artifact.width, artifact.height) == (64, 48)


async def test_every_step_is_reported_from_the_drawing_thread(backend: Backend) -> None:
    steps: list[tuple[int, int]] = []
    threads = set()

    def listen(done: int, total: int) -> None:
        steps.append((done, total))
        threads.add(threading.get_ident())

    await backend.generate(REQUEST, stage(4), 0, listen)

    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_more_steps_give_another_picture(backend: Backend) -> None:
    few = await backend.generate(REQUEST, stage(2), 0, silent)
    many = await backend.generate(REQUEST, stage(6), 0, silent)

    assert few.content != many.content


async def test_the_stages_guidance_is_used(backend: Backend) -> None:
    weak = await backend.generate(REQUEST, stage(guidance=1.0), 0, silent)
    strong = await backend.generate(REQUEST, stage(guidance=30.0), 0, silent)

    assert weak.content != strong.content


async def test_a_negative_prompt_changes_the_picture(backend: Backend) -> None:
    asked = await draw(backend, request=replace(REQUEST, negative_prompt="a green square"))

    assert asked.content != (await draw(backend)).content


@pytest.mark.parametrize("step", [1, 4, 8])
async def test_a_cancel_stops_within_the_step_and_leaves_the_next_picture_unchanged(
    backend: Backend, step: int
) -> None:
    before = await draw(backend, 1)
    pause = Pause(step)
    task = await paused(backend, pause)

    task.cancel()
    await asyncio.sleep(0.01)
    pause.go_on.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert pause.seen == list(range(1, step + 1))
    assert (await draw(backend, 1)).content == before.content


async def test_a_second_cancel_does_not_free_the_engine_before_its_thread_has_let_go(backend: Backend) -> None:
    before = await draw(backend, 1)
    pause = Pause(2)
    task = await paused(backend, pause)

    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.01)
    following = asyncio.create_task(draw(backend, 1))
    await asyncio.sleep(0.01)
    freed_early = task.done() or following.done()
    pause.go_on.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not freed_early
    assert (await following).content == before.content


async def test_a_caller_who_waits_for_the_engine_can_leave_at_once(backend: Backend) -> None:
    pause = Pause(1)
    running = await paused(backend, pause)
    waiting = asyncio.create_task(draw(backend))
    await asyncio.sleep(0.01)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, 1)
    pause.go_on.set()

    assert (await running).width == 64


async def test_concurrent_calls_are_drawn_one_after_the_other_and_each_correctly(backend: Backend) -> None:
    alone = [(await draw(backend, seed)).content for seed in range(4)]
    drawing: list[int] = []

    async def one(seed: int) -> bytes:
        return (await backend.generate(REQUEST, stage(), seed, lambda done, total: drawing.append(seed))).content

    together = await asyncio.gather(*(one(seed) for seed in range(4)))

    assert together == alone
    assert drawing == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3


@pytest.mark.parametrize(("width", "height"), [(65, 64), (64, 8), (0, 64)])
async def test_a_size_that_would_be_rounded_is_refused(backend: Backend, width: int, height: int) -> None:
    with pytest.raises(GenerationError, match="multiple of 16"):
        await draw(backend, request=replace(REQUEST, width=width, height=height))


async def test_a_prompt_that_is_not_text_fails_the_picture_and_not_the_engine(backend: Backend) -> None:
    before = await draw(backend)

    with pytest.raises(GenerationError):
        await draw(backend, request=replace(REQUEST, prompt="a \ud800 circle"))
    assert (await draw(backend)).content == before.content


async def test_a_prompt_longer_than_the_model_reads_is_cut_without_a_word(
    backend: Backend, capfd: pytest.CaptureFixture[str]
) -> None:
    long = replace(REQUEST, prompt="red circle " * 40)
    longer = replace(REQUEST, prompt="red circle " * 50)

    assert (await draw(backend, request=long)).content == (await draw(backend, request=longer)).content
    assert capfd.readouterr() == ("", "")


async def test_warming_up_changes_nothing(backend: Backend, request: pytest.FixtureRequest, guided: Path) -> None:
    cold = await draw(backend)
    fresh = open_backend(request.node.callspec.params["backend"], guided)
    await fresh.warm_up()

    assert (await draw(fresh)).content == cold.content
