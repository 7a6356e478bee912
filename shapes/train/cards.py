"""Model cards: what was trained on what, for how long, and how well it does; written by `evaluate`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shapes.oracle import ATTRIBUTES
from shapes.train.export import CLIP, DEV, HEAD, SCHNELL

_MEASURED = "Measured by `python -m shapes.train evaluate` with the oracle of `shapes.oracle`"


def write_cards(weights: Path, figures: Mapping[str, Any], count: int, notes: Mapping[str, str] | None = None) -> None:
    """Write README.md into every shipped folder.

    Args:
        weights: The folder that holds the shipped folders.
        figures: What `evaluate` measured.
        count: Prompts per difficulty.
        notes: A paragraph on training per folder name; by default those in `training.json` beside `weights`.
    """
    told = weights.parent / "training.json"
    notes = notes or (json.loads(told.read_text("utf-8")) if told.exists() else {})
    for name in (DEV, SCHNELL):
        (weights / name / "README.md").write_text(_variant_card(name, figures, count, notes.get(name, "")), "utf-8")
    if "clip" in figures:
        (weights / CLIP / "README.md").write_text(_clip_card(figures["clip"], notes.get(CLIP, "")), "utf-8")
    calibration = weights / "heads" / HEAD / "calibration.json"
    if calibration.exists():
        facts = json.loads(calibration.read_text("utf-8"))
        calibration.with_name("README.md").write_text(_head_card(facts), "utf-8")


def markdown(report: Mapping[str, Mapping[str, float]]) -> str:
    """Write a report as a table with one row per kind of prompt."""
    names = [*ATTRIBUTES, "all"]
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for row, values in report.items():
        cells = [f"{values[name]:.3f}" if name in values else "–" for name in names]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _front(name: str) -> str:
    return f"---\nlicense: apache-2.0\n---\n\n# {name}\n"


def _variant_card(name: str, figures: Mapping[str, Any], count: int, training: str) -> str:
    vae = "  ".join(f"{key} {value:.3f}" for key, value in figures["autoencoder"].items())
    role = "The heavy tier" if name == DEV else "The light tier"
    return f"""{_front(name)}
{role} of the tiny world: a `FluxPipeline` for 64 × 64 pictures of one to three coloured shapes. It understands the
grammar of `shapes.captions` and nothing else. Plain diffusers loads this folder.

## Training

Pictures and captions come from `shapes.render` and `shapes.captions`; one in ten combinations of several things is held
out (`shapes.scenes.held_out`). {training}

## Accuracy

{_MEASURED}: share of pictures whose attribute is right, {count} prompts a row, those with several things from held-out
combinations only; one thing alone has too few combinations to hold any out.

{markdown(figures[name])}

The autoencoder's reconstructions of true pictures: {vae} dB.

## Failures

Outlines go wrong first, and large ones most: a large circle or heart spans several image tokens and comes out dented,
which is why one thing alone is not easier than three. Next come sizes and colours that move between two things. At
other sizes than 64 × 64 it runs but was not trained: expect repeated or broken shapes. Words outside the vocabulary
become `<unk>`; `shapes.captions.parse` says beforehand whether a caption is one.
"""


def _clip_card(figures: Mapping[str, float], training: str) -> str:
    lines = "\n".join(f"- {name}: {value:.3f}" for name, value in figures.items())
    return f"""{_front(CLIP)}
An open_clip model of the tiny world: `open_clip.create_model_and_transforms("local-dir:<this folder>")`. {training}

Measured by `python -m shapes.train evaluate` on 512 fresh pictures (`contradiction`: the true caption beats one with
a single attribute changed):

{lines}
"""


def _head_card(facts: Mapping[str, Any]) -> str:
    names = ("heavy_better", "auroc", "auroc_of_cosine", "brier", "ece", "deferral_area", "deferral_area_of_cosine")
    lines = "\n".join(f"- {name}: {facts[name]:.3f}" for name in names)
    splits = ", ".join(f"{count} {part}" for part, count in facts["splits"].items())
    return f"""{_front(HEAD)}
How likely {DEV} would draw a prompt clearly better (by more than {facts["margin"]} of the attributes) than the
{SCHNELL} picture at hand: logistic regression on frozen {CLIP} embeddings, then isotonic calibration
(`calibration.json`, piecewise linear in the logit). Public score = 1 - probability.

{facts["n_pairs"]} prompts ({splits}), one light and two heavy pictures each, labelled by the oracle. On the test split:

{lines}

`deferral_area` is 0 for escalating at random and 1 for knowing the gain beforehand. On these prompts the light tier has
{facts["light_share_right"]:.3f} of all attributes right, the heavy tier {facts["heavy_share_right"]:.3f}.
"""
