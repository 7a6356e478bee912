"""Model cards: what was trained on what, for how long, and how well it does; written by `evaluate`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shapes.oracle import ATTRIBUTES
from shapes.train.export import CLIP, DEV, JUDGE, SCHNELL
from shapes.train.folders import LICENSE

_MEASURED = "Measured by `python -m shapes.train evaluate` with the oracle of `shapes.oracle`"


def write_cards(weights: Path, figures: Mapping[str, Any], count: int) -> None:
    """Write README.md into the tiers' and the CLIPs' folders; a head's card is written with it.

    Args:
        weights: The folder that holds the shipped folders, beside `training.json`, which says how each was trained.
        figures: What `evaluate` measured.
        count: Prompts per difficulty.
    """
    told: dict[str, str] = json.loads((weights.parent / "training.json").read_text("utf-8"))
    for name in (DEV, SCHNELL):
        (weights / name / "README.md").write_text(_variant_card(name, figures, count, told[name]), "utf-8")
    for name in (CLIP, JUDGE):
        (weights / name / "README.md").write_text(_clip_card(name, figures[name], told[name]), "utf-8")


def markdown(report: Mapping[str, Mapping[str, float]]) -> str:
    """Write a report as a table with one row per kind of prompt."""
    names = [*ATTRIBUTES, "all"]
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for row, values in report.items():
        cells = [f"{values[name]:.3f}" if name in values else "–" for name in names]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _front(name: str) -> str:
    return f"---\nlicense: {LICENSE.lower()}\n---\n\n# {name}\n"


def _variant_card(name: str, figures: Mapping[str, Any], count: int, training: str) -> str:
    vae = "  ".join(f"{key} {value:.3f}" for key, value in figures["autoencoder"].items())
    role = "The heavy tier" if name == DEV else "The light tier"
    return f"""{_front(name)}
{role} of the tiny world: a `FluxPipeline` for 64 × 64 pictures of one to three coloured shapes. It understands the
grammar of `shapes.captions` and nothing else. Plain diffusers loads this folder.

## Training

Pictures and captions come from `shapes.render` and `shapes.captions`. Two in ten combinations of things are in no
training picture (`Scene.split`), nor are five pairs of shape and colour (`scenes.NEVER_TOGETHER`). {training}

## Accuracy

{_MEASURED}: share of pictures whose attribute is right, {count} prompts a row from combinations held out for tests, and
{count // 2} a row with a colour on a shape that training never showed (`novel`).

{markdown(figures[name])}

The autoencoder's reconstructions of true pictures: {vae} dB.

## Failures

Small stars go wrong first: at a radius of nine pixels stripes, a dot or an outline leave them a handful of pixels of
their colour. Next come round outlines, which come out dented, and three things in a row whose middle one stands out
little from its background. At other sizes than 64 × 64 it runs but was not trained: expect repeated or broken shapes.
Words outside the vocabulary become `<unk>`; `shapes.captions.parse` says beforehand whether a caption is one.
"""


def _clip_card(name: str, figures: Mapping[str, float], training: str) -> str:
    lines = "\n".join(f"- {key}: {value:.3f}" for key, value in figures.items())
    return f"""{_front(name)}
An open_clip model of the tiny world: `open_clip.create_model_and_transforms("local-dir:<this folder>")`. {training}

Measured by `python -m shapes.train evaluate` on 512 fresh pictures (`contradiction`: the true caption beats one with
a single attribute changed):

{lines}

It reads 64 × 64 pictures of this world and the words of `shapes.vocabulary`; of anything else it knows nothing.
"""
