"""The model card of a head, from what its calibration says."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

from discriminators.calibrated_head import Kind

_WIDTH = 120
_LOOKS_AT = {
    Kind.PAIR: "Sees the light picture and the prompt.",
    Kind.ROUTER: "Sees the prompt alone, before anything is drawn.",
    Kind.REAL_FAKE: "Sees the light picture alone, taught to tell it from true ones as in DiffServe and HADIS.",
}
_FAILS = {
    Kind.PAIR: "It cannot see seed luck: how well the heavy tier's one next picture turns out.",
    Kind.ROUTER: "It cannot see how the light picture turned out, only how such prompts usually end.",
    Kind.REAL_FAKE: "It does not read the prompt: a picture of the wrong thing that looks true is kept.",
}


def model_card(facts: Mapping[str, Any]) -> str:
    """README.md of a head folder, from the content of its `calibration.json`."""
    measured, kind = facts["measures"], Kind(facts["kind"])
    parts = ", ".join(f"{count} {part}" for part, count in facts["splits"].items())
    rows = "\n".join(_row(name, measured[name]) for name in ("auroc", "brier", "ece", "deferral_area"))
    utilities = ", ".join(f"{share}: {value:.3f}" for share, value in measured["utility_at"].items())
    front = f"---\nlicense: {facts['license'].lower()}\n---\n\n" if facts["license"] else ""
    return front + _filled(f"""# {facts["name"]}

The calibrated probability that {facts["heavy"]} would do better than the picture of {facts["light"]} at hand, by more
than {facts["margin"]} of utility. {_LOOKS_AT[kind]} Public score = 1 - probability.

## Data

{facts["n_pairs"]} pairs of {facts["n_prompts"]} prompts ({parts}; no prompt in two parts).
Utilities by: {facts["judge"]}. The heavy tier is better in {measured["heavy_better"]:.3f} of the test pairs;
mean utility is {measured["light_utility"]:.3f} of the light tier and {measured["heavy_utility"]:.3f} of the heavy one.

## Form

A {facts["form"]} on frozen CLIP embeddings ({facts["feature_width"]} numbers of a picture,
{facts["embedding_width"]} of a prompt), then {facts["method"]} calibration.
It fits only the CLIP whose digest begins {facts["clip_digest"][:12]}.

## Measured on the test part

{measured["pairs"]} pairs of {measured["prompts"]} prompts; 95 % bootstrap intervals over prompts.

| | estimate | low | high |
|---|---|---|---|
{rows}

The plain cosine of picture and prompt has auroc {measured["auroc_of_cosine"]:.3f} and
deferral area {measured["deferral_area_of_cosine"]:.3f}. `deferral_area` is 0 for escalating at random and 1 for
knowing the gain beforehand. Mean utility by escalated share: {utilities}.

## Failures

{_FAILS[kind]} It knows these two tiers, at the sizes and on the kind of prompts it was trained on: train a new one
when any of them changes. Its score is a probability about a comparison, no grade of the picture.
""")


def _filled(text: str) -> str:
    """Paragraphs in lines of 120; headings and tables as they are."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(part if part[0] in "#|" else fill(part, _WIDTH) for part in paragraphs) + "\n"


def _row(name: str, interval: Mapping[str, float]) -> str:
    return f"| {name} | {interval['estimate']:.3f} | {interval['low']:.3f} | {interval['high']:.3f} |"
