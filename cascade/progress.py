"""What one finished stage leads to: a picture's next self. Pure, so it can be replayed and simulated."""

from __future__ import annotations

from dataclasses import replace

from cascade.deferral import decide
from cascade.jobs import ArtifactId, Attempt, Failure, Picture, Score, Status, Verdict
from cascade.plans import CascadePlan


def after_stage(
    picture: Picture,
    plan: CascadePlan,
    artifact: ArtifactId,
    score: Score | None,
    *,
    gpu_ms: int,
    cached: bool,
) -> Picture:
    """`picture` after its stage drew `artifact`: done if accepted, else waiting for the next stage."""
    stage = plan.stages[picture.stage]
    last = plan.last(picture.stage)
    verdict = decide(score, stage, last=last)
    attempt = Attempt(
        stage=picture.stage,
        variant=stage.variant,
        steps=stage.steps,
        artifact=artifact,
        score=score,
        threshold=None if score is None or last else stage.threshold,
        verdict=verdict,
        gpu_ms=gpu_ms,
        cached=cached,
    )
    attempts = (*picture.attempts, attempt)
    if verdict is Verdict.ACCEPT:
        return replace(picture, attempts=attempts, status=Status.DONE)
    return replace(picture, attempts=attempts, stage=picture.stage + 1)


def after_failure(picture: Picture, failure: Failure, *, gpu_ms: int) -> Picture:
    """`picture` after its stage failed having run for `gpu_ms`.

    A heavier stage that fails does not take away what a lighter one drew: its last picture is the answer.
    """
    wasted = picture.wasted_gpu_ms + gpu_ms
    status = Status.DONE if picture.attempts else Status.FAILED
    return replace(picture, status=status, failure=failure, wasted_gpu_ms=wasted)


def after_cancel(picture: Picture, *, gpu_ms: int) -> Picture:
    """`picture` after its caller gave it up; what ran is still charged."""
    return replace(picture, status=Status.CANCELLED, wasted_gpu_ms=picture.wasted_gpu_ms + gpu_ms)


def as_cached(picture: Picture) -> Picture:
    """`picture` as another request gets it: the same attempts, at no cost."""
    attempts = tuple(replace(attempt, gpu_ms=0, cached=True) for attempt in picture.attempts)
    return replace(picture, attempts=attempts, wasted_gpu_ms=0)
