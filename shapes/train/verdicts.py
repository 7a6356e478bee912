"""Teaching shapes-clip to see what a tier got wrong: pictures that are true, drawn or warped, read by the oracle.

Contrast alone tells captions apart, but only on true pictures. Here every picture comes with a caption, its own or one
that contradicts it, and with the oracle's verdict on each attribute; a probe on the CLIP's features learns to give the
same verdicts and is thrown away.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from open_clip.model import CLIP
from scipy import ndimage
from torch import nn
from torch.nn import functional
from typing_extensions import override

from shapes.captions import caption
from shapes.oracle import ATTRIBUTES, Reading, read
from shapes.render import SIDE, render
from shapes.train import team
from shapes.train.clip import contrast, descend, examine, features, load_clip, normalise
from shapes.train.contrast import contradict
from shapes.train.course import Average, Course, Figures, follow
from shapes.train.dev import load_generator, optimisers, set_rates
from shapes.train.flow import Eye, condition, sample
from shapes.train.latents import create_map, open_map
from shapes.train.networks import LIGHT
from shapes.train.pictures import training_scene
from shapes.train.schnell import STEPS
from shapes.train.words import LENGTH, clip_tokenizer, encode

BATCH = 96
PEAK_RATE = 6e-4
_PER_STEP = 200
"""Over the whole team, so that a bank is as large whoever fills it."""
_WARPED_SHARE = 0.2
_CONTRADICTED_SHARE = 0.3
_CONTRASTED = 64
_CONTRAST_EVERY = 4
_WIDTH = 256
_UNASKED = -1
_PARTS = ("pictures", "tokens", "labels")


def build(course: Course, schnell: Course) -> None:
    """Draw and read 200 pictures per step.

    Writes `verdict_pictures.npy` uint8 [N, 64, 64, 3], `verdict_tokens.npy` uint8 [N, 20], CLIP layout, and
    `verdict_labels.npy` int8 [N, 8], one per attribute and one for all of them: 1 right, 0 wrong, -1 not asked.
    """
    light, eye, tokenizer = load_generator(schnell, LIGHT), Eye.open(course.folder), clip_tokenizer()
    bank, mine = Bank.create(course.folder, course.steps * _PER_STEP), team.share(_PER_STEP)

    def step(step_number: int) -> Figures:
        number = step_number * team.size() + team.rank()
        rng = np.random.default_rng([course.seed, number, 7])
        scenes = [training_scene(rng) for _ in range(mine)]
        seeds = [int(seed) for seed in rng.integers(2**62, size=mine)]
        drawn = sample(light, condition(light, [caption(scene, rng) for scene in scenes]), seeds, STEPS)
        pictures = eye.pictures(drawn)
        for at in np.flatnonzero(rng.random(mine) < _WARPED_SHARE):
            pictures[at] = warp(render(scenes[at], rng), rng)
        asked = [contradict(scene, rng) if rng.random() < _CONTRADICTED_SHARE else scene for scene in scenes]
        readings = [read(picture, scene) for picture, scene in zip(pictures, asked, strict=True)]
        span = slice(number * mine, (number + 1) * mine)
        bank.pictures[span] = pictures
        bank.tokens[span] = encode(tokenizer, [caption(scene, rng) for scene in asked])
        bank.labels[span] = [_labels(reading) for reading in readings]
        return {"right": float(bank.labels[span, -1].mean())}

    follow(course, {}, step)
    bank.flush()
    team.wait()


def warp(picture: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Bend uint8 [64, 64, 3] by smooth random displacements, blur it a little, and roughen it."""
    strength, smoothness = rng.uniform(0, 5), rng.uniform(3, 8)
    shifts = ndimage.gaussian_filter(rng.normal(size=(2, SIDE, SIDE)), (0, smoothness, smoothness))
    shifts *= strength / (np.abs(shifts).max() + 1e-6)
    places = np.indices((SIDE, SIDE)) + shifts
    channels = picture.astype(np.float32).transpose(2, 0, 1)
    bent = [ndimage.map_coordinates(channel, places, order=1, mode="nearest") for channel in channels]
    blur = rng.uniform(0.2, 0.9)
    smooth = ndimage.gaussian_filter(np.stack(bent, axis=-1), (blur, blur, 0))
    return np.clip(smooth + rng.normal(0, rng.uniform(0, 6), smooth.shape), 0, 255).astype(np.uint8)


def _labels(reading: Reading) -> list[int]:
    asked = reading.applicable
    return [*(int(asked.get(name, _UNASKED)) for name in ATTRIBUTES), int(reading.all_right)]


@dataclass(frozen=True, slots=True)
class Bank:
    """Pictures with captions and verdicts, memory-mapped."""

    pictures: np.memmap
    tokens: np.memmap
    labels: np.memmap

    @classmethod
    def create(cls, folder: Path, count: int) -> "Bank":
        """Open a bank of `count` pictures for writing; the team's first member creates its files."""
        if team.rank() == 0:
            create_map(folder / "verdict_pictures.npy", "|u1", (count, SIDE, SIDE, 3))
            create_map(folder / "verdict_tokens.npy", "|u1", (count, LENGTH))
            create_map(folder / "verdict_labels.npy", "|i1", (count, len(ATTRIBUTES) + 1))
        team.wait()
        return cls(*(open_map(folder / f"verdict_{name}.npy") for name in _PARTS))

    @classmethod
    def open(cls, folder: Path) -> "Bank":
        """Open what `build` wrote."""
        return cls(*(np.load(folder / f"verdict_{name}.npy", mmap_mode="r") for name in _PARTS))

    def flush(self) -> None:
        """Write everything to disk."""
        for part in (self.pictures, self.tokens, self.labels):
            part.flush()


class Probe(nn.Module):
    """Verdicts from a picture's features and its caption's embedding."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.Sequential(
            nn.LayerNorm(6 * width), nn.Linear(6 * width, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, len(ATTRIBUTES) + 1)
        )

    @override
    def forward(self, seen: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        """Return logits [B, 8] from features [B, 384] and embeddings [B, 128]."""
        image = seen[:, : self.width]
        return self.layers(torch.cat([seen, text, image * text, (image - text).abs()], dim=-1))


def tune(course: Course, plain: Course, batch: int = BATCH) -> None:
    """Go on from `plain`'s CLIP along `course`, on verdicts and contrast together; its checkpoint is laid out alike."""
    torch.manual_seed(course.seed)
    clip, probe, bank = load_clip(plain), Probe(), Bank.open(course.folder)
    clip.train().requires_grad_()
    average, tokenizer = Average(clip, 0.995), clip_tokenizer()
    learners = [*optimisers(clip, PEAK_RATE), torch.optim.AdamW(probe.parameters(), PEAK_RATE)]
    parts = {f"optimiser{number}": learner for number, learner in enumerate(learners)}
    kept_out = len(bank.labels) // 20

    def step(number: int) -> Figures:
        set_rates(learners, PEAK_RATE * course.schedule(number, warm_up=50))
        rng = np.random.default_rng([course.seed, number, team.rank(), 8])
        chosen = np.sort(rng.integers(kept_out, len(bank.labels), size=batch // team.size()))
        loss = _doubt(*_answer(clip, probe, bank, chosen))
        figures = {"doubt": loss.item()}
        if number % _CONTRAST_EVERY == 0:  # enough not to forget what it learned from contrast
            part = number * team.size() + team.rank()
            contrasted, _ = contrast(clip, tokenizer, course.seed, part, _CONTRASTED // team.size())
            loss, figures["contrast"] = loss + contrasted, contrasted.item()
        descend([*clip.parameters(), *probe.parameters()], learners, loss)
        average.update()
        return figures

    def watch(done: int) -> None:
        del done
        figures = examine(load_clip(course))
        with torch.no_grad():
            logits, labels = _answer(clip.eval(), probe, bank, np.arange(kept_out))
        clip.train()
        right = ((logits > 0) == (labels > 0)).float()
        for at, name in enumerate((*ATTRIBUTES, "all")):
            figures[name] = right[labels[:, at] >= 0, at].mean().item()
        course.console.print("  " + "  ".join(f"{name} {value:.3f}" for name, value in figures.items()))

    follow(course, {"clip": clip, "probe": probe, "average": average, **parts}, step, watch)


def _answer(clip: CLIP, probe: Probe, bank: Bank, chosen: NDArray[np.intp]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the probe's logits and the oracle's labels of some of the bank, both [B, 8]."""
    seen = features(clip, normalise(bank.pictures[chosen]))
    text = clip.encode_text(torch.from_numpy(bank.tokens[chosen].astype(np.int64)), normalize=True)
    return probe(seen, text), torch.from_numpy(bank.labels[chosen].astype(np.float32))


def _doubt(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean binary cross-entropy over the attributes that were asked for; both [B, 8]."""
    asked = (labels != _UNASKED).float()
    losses = functional.binary_cross_entropy_with_logits(logits, labels.clamp(min=0), reduction="none")
    return (losses * asked).sum() / asked.sum()
