"""Shipping: from run-folder checkpoints to `shapes/weights`, each artefact swapped in whole."""

from collections.abc import Mapping
from pathlib import Path

from discriminators.training.swapping import swap_in
from shapes.train.clip import load_clip
from shapes.train.course import Course
from shapes.train.dev import STEPS_SHIPPED, load_generator
from shapes.train.folders import write_clip, write_variant
from shapes.train.latents import load_autoencoder, load_scaling
from shapes.train.networks import HEAVY, LIGHT, Depth
from shapes.train.schnell import STEPS

DEV, SCHNELL, CLIP, JUDGE = "shapes-dev", "shapes-schnell", "shapes-clip", "shapes-clip-judge"


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


def ship_clip(course: Course, weights: Path, name: str) -> Mapping[str, float]:
    """Ship a CLIP; returns each graph's largest difference from torch."""
    differences: dict[str, float] = {}
    swap_in(weights / name, lambda folder: differences.update(write_clip(folder, load_clip(course), name)))
    return differences
