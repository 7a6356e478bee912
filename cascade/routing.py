"""From a request's parameters to a plan: model, quality, size. Static, so it costs nothing before money is held."""

from __future__ import annotations

from cascade.catalogue import Catalogue, Model, Pool, Step, Variant
from cascade.errors import (
    PromptTooLongError,
    UnknownModelError,
    UnknownWordsError,
    UnservedSizeError,
    UnsupportedFieldError,
)
from cascade.plans import CascadePlan, ModelName, Stage
from cascade.pricing import to_gpu_ms
from cascade.requests import GenerationRequest

QUALITIES = ("preview", "auto", "final")


def plan_for(catalogue: Catalogue, model_name: str, quality: str, request: GenerationRequest) -> CascadePlan:
    """The stages that may run for `request`, priced.

    Raises:
        UnknownModelError: no such model.
        UnsupportedFieldError: the model has no route of that quality, or a variant cannot honour a field.
        UnservedSizeError: no pool draws that size.
        PromptTooLongError, UnknownWordsError: the model would not read the whole prompt.
    """
    model = model_named(catalogue, model_name)
    route = _route(model, quality)
    if request.steps is not None and len(route) > 1:
        raise UnsupportedFieldError(
            "num_inference_steps",
            f"{model.name} is a cascade with its own steps; name a variant as the model to set them.",
        )
    stages = tuple(_stage(catalogue, step, request) for step in route)
    return CascadePlan(model=model.name, stages=stages)


def model_named(catalogue: Catalogue, name: str) -> Model:
    """The model of that public name.

    Raises:
        UnknownModelError: there is none.
    """
    model = catalogue.models.get(ModelName(name))
    if model is None:
        raise UnknownModelError(tuple(catalogue.models))
    return model


def _route(model: Model, quality: str) -> tuple[Step, ...]:
    """The model's rungs for `quality`; a model with a single route has it for every quality."""
    if len(model.routes) == 1:
        return next(iter(model.routes.values()))
    route = model.routes.get(quality)
    if route is None:
        raise UnsupportedFieldError(
            "quality", f"{model.name} has routes for {', '.join(model.routes)}, not for this quality."
        )
    return route


def _stage(catalogue: Catalogue, step: Step, request: GenerationRequest) -> Stage:
    variant = catalogue.variants[step.variant]
    _check(variant, request)
    pool = _pool_for(catalogue, variant, request)
    steps = request.steps or variant.steps
    evaluations = steps * (2 if request.negative_prompt else 1)  # two branches of classifier-free guidance
    milliseconds = variant.profile.median_ms(request.width, request.height, evaluations)
    if step.discriminator is not None:
        milliseconds += catalogue.discriminators[step.discriminator].milliseconds
    guidance = variant.guidance if request.guidance is None else request.guidance
    return Stage(
        variant=variant.name,
        pool=pool.name,
        steps=steps,
        guidance=guidance,
        weights=variant.weights,
        discriminator=step.discriminator,
        threshold=step.threshold,
        predicted_gpu_ms=to_gpu_ms(milliseconds, pool.gpu_weight),
        ceiling_gpu_ms=to_gpu_ms(milliseconds * variant.profile.band, pool.gpu_weight),
    )


def _check(variant: Variant, request: GenerationRequest) -> None:
    """Raise the first reason why `variant` cannot honour `request`."""
    if not variant.sizes.fit(request.width, request.height):
        raise UnservedSizeError(request.width, request.height, variant.sizes.describe())
    if request.steps is not None and not 1 <= request.steps <= variant.most_steps:
        raise UnsupportedFieldError("num_inference_steps", f"{variant.name} runs 1 to {variant.most_steps} steps.")
    if request.guidance is not None and variant.guidance is None:
        raise UnsupportedFieldError("guidance_scale", f"{variant.name} has no guidance.")
    if request.negative_prompt and not variant.negative_prompt:
        raise UnsupportedFieldError("negative_prompt", f"{variant.name} does not honour a negative prompt.")
    if variant.vocabulary:
        _check_words(variant, request.prompt)


def _check_words(variant: Variant, prompt: str) -> None:
    """Refuse what the variant would cut off or not understand. Letter case and a final full stop do not count."""
    words = prompt.lower().rstrip(" .\n\t").replace(",", " , ").split()
    if len(words) > variant.most_words:
        raise PromptTooLongError(len(words), variant.most_words)
    unknown = tuple(place for place, word in enumerate(words, start=1) if word not in variant.vocabulary)
    if unknown:
        raise UnknownWordsError(unknown, tuple(sorted(word for word in variant.vocabulary if word.isalpha())))


def _pool_for(catalogue: Catalogue, variant: Variant, request: GenerationRequest) -> Pool:
    """The pool with the tightest shape class that still takes the picture."""
    serving = [pool for pool in catalogue.pools.values() if pool.variant == variant.name]
    fitting = [pool for pool in serving if request.pixels <= pool.most_pixels]
    if not fitting:
        most = max(pool.most_pixels for pool in serving)
        raise UnservedSizeError(request.width, request.height, f"The largest pool takes {most} pixels.")
    return min(fitting, key=lambda pool: pool.most_pixels)
