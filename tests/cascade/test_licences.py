"""Licence tags as hubs and SPDX write them, and what a gateway that sells pictures does about them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.licences import Terms, Use, refusal, remark, terms_of

TAGS = {
    Terms.FREE: ("Apache-2.0", "apache-2.0", "MIT", "CC0-1.0", "cc-by-4.0", "GPL-3.0-or-later", "BSD 3 Clause"),
    Terms.CONDITIONAL: ("stabilityai-ai-community", "creativeml-openrail-m", "openrail++", "BigScience-OpenRAIL-M"),
    Terms.NON_COMMERCIAL: (
        "flux-1-dev-non-commercial-license", "FLUX.1-dev Non-Commercial License v1.1.1", "FLUX.1-dev", "flux-1-dev",
        "CC-BY-NC-4.0", "cc-by-nc-sa-4.0", "CC-BY-NC-ND-4.0", "S-Lab License 1.0", "s-lab",
        "PolyForm-Noncommercial-1.0.0", "sai-nc-community", "stabilityai-nc-research-community",
        "fair-noncommercial-research-license", "apple-amlr", "apple-ascl", "apple-sample-code-license",
        "apple-machine-learning-research-model-license-agreement", "nvidia-noncommercial-license",
    ),
    Terms.UNKNOWN: ("", "other", "unknown", "proprietary", "my-own", "flux-1-schnell", "no commercial licence"),
}  # fmt: skip


@pytest.mark.parametrize(("terms", "tag"), [(terms, tag) for terms, tags in TAGS.items() for tag in tags])
def test_a_tag_is_understood_however_it_is_written(terms: Terms, tag: str) -> None:
    assert terms_of(tag) is terms
    assert terms_of(f"  {tag.upper()} ") is terms


def test_flux_schnell_is_free_and_flux_dev_is_not() -> None:
    schnell, dev = "apache-2.0", "flux-1-dev-non-commercial-license"

    assert refusal("variant schnell", schnell, Use.COMMERCIAL, "") is None
    assert refusal("variant dev", dev, Use.COMMERCIAL, "") is not None


@pytest.mark.parametrize("joined", ["apache-2.0, {}", "{}, mit", "MIT AND {}", "{} or apache-2.0"])
@pytest.mark.parametrize(("terms", "tag"), [(terms, tags[-1]) for terms, tags in TAGS.items()])
def test_of_several_licences_the_worst_counts(joined: str, terms: Terms, tag: str) -> None:
    assert terms_of(joined.format(tag)) is terms


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=30))
def test_what_is_not_in_the_table_is_never_silently_fine(tag: str) -> None:
    silent = refusal("it", tag, Use.COMMERCIAL, "") is None and remark("it", tag, Use.COMMERCIAL, "") is None

    assert silent == (terms_of(tag) is Terms.FREE)


def test_a_refusal_says_who_which_licence_and_what_to_do() -> None:
    said = refusal("variant dev", "cc-by-nc-4.0", Use.COMMERCIAL, "")

    assert said is not None
    for part in ("variant dev", "cc-by-nc-4.0", "use: non-commercial", "license_override"):
        assert part in said


def test_a_gateway_that_sells_nothing_may_load_what_forbids_selling() -> None:
    assert refusal("variant dev", "cc-by-nc-4.0", Use.NON_COMMERCIAL, "") is None
    assert remark("variant dev", "cc-by-nc-4.0", Use.NON_COMMERCIAL, "") is None


def test_an_override_lets_it_through_and_stays_visible() -> None:
    said = remark("variant dev", "cc-by-nc-4.0", Use.COMMERCIAL, "we bought one")

    assert refusal("variant dev", "cc-by-nc-4.0", Use.COMMERCIAL, "we bought one") is None
    assert said is not None
    assert "cc-by-nc-4.0" in said
    assert "we bought one" in said


@pytest.mark.parametrize(
    ("tag", "use", "said"),
    [
        ("mit", Use.COMMERCIAL, None),
        ("stabilityai-ai-community", Use.COMMERCIAL, "on conditions"),
        ("stabilityai-ai-community", Use.NON_COMMERCIAL, None),
        ("proprietary", Use.COMMERCIAL, "not in our table"),
        ("proprietary", Use.NON_COMMERCIAL, "not in our table"),
        ("", Use.COMMERCIAL, "no licence that is known"),
    ],
)
def test_what_is_let_through_is_remarked_on_when_somebody_should_read_it(tag: str, use: Use, said: str | None) -> None:
    remarked = remark("variant x", tag, use, "")

    assert (remarked is None) if said is None else (remarked is not None and said in remarked)
