"""The training set: pictures encoded once, as packed latents and token ids in memory-mapped files.

`latents.npy` is float16 [N, 16, 64], packed as FluxPipeline packs and normalised to zero mean and unit spread;
`tokens.npy` is uint8 [N, 20], T5 layout.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL
from numpy.typing import NDArray

from shapes.captions import caption
from shapes.train import team
from shapes.train.autoencoder import CHANNELS, new_autoencoder
from shapes.train.course import Course, Figures, follow
from shapes.train.pictures import draw, to_pictures, to_tensor
from shapes.train.words import LENGTH, encode, t5_tokenizer

_BATCH = 1000
_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Scaling:
    """How raw latents become normalised ones: `(latents - shift) * scale`."""

    scale: float
    shift: float


def load_autoencoder(folder: Path) -> AutoencoderKL:
    """Load the averaged autoencoder out of a run folder, in evaluation mode; a decoder trained on afterwards wins."""
    vae = new_autoencoder()
    later = folder / "decoder.checkpoint.pt"
    state = torch.load(later if later.exists() else folder / "vae.checkpoint.pt", weights_only=True)
    vae.load_state_dict(state["average"]["shadow"])
    return vae.eval().requires_grad_(requires_grad=False)


def measure_scaling(vae: AutoencoderKL, seed: int) -> Scaling:
    """Measure mean and spread over 512 pictures."""
    with torch.no_grad():
        latents = vae.encode(to_tensor(draw(seed, 0, 512).pictures)).latent_dist.mean
    return Scaling(scale=round(1 / latents.std().item(), 4), shift=round(latents.mean().item(), 4))


def pack(latents: torch.Tensor) -> torch.Tensor:
    """Return [B, h/2 · w/2, 64] from [B, 16, h, w]; each token holds a 2 × 2 block, channel first."""
    count, channels, height, width = latents.shape
    blocks = latents.view(count, channels, height // 2, 2, width // 2, 2)  # B C y dy x dx
    return blocks.permute(0, 2, 4, 1, 3, 5).reshape(count, height // 2 * (width // 2), channels * 4)


def unpack(tokens: torch.Tensor, side: int = 4) -> torch.Tensor:
    """Return [B, 16, 2·side, 2·side] from [B, side², 64]."""
    blocks = tokens.view(len(tokens), side, side, CHANNELS, 2, 2)  # B y x C dy dx
    return blocks.permute(0, 3, 1, 4, 2, 5).reshape(len(tokens), CHANNELS, 2 * side, 2 * side)


def load_scaling(folder: Path) -> Scaling:
    """Read what `build` measured."""
    return Scaling(**json.loads((folder / "scaling.json").read_text(encoding="utf-8")))


def decode(vae: AutoencoderKL, scaling: Scaling, tokens: torch.Tensor, side: int = 4) -> NDArray[np.uint8]:
    """Return uint8 [B, 64, 64, 3] from normalised packed latents [B, 16, 64]."""
    with torch.no_grad():
        parts = [vae.decode(unpack(part, side) / scaling.scale + scaling.shift).sample for part in tokens.split(64)]
    return to_pictures(torch.cat(parts))


def build(course: Course) -> None:
    """Encode 1,000 pictures per step, over the whole team; resumes after the last checkpoint."""
    vae = load_autoencoder(course.folder)
    scaling = measure_scaling(vae, course.seed)
    mine, tokenizer = team.share(_BATCH), t5_tokenizer()
    latents, tokens = _open_all(course.folder, course.steps * _BATCH, scaling)
    vae.to(memory_format=torch.channels_last)

    def step(step_number: int) -> Figures:
        number = step_number * team.size() + team.rank()
        drawn = draw(course.seed, number, mine)
        rng = np.random.default_rng([course.seed, number, 1])
        span = slice(number * mine, (number + 1) * mine)
        tokens[span] = encode(tokenizer, [caption(scene, rng) for scene in drawn.scenes])
        with torch.no_grad():
            raw = vae.encode(to_tensor(drawn.pictures).to(memory_format=torch.channels_last)).latent_dist.mean
        latents[span] = pack((raw.contiguous() - scaling.shift) * scaling.scale).numpy()
        return {"spread": float(latents[span].astype(np.float32).std())}

    follow(course, {}, step)
    latents.flush()
    tokens.flush()
    team.wait()


def _open_all(folder: Path, count: int, scaling: Scaling) -> tuple[np.memmap, np.memmap]:
    """Open both files for `count` pictures and note the scaling; the team's first member creates them."""
    if team.rank() == 0:
        create_map(folder / "latents.npy", "<f2", (count, _TOKENS, 4 * CHANNELS))
        create_map(folder / "tokens.npy", "|u1", (count, LENGTH))
        (folder / "scaling.json").write_text(json.dumps({"scale": scaling.scale, "shift": scaling.shift}), "utf-8")
    team.wait()
    return open_map(folder / "latents.npy"), open_map(folder / "tokens.npy")


def create_map(path: Path, kind: str, shape: tuple[int, ...]) -> None:
    """Create a memory-mapped array file, keeping what is there when its shape fits."""
    if not path.exists() or np.load(path, mmap_mode="r").shape != shape:
        np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)


def open_map(path: Path) -> np.memmap:
    """Open a memory-mapped array file for writing."""
    return np.lib.format.open_memmap(path, mode="r+")
