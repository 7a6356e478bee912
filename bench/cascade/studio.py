"""Where the pictures are drawn: the catalogue's own cascade, opened as workers open it, one picture at a time.

Request, plan, stages and seed are made by the functions that the gateway uses; only the queue between the stages is
missing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from bench.cascade.errors import NotACascadeError, OtherJudgeError
from bench.cascade.prompts import picture_seed
from cascade.catalogue import Catalogue, DiscriminatorEntry
from cascade.jobs import Artifact
from cascade.plans import CascadePlan, Stage
from cascade.ports import Discriminator
from cascade.requests import GenerationRequest
from cascade.routing import model_named, plan_for
from gateway.compose_engine import open_engine
from gateway.worker import Engine

T = TypeVar("T")

_TIERS = 2
_QUALITY = "auto"
_HEAD = "clip_head"


@dataclass(frozen=True, slots=True)
class Time:
    """What something took.

    Attributes:
        gpu_ms: wall milliseconds times the pool's weight: what `cascade.pricing.to_gpu_ms` rounds up to charge.
        cpu_ms: milliseconds of CPU that this process spent meanwhile.
    """

    gpu_ms: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """Both models' pictures of a prompt, with the same seed.

    Attributes:
        light: PNG bytes.
        heavy: PNG bytes.
        score: the shipped discriminator's of the light one, in 0..1.
    """

    light: bytes
    heavy: bytes
    score: float
    light_time: Time
    judge_time: Time
    heavy_time: Time


@dataclass(frozen=True, slots=True)
class Studio:
    """An open cascade of two variants.

    Attributes:
        entry: the discriminator between them, as the catalogue has it.
        seed: what the pictures' seeds are made of, together with their prompts.
    """

    catalogue: Catalogue
    light: Engine
    heavy: Engine
    entry: DiscriminatorEntry
    judge: Discriminator
    seed: int

    async def warm_up(self, prompt: str) -> None:
        """Run everything once, so that no measured picture pays for lazy initialisation."""
        await self.light.backend.warm_up()
        await self.heavy.backend.warm_up()
        await self.draw(prompt)

    async def draw(self, prompt: str) -> Drawn:
        """Draw `prompt` with both models and judge the light picture.

        Raises:
            CascadeError: the model does not know a word of the prompt, or an engine failed.
        """
        request = self._request(prompt)
        light, heavy = _plan(self.catalogue, request).stages
        picture, light_time = await _timed(self.light, _picture(self.light, request, light))
        score, judge_time = await _timed(self.light, self.judge.score(request, picture))
        better, heavy_time = await _timed(self.heavy, _picture(self.heavy, request, heavy))
        return Drawn(picture.content, better.content, score.value, light_time, judge_time, heavy_time)

    def plan(self, prompt: str) -> CascadePlan:
        """What the gateway would run for `prompt`."""
        return _plan(self.catalogue, self._request(prompt))

    def _request(self, prompt: str) -> GenerationRequest:
        return _request(self.catalogue, prompt, picture_seed(self.seed, prompt))


def open_studio(catalogue: Catalogue, prompt: str, seed: int) -> Studio:
    """Load the pools that the default model's `auto` route leads through for a prompt like `prompt`.

    Raises:
        NotACascadeError: it does not lead through two.
        OtherJudgeError: what stands between them is no head on a CLIP.
        CascadeError: the model does not know a word of the prompt.
        ModelFilesError: a model can't be loaded.
    """
    plan = _plan(catalogue, _request(catalogue, prompt, seed))
    name = plan.stages[0].discriminator
    if len(plan.stages) != _TIERS or name is None:
        raise NotACascadeError(plan.model)
    entry = catalogue.discriminators[name]
    if entry.kind != _HEAD:
        raise OtherJudgeError(name, entry.kind)
    light, heavy = (open_engine(catalogue, catalogue.pools[stage.pool]) for stage in plan.stages)
    return Studio(catalogue, light, heavy, entry, light.discriminators[name], seed)


def _request(catalogue: Catalogue, prompt: str, seed: int) -> GenerationRequest:
    """A request that names nothing but a prompt and a seed."""
    model = model_named(catalogue, catalogue.default_model)
    width, height = catalogue.variants[model.heaviest].sizes.native
    return GenerationRequest(prompt=prompt, width=width, height=height, seed=seed)


def _plan(catalogue: Catalogue, request: GenerationRequest) -> CascadePlan:
    return plan_for(catalogue, catalogue.default_model, _QUALITY, request)


def _picture(engine: Engine, request: GenerationRequest, stage: Stage) -> Awaitable[Artifact]:
    return engine.backend.generate(request, stage, request.seed_of(0), _ignore_step)


async def _timed(engine: Engine, work: Awaitable[T]) -> tuple[T, Time]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = await work
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return result, Time(wall * 1000 * engine.pool.gpu_weight, cpu * 1000)


def _ignore_step(done: int, steps: int) -> None:
    """Nobody watches."""
