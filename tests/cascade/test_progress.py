"""What one finished stage leads to, over any path through a plan."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.jobs import Failure, Picture, Status, Verdict
from cascade.progress import after_cancel, after_failure, as_cached
from tests.builders import a_job, a_plan, a_stage, drawn

LOST = Failure("engine_failed", "It did not work.")


@dataclass(frozen=True)
class Run:
    """What befalls one stage."""

    score: float | None
    share: float
    """Of the stage's ceiling that ran."""
    end: str


RUNS = st.builds(
    Run,
    score=st.floats(0, 1) | st.none(),
    share=st.floats(0, 1),
    end=st.sampled_from(["drawn"] * 8 + ["fail", "cancel"]),
)
STAGES = st.builds(
    lambda threshold, predicted, extra: a_stage(threshold=threshold, predicted=predicted, ceiling=predicted + extra),
    st.floats(0, 1),
    st.integers(0, 10_000),
    st.integers(0, 10_000),
)
PLANS = st.lists(STAGES, min_size=1, max_size=5).map(lambda stages: a_plan(*stages))


def climb(plan, runs):
    """A picture's way through `plan` while `runs` befall it."""
    picture = Picture(0, 7)
    for run in runs:
        if picture.status is not Status.WAITING:
            break
        gpu_ms = int(run.share * plan.stages[picture.stage].ceiling_gpu_ms)
        if run.end == "fail":
            picture = after_failure(picture, LOST, gpu_ms=gpu_ms)
        elif run.end == "cancel":
            picture = after_cancel(picture, gpu_ms=gpu_ms)
        else:
            picture = drawn(picture, plan, run.score, gpu_ms)
    return picture


@given(PLANS, st.lists(RUNS, min_size=5, max_size=5))
def test_every_path_ends_within_the_plan(plan, runs):
    assert climb(plan, runs).status is not Status.WAITING


@given(PLANS, st.lists(RUNS, min_size=5, max_size=5))
def test_no_path_through_a_plan_costs_more_than_its_ceiling(plan, runs):
    assert climb(plan, runs).gpu_ms <= plan.ceiling_gpu_ms()


@given(PLANS, st.lists(RUNS, min_size=5, max_size=5))
def test_attempts_are_a_contiguous_run_of_stages_ending_at_the_accepted_one(plan, runs):
    picture = climb(plan, runs)

    assert [attempt.stage for attempt in picture.attempts] == list(range(len(picture.attempts)))
    assert [attempt.variant for attempt in picture.attempts] == [
        s.variant for s in plan.stages[: len(picture.attempts)]
    ]
    assert all(attempt.verdict is Verdict.ESCALATE for attempt in picture.attempts[:-1])
    if picture.status is Status.DONE:
        assert picture.accepted == picture.attempts[-1]
        assert picture.accepted.verdict is Verdict.ACCEPT or picture.failure == LOST
    else:
        assert picture.accepted is None


@given(PLANS, st.lists(RUNS, min_size=5, max_size=5))
def test_only_a_judged_verdict_carries_the_threshold_it_was_taken_with(plan, runs):
    for attempt in climb(plan, runs).attempts:
        judged = attempt.score is not None and not plan.last(attempt.stage)
        assert attempt.threshold == (plan.stages[attempt.stage].threshold if judged else None)


def test_a_rejected_picture_waits_for_the_next_stage():
    picture = drawn(Picture(0, 7), a_plan(), 0.1)

    assert (picture.status, picture.stage, picture.seed) == (Status.WAITING, 1, 7)


def test_an_accepted_picture_is_done_where_it_is():
    picture = drawn(Picture(0, 7), a_plan(), 0.9)

    assert (picture.status, picture.stage) == (Status.DONE, 0)


def test_a_failure_without_any_picture_fails_and_charges_what_ran():
    picture = after_failure(Picture(0, 7), LOST, gpu_ms=30)

    assert (picture.status, picture.failure, picture.gpu_ms) == (Status.FAILED, LOST, 30)


def test_a_failure_of_the_heavier_stage_leaves_the_lighter_picture():
    light = drawn(Picture(0, 7), a_plan(), 0.1, gpu_ms=80)

    picture = after_failure(light, LOST, gpu_ms=30)

    assert (picture.status, picture.accepted, picture.gpu_ms) == (Status.DONE, light.attempts[0], 110)


def test_a_cancelled_picture_charges_what_ran():
    picture = after_cancel(drawn(Picture(0, 7), a_plan(), 0.1, gpu_ms=80), gpu_ms=30)

    assert (picture.status, picture.accepted, picture.gpu_ms) == (Status.CANCELLED, None, 110)


def test_another_request_gets_the_same_attempts_at_no_cost():
    picture = as_cached(drawn(Picture(0, 7), a_plan(), 0.9, gpu_ms=80))

    assert picture.gpu_ms == 0
    assert picture.accepted.cached


@given(st.integers(0, 1_000), st.integers(0, 1_000))
def test_a_job_never_charges_above_its_hold(first, second):
    job = a_job(n=2)
    for picture, gpu_ms in zip(job.pictures, (first, second), strict=True):
        job = job.with_picture(drawn(picture, job.plan, 0.9, gpu_ms * 10))

    assert job.charge_gpu_ms == min((first + second) * 10, job.hold_gpu_ms)
    assert not job.open


@pytest.mark.parametrize(
    ("stages", "complaint"),
    [
        ((), "no stage"),
        ((a_stage(discriminator=None), a_stage("heavy")), "needs a discriminator"),
    ],
)
def test_a_plan_that_could_not_run_is_refused(stages, complaint):
    from cascade.plans import CascadePlan, ModelName  # noqa: PLC0415 - `a_plan` would fill an empty one

    with pytest.raises(ValueError, match=complaint):
        CascadePlan(ModelName("m"), stages)


@pytest.mark.parametrize(
    "fields", [{"threshold": 1.1}, {"threshold": float("nan")}, {"steps": 0}, {"predicted": 2, "ceiling": 1}]
)
def test_a_stage_out_of_range_is_refused(fields):
    with pytest.raises(ValueError):
        a_stage(**fields)
