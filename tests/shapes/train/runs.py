"""Run folders in miniature: short courses that speak into a text, and what earlier stages would have left."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

from shapes.captions import caption
from shapes.train import dev, schnell
from shapes.train.autoencoder import new_autoencoder
from shapes.train.clip import new_clip
from shapes.train.course import Average, Course
from shapes.train.latents import create_map, open_map
from shapes.train.networks import HEAVY, LIGHT, Generator
from shapes.train.pictures import training_scene
from shapes.train.words import LENGTH, encode, t5_tokenizer

ROWS = 40


def course(folder: Path, name: str, steps: int, *, speech: io.StringIO | None = None, **changes: Any) -> Course:
    """A course that reports every step into `speech`."""
    console = Console(file=speech or io.StringIO(), width=300)
    return Course(name, steps, folder, **{"seed": 3, "report_every": 1, "console": console, **changes})


def figures(told: Course, name: str) -> list[float]:
    """One figure of every step, as the course reported it; four decimals."""
    text = told.console.file.getvalue()  # type: ignore[attr-defined]
    lines = [line for line in text.splitlines() if re.match(rf"{told.name} \d+/", line)]
    return [float(re.search(rf"\b{name} (-?[\d.]+)", line)[1]) for line in lines]  # type: ignore[index]


def write_untrained(folder: Path) -> None:
    """Write what the stages up to schnell's bank leave, with random weights, random latents and true captions."""
    torch.manual_seed(8)
    modules = {"vae": new_autoencoder(), "clip": new_clip(), "dev": Generator(HEAVY), "schnell": Generator(LIGHT)}
    for name, module in modules.items():
        torch.save({"step": 0, "average": Average(module).state_dict()}, folder / f"{name}.checkpoint.pt")
    torch.save({"step": dev.SCHOOL_STEPS}, folder / "school.checkpoint.pt")
    (folder / "scaling.json").write_text('{"scale": 1.0, "shift": 0.0}')
    rng = np.random.default_rng(8)
    ids = encode(t5_tokenizer(), [caption(training_scene(rng), rng) for _ in range(ROWS)])
    for name in ("tokens", "path_tokens"):
        _write_map(folder / f"{name}.npy", "|u1", ids)
    _write_map(folder / "latents.npy", "<f2", rng.standard_normal((ROWS, 16, 64)))
    _write_map(folder / "paths.npy", "<f2", rng.standard_normal((ROWS, schnell._KEPT + 1, 16, 64)))
    assert ids.shape == (ROWS, LENGTH)


def _write_map(path: Path, kind: str, values: np.ndarray) -> None:
    create_map(path, kind, values.shape)
    written = open_map(path)
    written[:] = values
    written.flush()
