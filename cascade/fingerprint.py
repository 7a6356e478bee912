"""Cache identity: what must be equal for a picture to be the same picture, for the same tenant.

Load, experiment arm and threshold are not part of it: a cached attempt is judged anew on each hit.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata

from cascade.jobs import TenantId
from cascade.plans import CascadePlan, Stage
from cascade.requests import SEEDS, GenerationRequest


def attempt_fingerprint(secret: bytes, scope: TenantId, request: GenerationRequest, stage: Stage, seed: int) -> str:
    """The identity of one stage's picture: tenant, request, seed, stage and weights. 64 hex digits."""
    return _digest(secret, scope, ["attempt", *_drawn(request), seed, *_run(stage)])


def flight_fingerprint(secret: bytes, scope: TenantId, request: GenerationRequest, plan: CascadePlan) -> str:
    """The identity of a whole seeded request under a plan; equal ones in flight are drawn once."""
    stages = [[*_run(stage), stage.discriminator, stage.threshold] for stage in plan.stages]
    return _digest(secret, scope, ["flight", *_drawn(request), request.seed, request.n, stages])


def derived_seed(secret: bytes, scope: TenantId, prompt: str) -> int:
    """A seed that is the same whenever the tenant asks for the same prompt, for callers who want cached pictures."""
    return int(_digest(secret, scope, ["seed", canonical_prompt(prompt)])[:8], 16) % SEEDS


def canonical_prompt(prompt: str) -> str:
    """NFC with runs of white space as one space: what two equal prompts have in common."""
    return " ".join(unicodedata.normalize("NFC", prompt).split())


def _drawn(request: GenerationRequest) -> list[object]:
    prompts = [canonical_prompt(request.prompt), canonical_prompt(request.negative_prompt)]
    return [*prompts, request.width, request.height]


def _run(stage: Stage) -> list[object]:
    return [stage.variant, stage.weights, stage.steps, stage.guidance, stage.discriminator]


def _digest(secret: bytes, scope: TenantId, identity: list[object]) -> str:
    canonical = json.dumps([scope, *identity], ensure_ascii=False, separators=(",", ":"))
    return hmac.new(secret, canonical.encode(), hashlib.sha256).hexdigest()
