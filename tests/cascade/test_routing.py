"""From a request to a plan, and a catalogue that cannot promise what nobody serves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.catalogue import Catalogue, DiscriminatorEntry, Model, Pool, Sizes, Step, Variant
from cascade.errors import UnknownModelError, UnknownWordsError, UnservedSizeError, UnsupportedFieldError
from cascade.pricing import DurationProfile
from cascade.routing import plan_for
from tests.builders import a_request

SIZES = Sizes(multiple=16, least=32, most=256, native=(64, 64))


def a_variant(name, **fields):
    profile = DurationProfile(text_ms=1, evaluation_ms=2, token_ms=1, megapixel_ms=100, band=fields.pop("band", 1.3))
    plain = {"steps": 4, "most_steps": 50, "guidance": None, "negative_prompt": False, "sizes": SIZES} | fields
    return Variant(
        name=name, backend="onnx", folder=Path("models") / name, weights=f"sha256:{name}", profile=profile, **plain
    )


def a_catalogue(**changes):
    light = a_variant("light", vocabulary=frozenset({"a", "red", "circle"}))
    heavy = a_variant("heavy", guidance=3.5, steps=20, negative_prompt=True)
    clip = DiscriminatorEntry("clip", "clip_head", {}, milliseconds=7, score_quantiles=(0, 1))
    cascade = (Step("light", "clip", 0.5), Step("heavy", None, 0.0))
    models = {
        "shapes": Model("shapes", {"preview": cascade[:1], "auto": cascade, "final": cascade[1:]}),
        "heavy": Model("heavy", {"final": cascade[1:]}),
    }
    pools = [
        Pool("light", "light", workers=1, threads=1, most_pixels=128 * 128),
        Pool("light-wide", "light", workers=1, threads=1, most_pixels=256 * 256, gpu_weight=2.0),
        Pool("heavy", "heavy", workers=1, threads=1, most_pixels=256 * 256),
    ]
    fields = {
        "variants": {"light": light, "heavy": heavy},
        "pools": {pool.name: pool for pool in pools},
        "discriminators": {"clip": clip},
        "models": models,
        "default_model": "shapes",
    }
    return Catalogue(**(fields | changes))


CATALOGUE = a_catalogue()


def plan(model="shapes", quality="auto", **fields):
    return plan_for(CATALOGUE, model, quality, a_request(**fields))


@pytest.mark.parametrize(
    ("quality", "variants"), [("preview", ["light"]), ("auto", ["light", "heavy"]), ("final", ["heavy"])]
)
def test_the_quality_chooses_the_route(quality, variants):
    assert [stage.variant for stage in plan(quality=quality).stages] == variants


def test_a_model_with_one_route_has_it_for_every_quality():
    assert plan(model="heavy", quality="preview") == plan(model="heavy", quality="final")


def test_a_stage_takes_its_variants_steps_guidance_weights_and_the_rungs_judge():
    light, heavy = plan().stages

    assert (light.steps, light.guidance, light.weights) == (4, None, "sha256:light")
    assert (light.discriminator, light.threshold) == ("clip", 0.5)
    assert (heavy.steps, heavy.guidance, heavy.discriminator) == (20, 3.5, None)


def test_what_the_caller_asks_for_wins_where_the_variant_honours_it():
    (stage,) = plan(model="heavy", steps=7, guidance=1.0, negative_prompt="blue").stages

    assert (stage.steps, stage.guidance) == (7, 1.0)


def test_a_stage_is_priced_with_its_discriminator_and_its_pools_weight():
    (unjudged,) = plan(model="heavy").stages
    light, _ = plan().stages
    (wide,) = plan(quality="preview", width=256, height=256).stages

    assert unjudged.predicted_gpu_ms == 362  # 1 + 20 evaluations of (2 + 16 tokens) + 0.41 for pixels, rounded up
    assert light.predicted_gpu_ms == 81  # 1 + 4 evaluations + 0.41 + 7 for the discriminator
    assert wide.predicted_gpu_ms == 2_094  # twice (1 + 4 evaluations of (2 + 256 tokens) + 6.55 + 7), rounded up
    assert light.ceiling_gpu_ms == 105


def test_a_picture_goes_to_the_tightest_pool_that_takes_it():
    assert plan(width=128, height=128).stages[0].pool == "light"
    assert plan(width=144, height=128).stages[0].pool == "light-wide"


@given(st.sampled_from(["preview", "auto", "final"]), st.integers(2, 16), st.integers(2, 16))
def test_every_plan_is_bounded_by_its_ceiling(quality, columns, rows):
    drawn = plan(quality=quality, width=16 * columns, height=16 * rows)

    assert 0 < drawn.predicted_gpu_ms() <= drawn.ceiling_gpu_ms()
    assert all(drawn.ceiling_gpu_ms(entry) >= drawn.ceiling_gpu_ms(entry + 1) for entry in range(len(drawn.stages)))


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"model": "nobody"}, UnknownModelError, "shapes, heavy"),
        ({"quality": "best"}, UnsupportedFieldError, "preview, auto, final"),
        ({"steps": 4}, UnsupportedFieldError, "cascade"),
        ({"model": "heavy", "steps": 51}, UnsupportedFieldError, "1 to 50"),
        ({"model": "heavy", "steps": 0}, UnsupportedFieldError, "1 to 50"),
        ({"guidance": 2.0}, UnsupportedFieldError, "no guidance"),
        ({"negative_prompt": "blue"}, UnsupportedFieldError, "negative"),
        ({"width": 65}, UnservedSizeError, "multiple of 16"),
        ({"height": 16}, UnservedSizeError, "from 32 to 256"),
        ({"width": 272}, UnservedSizeError, "from 32 to 256"),
        ({"prompt": "a secret circle"}, UnknownWordsError, "word 2"),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_advice(asked, error, says):
    with pytest.raises(error, match=says):
        plan(**asked)


def test_a_refused_prompt_is_not_repeated():
    with pytest.raises(UnknownWordsError) as refusal:
        plan(prompt="a secret circle")

    assert "secret" not in str(refusal.value)


def test_a_size_that_fits_the_variant_and_no_pool_is_refused():
    small = {name: replace(pool, most_pixels=64 * 64) for name, pool in CATALOGUE.pools.items()}

    with pytest.raises(UnservedSizeError, match="4096 pixels"):
        plan_for(a_catalogue(pools=small), "shapes", "auto", a_request(width=128))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"default_model": "nobody"}, "default model"),
        ({"pools": {"p": Pool("p", "nobody", 1, 1, 1)}}, "not among the variants"),
        ({"pools": {}}, "no pool serves"),
        ({"discriminators": {}}, "not among the discriminators"),
        ({"variants": {}}, "not among the variants"),
        ({"models": {"shapes": Model("shapes", {})}}, "has no route"),
        ({"models": {"shapes": Model("shapes", {"auto": ()})}}, "no variant"),
        ({"models": {"shapes": Model("shapes", {"auto": (Step("nobody", None, 0),)})}}, "not among the variants"),
        (
            {"models": {"shapes": Model("shapes", {"auto": (Step("light", None, 0), Step("heavy", None, 0))})}},
            "needs a discriminator",
        ),
    ],
)
def test_a_catalogue_that_promises_what_nobody_serves_is_refused(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        a_catalogue(**changes)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_rung_with_an_impossible_threshold_is_refused(threshold):
    with pytest.raises(ValueError, match="outside"):
        Step("light", "clip", threshold)


def test_a_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        CATALOGUE.models["mine"] = CATALOGUE.models["shapes"]


def test_a_negative_prompt_pays_for_both_branches():
    """Classifier-free guidance evaluates the network twice a step; 16 tokens at 1 ms and 2 ms besides."""
    [alone] = plan("heavy", prompt="a red circle").stages
    [avoiding] = plan("heavy", prompt="a red circle", negative_prompt="blue").stages

    assert avoiding.predicted_gpu_ms - alone.predicted_gpu_ms == 20 * (2 + 16)
