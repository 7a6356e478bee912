"""What is sampled while training is what FluxPipeline draws from the shipped folders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from diffusers import FlowMatchEulerDiscreteScheduler, FluxPipeline

from shapes.oracle import Reading
from shapes.train.autoencoder import new_autoencoder
from shapes.train.flow import Condition, condition, integrate, noise, sample, sigmas, tally
from shapes.train.folders import wrap
from shapes.train.networks import LIGHT, Generator
from shapes.train.words import LENGTH, clip_tokenizer, t5_tokenizer

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

CAPTIONS = [
    "a large striped red circle on a white background",
    "A turquoise star, a violet disc and a pink heart.",
    "two zebras",
    "",
]


@pytest.fixture(scope="module")
def generator() -> Generator:
    torch.manual_seed(4)
    return Generator(LIGHT).eval().requires_grad_(requires_grad=False)


@pytest.fixture(scope="module")
def pipeline(generator: Generator) -> FluxPipeline:
    made = FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=1.0, use_dynamic_shifting=False),
        vae=new_autoencoder().eval(),
        text_encoder=generator.pooled_encoder,
        tokenizer=wrap(clip_tokenizer()),
        text_encoder_2=generator.sequence_encoder,
        tokenizer_2=wrap(t5_tokenizer()),
        transformer=generator.transformer,
    )
    made.set_progress_bar_config(disable=True)
    return made


@pytest.mark.parametrize("steps", [1, 2, 3, 12, 20, 28])
def test_the_noise_levels_are_those_the_scheduler_visits_at_shift_one(steps):
    scheduler = FlowMatchEulerDiscreteScheduler(shift=1.0, use_dynamic_shifting=False)
    scheduler.set_timesteps(sigmas=np.linspace(1.0, 1 / steps, steps))

    assert sigmas(steps) == pytest.approx(scheduler.sigmas.tolist(), abs=1e-6)
    assert sigmas(steps)[0] == 1.0
    assert sigmas(steps)[-1] == 0.0


def test_captions_are_encoded_as_flux_pipeline_encodes_them(generator, pipeline):
    text = condition(generator, CAPTIONS)
    states, pooled, _ = pipeline.encode_prompt(CAPTIONS, CAPTIONS, max_sequence_length=LENGTH)

    torch.testing.assert_close(text.states, states)
    torch.testing.assert_close(text.pooled, pooled)


def test_a_sample_is_what_flux_pipeline_draws_from_the_same_noise(generator, pipeline):
    seeds = [1, 2, 3, 4]
    ours = sample(generator, condition(generator, CAPTIONS), seeds, 3)
    theirs = pipeline(
        CAPTIONS,
        height=64,
        width=64,
        num_inference_steps=3,
        latents=noise(seeds),
        max_sequence_length=LENGTH,
        output_type="latent",
    ).images

    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


def test_a_seed_gives_the_same_noise_in_any_company():
    assert torch.equal(noise([5, 6])[1], noise([6])[0])
    assert not torch.equal(noise([5])[0], noise([6])[0])


def test_a_path_may_be_followed_in_two_parts(generator):
    text, start, levels = condition(generator, CAPTIONS[:2]), noise([1, 2]), sigmas(4)
    middle = integrate(generator, start, text, levels[:3])

    assert torch.equal(integrate(generator, middle, text, levels[2:]), integrate(generator, start, text, levels))


def test_guidance_goes_beyond_the_caption_away_from_the_empty_one(generator):
    text, start, levels = condition(generator, CAPTIONS[:1]), noise([1]), [1.0, 0.0]
    empty = integrate(generator, start, condition(generator, [""]), levels)
    plain = integrate(generator, start, text, levels)
    guided = integrate(generator, start, text, levels, guidance=3.0)

    torch.testing.assert_close(guided, empty + 3 * (plain - empty), rtol=1e-3, atol=1e-4)


def test_a_part_of_a_condition_is_that_part_of_both_halves():
    whole = Condition(torch.arange(3)[:, None, None], torch.arange(3)[:, None])

    assert whole[1:].states.flatten().tolist() == [1, 2]
    assert whole[1:].pooled.flatten().tolist() == [1, 2]


def test_a_tally_counts_only_what_was_asked():
    sized = Reading(background=True, count=True, colour=True, shape=False, fill=True, size=False, relation=None)
    plain = Reading(background=None, count=True, colour=True, shape=True, fill=True, size=None, relation=None)

    assert tally([sized, plain]) == {
        "background": 1.0,
        "count": 1.0,
        "colour": 1.0,
        "shape": 0.5,
        "fill": 1.0,
        "size": 0.0,
        "all": 0.5,
    }
