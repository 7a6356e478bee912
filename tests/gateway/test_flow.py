"""The story of a request, told on real queues and books."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace

import pytest
from PIL import Image

from cascade.catalogue import Model, Step
from cascade.jobs import JobId, Verdict
from cascade.requests import GenerationRequest
from gateway import flow
from gateway.failures import DeadlineExceededError, GenerationFailedError, NoWorkerError
from gateway.flow import Ask
from gateway.rooms import Limits
from gateway.settlement import sweep
from tenants.errors import HeldBackError, NeverFitsError, QuotaExceededError


def ask(tenant, prompt="a red circle", *, seed=7, n=1, quality="auto", model="both", cache=True):
    request = GenerationRequest(prompt, 64, 64, seed, n)
    return Ask(tenant, model, quality, request, read_cache=cache, write_cache=cache)


async def assert_books_closed(rooms, tenant, used):
    balance = await rooms.quota.balance(tenant.id)
    assert (balance.used_gpu_ms, balance.held_gpu_ms) == (used, 0)


async def test_a_good_light_picture_is_kept_and_paid_alone(rooms, workers, acme):
    answer = await flow.generate(rooms, ask(acme))

    [attempt] = answer.job.pictures[0].attempts
    assert (attempt.variant, attempt.verdict) == ("light", Verdict.ACCEPT)
    assert 0 < answer.charged_gpu_ms == attempt.gpu_ms <= answer.held_gpu_ms
    await assert_books_closed(rooms, acme, answer.charged_gpu_ms)


async def test_a_hard_prompt_escalates_and_pays_for_both_stages(rooms, workers, acme):
    answer = await flow.generate(rooms, ask(acme, "a hard circle"))

    light, heavy = answer.job.pictures[0].attempts
    assert (light.variant, light.verdict, heavy.variant) == ("light", Verdict.ESCALATE, "heavy")
    assert (light.score.value, light.threshold) == (0.2, 0.5)
    assert answer.charged_gpu_ms == light.gpu_ms + heavy.gpu_ms
    await assert_books_closed(rooms, acme, answer.charged_gpu_ms)


async def test_the_heavy_picture_has_the_light_ones_seed(rooms, workers, painters, acme):
    await flow.generate(rooms, ask(acme, "a hard circle", seed=41))

    assert painters["light"].drawn == painters["heavy"].drawn == {("a hard circle", 41): 1}


async def test_the_same_seed_comes_from_the_cache_and_costs_nothing(rooms, workers, acme):
    first = await flow.generate(rooms, ask(acme, "a hard circle"))
    second = await flow.generate(rooms, ask(acme, "a hard circle"))

    assert [a.artifact for a in second.job.pictures[0].attempts] == [a.artifact for a in first.job.pictures[0].attempts]
    assert (second.held_gpu_ms, second.charged_gpu_ms) == (0, 0)
    assert all(attempt.cached for attempt in second.job.pictures[0].attempts)
    await assert_books_closed(rooms, acme, first.charged_gpu_ms)


async def test_nothing_cached_is_shared_across_tenants(rooms, workers, painters, acme, zenith):
    first = await flow.generate(rooms, ask(acme))
    second = await flow.generate(rooms, ask(zenith))

    assert painters["light"].drawn[("a red circle", 7)] == 2
    assert second.charged_gpu_ms > 0
    assert second.job.pictures[0].accepted.artifact != first.job.pictures[0].accepted.artifact


async def test_a_cached_light_picture_is_judged_anew(rooms, workers, acme, catalogue):
    """Kept below the old threshold, it climbs once the operator asks for more."""
    await flow.generate(rooms, ask(acme))
    stricter = _with_threshold(catalogue, 0.95)

    answer = await flow.generate(_replaced(rooms, catalogue=stricter), ask(acme))

    light, heavy = answer.job.pictures[0].attempts
    assert (light.cached, light.gpu_ms, light.verdict) == (True, 0, Verdict.ESCALATE)
    assert (heavy.cached, heavy.variant) == (False, "heavy")
    assert answer.held_gpu_ms == answer.job.plan.ceiling_gpu_ms(1)


async def test_four_pictures_are_the_four_single_ones(rooms, workers, acme):
    together = await flow.generate(rooms, ask(acme, n=4, seed=10, cache=False))
    alone = [await flow.generate(rooms, ask(acme, seed=10 + i, cache=False)) for i in range(4)]

    assert [p.accepted.artifact for p in together.job.pictures] == [a.job.pictures[0].accepted.artifact for a in alone]


async def test_pictures_drawn_singly_are_cached_for_a_request_of_several(rooms, workers, acme):
    await flow.generate(rooms, ask(acme, seed=11))

    answer = await flow.generate(rooms, ask(acme, seed=10, n=3))

    assert [picture.attempts[0].cached for picture in answer.job.pictures] == [False, True, False]
    assert answer.held_gpu_ms == 2 * answer.job.plan.ceiling_gpu_ms()


async def test_identical_requests_in_flight_are_drawn_and_paid_once(rooms, workers, painters, acme):
    answers = await asyncio.gather(*(flow.generate(rooms, ask(acme, n=2)) for _ in range(12)))

    assert painters["light"].drawn == {("a red circle", 7): 1, ("a red circle", 8): 1}
    assert len({answer.job.pictures[0].accepted.artifact for answer in answers}) == 1
    assert sum(answer.charged_gpu_ms > 0 for answer in answers) == 1


class JustQueued:
    """A queue that did not know the job when asked to wait for it, and finds it open a moment later."""

    def __init__(self, job):
        self.job = job

    async def wait_until_closed(self, job_id, seconds):
        return self.job


async def test_a_follower_whose_leader_was_queued_only_just_now_asks_again(rooms, acme):
    asked = ask(acme)
    job = flow._new_job(rooms, asked, flow.plan_for(rooms.catalogue, "both", "auto", asked.request))

    assert await flow._follow(_replaced(rooms, queue=JustQueued(job)), job.id) is None


async def test_five_flights_of_twelve_are_paid_five_times(rooms, workers, acme):
    answers = await asyncio.gather(*(flow.generate(rooms, ask(acme, seed=number % 5)) for number in range(60)))

    assert sum(answer.charged_gpu_ms > 0 for answer in answers) == 5


async def test_a_flight_that_lands_before_another_takes_off_is_not_drawn_again(rooms, workers, painters, acme):
    """A second request has looked into the cache before the first was drawn, and leads after it has landed."""
    second = ask(acme)
    job = flow._new_job(rooms, second, flow.plan_for(rooms.catalogue, "both", "auto", second.request))
    first = await flow.generate(rooms, ask(acme))

    answer = await flow._lead(rooms, second, job)

    assert (first.charged_gpu_ms > 0, answer.charged_gpu_ms) == (True, 0)
    assert painters["light"].drawn[("a red circle", 7)] == 1


async def test_a_cached_attempt_whose_picture_is_gone_is_drawn_again(rooms, workers, painters, acme, tmp_path):
    await flow.generate(rooms, ask(acme))
    for path in tmp_path.rglob("*.png"):
        path.unlink()

    again = await flow.generate(rooms, ask(acme))

    assert painters["light"].drawn[("a red circle", 7)] == 2
    assert await rooms.artifacts.get(again.job.pictures[0].accepted.artifact)


async def test_a_request_that_may_not_use_the_cache_is_drawn_each_time(rooms, workers, painters, acme):
    await flow.generate(rooms, ask(acme, cache=False))
    await flow.generate(rooms, ask(acme, cache=False))

    assert painters["light"].drawn[("a red circle", 7)] == 2


async def test_a_heavy_stage_that_fails_leaves_the_light_picture(rooms, workers, painters, acme):
    painters["light"].breaks = False

    answer = await flow.generate(rooms, ask(acme, "a broken hard circle"))

    [picture] = answer.job.pictures
    assert picture.accepted.variant == "light"
    assert picture.failure.code == "generation_failed"
    assert answer.charged_gpu_ms == picture.gpu_ms > picture.accepted.gpu_ms


async def test_a_picture_that_fails_everywhere_is_an_error_and_pays_what_ran(rooms, workers, acme):
    with pytest.raises(GenerationFailedError, match="engine failed"):
        await flow.generate(rooms, ask(acme, "a broken circle"))

    balance = await rooms.quota.balance(acme.id)
    assert balance.used_gpu_ms > 0
    assert balance.held_gpu_ms == 0


async def test_without_a_worker_nothing_is_held(rooms, acme):
    with pytest.raises(NoWorkerError, match="light, heavy"):
        await flow.generate(rooms, ask(acme))

    await assert_books_closed(rooms, acme, 0)


@pytest.mark.parametrize(
    ("limit", "held", "error"), [(10, 0, NeverFitsError), (20_000, 10_000, HeldBackError), (20_000, 0, None)]
)
async def test_a_budget_refuses_what_it_cannot_hold(rooms, workers, acme, limit, held, error):
    await rooms.quota.grant(acme.id, limit)
    if held:
        await rooms.quota.reserve(acme.id, "other", held, 60)
    if error is None:
        await flow.generate(rooms, ask(acme))
        return
    with pytest.raises(error):
        await flow.generate(rooms, ask(acme))
    assert (await rooms.quota.balance(acme.id)).used_gpu_ms == 0


async def test_an_exhausted_budget_still_gets_what_it_paid_for(rooms, workers, acme):
    first = await flow.generate(rooms, ask(acme))
    await rooms.quota.grant(acme.id, first.charged_gpu_ms)

    again = await flow.generate(rooms, ask(acme))

    assert again.charged_gpu_ms == 0
    with pytest.raises(QuotaExceededError):
        await flow.generate(rooms, ask(acme, seed=8))


async def test_what_takes_too_long_is_cancelled_and_settled(rooms, workers, painters, acme):
    hasty = _replaced(rooms, limits=Limits(sync_seconds=0.3, lease_seconds=5, link_seconds=60))

    with pytest.raises(DeadlineExceededError):
        await flow.generate(hasty, ask(acme, "a slow circle"))

    assert painters["light"].cancelled == 1
    balance = await rooms.quota.balance(acme.id)
    assert balance.held_gpu_ms == 0
    assert balance.used_gpu_ms >= 200


async def test_a_hold_whose_job_was_never_queued_comes_back(rooms, acme):
    await rooms.quota.reserve(acme.id, "job_lost", 1000, 0.05)
    await asyncio.sleep(0.1)

    assert await sweep(rooms) == 1
    await assert_books_closed(rooms, acme, 0)


async def test_a_job_whose_gateway_died_is_settled_by_the_sweeper(rooms, start_workers, acme):
    """The HTTP process dies between queueing and settling: the worker closes the hold, or else the sweeper does."""
    waiting = asyncio.create_task(flow.generate(rooms, ask(acme)))
    async with start_workers("light", "heavy"):
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        for _ in range(100):
            await sweep(rooms)
            balance = await rooms.quota.balance(acme.id)
            if balance.used_gpu_ms and not balance.held_gpu_ms:
                break
            await asyncio.sleep(0.05)

    assert balance.held_gpu_ms == 0
    assert balance.used_gpu_ms > 0


async def test_what_is_stored_is_the_picture(rooms, workers, acme):
    answer = await flow.generate(rooms, ask(acme))

    content = await rooms.artifacts.get(answer.job.pictures[0].accepted.artifact)

    with Image.open(io.BytesIO(content)) as picture:
        assert picture.size == (64, 64)
    assert await rooms.queue.find(JobId(answer.job.id)) == answer.job


def _replaced(rooms, **changes):
    return replace(rooms, **changes)


def _with_threshold(catalogue, threshold):
    steps = (Step("light", "judge", threshold), Step("heavy", None, 0.0))
    return replace(catalogue, models={**catalogue.models, "both": Model("both", {"auto": steps})})
