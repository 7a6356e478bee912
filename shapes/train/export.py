"""Shipping: from run-folder checkpoints to `shapes/weights`, each artefact swapped in whole."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from shapes.train import head as heads
from shapes.train import parts
from shapes.train.clip import load_clip
from shapes.train.course import Course
from shapes.train.dev import STEPS_SHIPPED, load_generator
from shapes.train.folders import LICENSE, digest, swap_in, write_clip, write_variant
from shapes.train.graphs import export, round_to_half
from shapes.train.latents import load_autoencoder, load_scaling
from shapes.train.networks import HEAVY, LIGHT, Depth
from shapes.train.schnell import STEPS

DEV, SCHNELL, CLIP = "shapes-dev", "shapes-schnell", "shapes-clip"
HEAD: Final = "schnell-vs-dev"
HEAD_VERSION = 1


def ship_variant(course: Course, weights: Path, name: str) -> Mapping[str, float]:
    """Ship one tier; returns each graph's largest difference from torch."""
    depth, steps = _size(name)
    generator = load_generator(course, depth)
    vae, scaling = load_autoencoder(course.folder), load_scaling(course.folder)
    differences: dict[str, float] = {}

    def write(folder: Path) -> None:
        differences.update(write_variant(folder, generator, vae, scaling, {"name": name, "steps": steps}))

    swap_in(weights / name, write)
    return differences


def _size(name: str) -> tuple[Depth, int]:
    return (HEAVY, STEPS_SHIPPED) if name == DEV else (LIGHT, STEPS)


def ship_clip(course: Course, weights: Path) -> Mapping[str, float]:
    """Ship the CLIP; returns each graph's largest difference from torch."""
    differences: dict[str, float] = {}
    swap_in(weights / CLIP, lambda folder: differences.update(write_clip(folder, load_clip(course))))
    return differences


def ship_head(runs: Path, weights: Path) -> Mapping[str, float]:
    """Ship the head with its calibration; the shipped CLIP's digest goes into it."""
    head, figures = heads.load(runs)
    clip = json.loads((weights / CLIP / "maquette.json").read_text("utf-8"))
    differences: dict[str, float] = {}

    def write(folder: Path) -> None:
        width = int(clip["embedding_width"])
        differences["head"] = export(parts.head(round_to_half(head).eval(), width), folder / "head.onnx")
        names = {"light": SCHNELL, "heavy": DEV, "clip_digest": clip["digest"], "version": HEAD_VERSION}
        content = {**names, **figures, "license": LICENSE, "digest": digest(folder)}
        (folder / "calibration.json").write_text(json.dumps(content, indent=1) + "\n", "utf-8")

    swap_in(weights / "heads" / HEAD, write)
    return differences
