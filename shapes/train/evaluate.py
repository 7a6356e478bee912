"""What is shipped, measured: plain diffusers loads the folders, the oracle reads the pictures, cards are written."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from diffusers import FluxPipeline
from rich.console import Console

from shapes.train.cards import markdown, write_cards
from shapes.train.clip import examine as examine_clip
from shapes.train.export import CLIP, DEV, JUDGE, SCHNELL
from shapes.train.flow import Eye, examine, tally
from shapes.train.latents import Scaling, pack
from shapes.train.networks import HEAVY, LIGHT, Depth, Generator
from shapes.train.pictures import draw, to_tensor

SEED = 20_260
_PICTURES = 512


@dataclass(frozen=True, slots=True)
class Shipped:
    """A shipped variant, ready to be examined."""

    generator: Generator
    eye: Eye
    steps: int

    @classmethod
    def open(cls, folder: Path, depth: Depth) -> "Shipped":
        """Load a folder with `FluxPipeline.from_pretrained` and take its parts."""
        pipeline = FluxPipeline.from_pretrained(folder)
        generator = Generator(depth)
        generator.transformer = pipeline.transformer
        generator.pooled_encoder = pipeline.text_encoder
        generator.sequence_encoder = pipeline.text_encoder_2
        config = pipeline.vae.config
        eye = Eye(pipeline.vae.eval(), Scaling(config.scaling_factor, config.shift_factor))
        manifest = json.loads((folder / "maquette.json").read_text("utf-8"))
        return cls(generator.eval(), eye, int(manifest["steps"]))


def evaluate(weights: Path, console: Console, count: int = 200) -> dict[str, Any]:
    """Measure both tiers on `count` unseen prompts of each difficulty, and the autoencoder; write the model cards.

    Returns:
        `{"shapes-dev": {difficulty: {attribute: share}}, "shapes-schnell": …, "autoencoder": …}`.
    """
    figures: dict[str, Any] = {}
    for name, depth in ((DEV, HEAVY), (SCHNELL, LIGHT)):
        shipped = Shipped.open(weights / name, depth)
        began = time.monotonic()
        report = examine(shipped.generator, shipped.eye, shipped.steps, count=count, seed=SEED)
        seconds = (time.monotonic() - began) / (3 * count)
        unheard = examine(shipped.generator, shipped.eye, shipped.steps, count=count // 2, seed=SEED, novel=True)
        figures[name] = {difficulty.value: values for difficulty, values in report.items()}
        figures[name] |= {f"novel {difficulty}": values for difficulty, values in unheard.items()}
        console.print(f"{name}, {shipped.steps} steps, {count} prompts a row, {1000 * seconds:.1f} ms a picture")
        console.print(markdown(figures[name]))
        if name == DEV:
            figures["autoencoder"] = reconstruct(shipped.eye)
            console.print(
                "autoencoder: " + "  ".join(f"{key} {value:.3f}" for key, value in figures["autoencoder"].items())
            )
    for name in (CLIP, JUDGE):
        figures[name] = _examine_clip(weights / name)
        console.print(f"{name}: " + "  ".join(f"{key} {value:.3f}" for key, value in figures[name].items()))
    write_cards(weights, figures, count)
    return figures


def _examine_clip(folder: Path) -> dict[str, float]:
    clip = open_clip.create_model(f"local-dir:{folder}")
    return examine_clip(clip.eval())


@torch.no_grad()
def reconstruct(eye: Eye, count: int = _PICTURES) -> dict[str, float]:
    """Tally what the oracle reads on reconstructions of unseen true pictures, and their PSNR in dB."""
    drawn = draw(SEED, 0, count)
    pixels = to_tensor(drawn.pictures)
    latents = torch.cat([eye.vae.encode(part).latent_dist.mean for part in pixels.split(64)])
    tokens = pack((latents - eye.scaling.shift) * eye.scaling.scale)
    error = np.square((eye.pictures(tokens).astype(np.float64) - drawn.pictures) / 255).mean((1, 2, 3))
    return {**tally(eye.readings(tokens, drawn.scenes)), "psnr": float(-10 * np.log10(error.mean()))}
