"""Words of the domain with everything filled in that a test does not care about."""

from __future__ import annotations

from cascade.jobs import ArtifactId, Failure, Job, JobId, Picture, Score, Status, TenantId
from cascade.plans import CascadePlan, DiscriminatorName, ModelName, PoolName, Stage, VariantName
from cascade.progress import after_stage
from cascade.requests import GenerationRequest

ACME = TenantId("acme")
LIGHT = PoolName("light")
HEAVY = PoolName("heavy")


def a_request(prompt="a red circle", width=64, height=64, seed=7, n=1, **fields):
    return GenerationRequest(prompt=prompt, width=width, height=height, seed=seed, n=n, **fields)


def a_stage(name="light", threshold=0.5, *, predicted=100, ceiling=150, discriminator="clip", **fields):
    return Stage(
        variant=VariantName(f"shapes-{name}"),
        pool=PoolName(name),
        steps=fields.get("steps", 4),
        guidance=fields.get("guidance"),
        weights=fields.get("weights", f"sha256:{name}"),
        discriminator=None if discriminator is None else DiscriminatorName(discriminator),
        threshold=threshold,
        predicted_gpu_ms=predicted,
        ceiling_gpu_ms=ceiling,
    )


def a_plan(*stages):
    return CascadePlan(model=ModelName("shapes"), stages=stages or (a_stage("light"), a_stage("heavy", ceiling=900)))


def a_job(name="job_1", *, n=1, plan=None, pictures=None, deadline_ms=1_000, tenant=ACME, weight=1):
    plan = plan or a_plan()
    request = a_request(n=n)
    return Job(
        id=JobId(name),
        tenant=tenant,
        request=request,
        plan=plan,
        hold_gpu_ms=n * plan.ceiling_gpu_ms(),
        quoted_gpu_ms=n * plan.predicted_gpu_ms(),
        created_ms=0,
        deadline_ms=deadline_ms,
        pictures=pictures or tuple(Picture(index, request.seed_of(index)) for index in range(n)),
        weight=weight,
    )


def drawn(picture, plan, score, gpu_ms=80, artifact="img_1"):
    """`picture` after its stage drew one that scores `score`."""
    judged = None if score is None else Score(score)
    return after_stage(picture, plan, ArtifactId(artifact), judged, gpu_ms=gpu_ms, cached=False)


def failed(picture, code="engine_failed"):
    return Picture(picture.index, picture.seed, picture.stage, Status.FAILED, failure=Failure(code, "It did not work."))
