"""What must be equal for a picture to be the same picture, and what must not matter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.fingerprint import attempt_fingerprint, canonical_prompt, derived_seed, flight_fingerprint
from cascade.jobs import TenantId
from cascade.requests import SEEDS
from tests.builders import ACME, a_plan, a_request, a_stage

SECRET = b"secret"
REQUEST = a_request()
STAGE = a_stage()


def attempt(secret=SECRET, scope=ACME, request=REQUEST, stage=STAGE, seed=7):
    return attempt_fingerprint(secret, scope, request, stage, seed)


def flight(secret=SECRET, scope=ACME, request=REQUEST, plan=None):
    return flight_fingerprint(secret, scope, request, plan or a_plan())


@pytest.mark.parametrize(
    "change",
    [
        {"secret": b"another"},
        {"scope": TenantId("globex")},
        {"request": replace(REQUEST, prompt="a blue circle")},
        {"request": replace(REQUEST, prompt="A red circle")},
        {"request": replace(REQUEST, negative_prompt="blue")},
        {"request": replace(REQUEST, width=128)},
        {"request": replace(REQUEST, height=128)},
        {"stage": replace(STAGE, variant="another")},
        {"stage": replace(STAGE, weights="sha256:another")},
        {"stage": replace(STAGE, steps=5)},
        {"stage": replace(STAGE, guidance=3.5)},
        {"stage": replace(STAGE, discriminator="another")},
        {"seed": 8},
    ],
)
def test_an_attempt_is_another_when_what_is_drawn_or_for_whom_changes(change):
    assert attempt(**change) != attempt()


@pytest.mark.parametrize(
    "change",
    [
        {"request": replace(REQUEST, n=4)},
        {"request": replace(REQUEST, seed=99)},  # the picture's own seed counts
        {"stage": replace(STAGE, threshold=0.9)},
        {"stage": replace(STAGE, pool="elsewhere", predicted_gpu_ms=1, ceiling_gpu_ms=2)},
        {"request": replace(REQUEST, prompt="  a\tred \n circle ")},
    ],
)
def test_an_attempt_stays_itself_when_only_number_threshold_pool_or_price_change(change):
    assert attempt(**change) == attempt()


@pytest.mark.parametrize(
    "change",
    [
        {"scope": TenantId("globex")},
        {"request": replace(REQUEST, n=2)},
        {"request": replace(REQUEST, seed=8)},
        {"request": replace(REQUEST, prompt="a blue circle")},
        {"plan": a_plan(a_stage())},
        {"plan": a_plan(a_stage(threshold=0.9), a_stage("heavy"))},
    ],
)
def test_a_flight_is_another_when_its_answer_could_differ(change):
    assert flight(**change) != flight()


def test_neither_identity_is_ever_the_others():
    assert flight(plan=a_plan(STAGE)) != attempt()


@given(*[st.text('ab," \t', max_size=5)] * 4)
def test_words_do_not_slip_from_one_field_into_another(prompt, negative, other_prompt, other_negative):
    one = attempt(request=replace(REQUEST, prompt=prompt, negative_prompt=negative))
    other = attempt(request=replace(REQUEST, prompt=other_prompt, negative_prompt=other_negative))
    words = tuple(canonical_prompt(text) for text in (prompt, negative))

    assert (one == other) is (words == tuple(canonical_prompt(text) for text in (other_prompt, other_negative)))


@given(st.text())
def test_a_canonical_prompt_is_its_own_canonical_prompt(prompt):
    assert canonical_prompt(canonical_prompt(prompt)) == canonical_prompt(prompt)


def test_composed_and_decomposed_letters_are_the_same_prompt():
    assert canonical_prompt("cafe\u0301") == canonical_prompt("caf\u00e9")


@given(st.integers(0, SEEDS - 1), st.integers(1, 8))
def test_n_pictures_are_n_single_ones_with_the_following_seeds(seed, n):
    many = a_request(seed=seed, n=n)
    singles = [a_request(seed=(seed + index) % SEEDS) for index in range(n)]

    seeds = [many.seed_of(index) for index in range(n)]

    assert seeds == [single.seed_of(0) for single in singles]
    assert len(set(seeds)) == n
    assert [attempt(request=many, seed=s) for s in seeds] == [attempt(request=r, seed=r.seed) for r in singles]


def test_four_pictures_have_four_seeds_that_wrap_around():
    assert [a_request(seed=SEEDS - 2, n=4).seed_of(index) for index in range(4)] == [SEEDS - 2, SEEDS - 1, 0, 1]


@given(st.text(), st.text())
def test_a_derived_seed_is_a_seed_and_depends_on_tenant_and_prompt_only(prompt, scope):
    seed = derived_seed(SECRET, TenantId(scope), prompt)

    assert 0 <= seed < SEEDS
    assert seed == derived_seed(SECRET, TenantId(scope), f"  {prompt} ")


def test_two_tenants_derive_different_seeds():
    assert derived_seed(SECRET, ACME, "a") != derived_seed(SECRET, TenantId("globex"), "a")
