"""shapes-clip: an open_clip model of the tiny world, trained with one contradicting caption per picture.

A second one of another seed, `shapes-clip-judge`, takes no part in any decision: it only measures distributions.
`shapes.train.verdicts` teaches the first one to see what the tiers get wrong.
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import torch
from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg
from scipy import ndimage
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

from shapes.captions import caption
from shapes.scenes import Scene
from shapes.train import team
from shapes.train.contrast import contradict
from shapes.train.course import Average, Course, Figures, follow
from shapes.train.dev import optimisers, set_rates
from shapes.train.pictures import Drawn, draw
from shapes.train.precision import autocast
from shapes.train.words import LENGTH, PAD, VOCABULARY, clip_tokenizer, encode

BATCH = 128
PEAK_RATE = 1e-3
MEAN: Final = (0.5, 0.5, 0.5)
STD: Final = (0.5, 0.5, 0.5)
MODEL_CONFIG: Final[dict[str, Any]] = {
    "embed_dim": 128,
    "vision_cfg": {"image_size": 64, "patch_size": 8, "width": 128, "layers": 5, "head_width": 32},
    "text_cfg": {
        "context_length": LENGTH,
        "vocab_size": len(VOCABULARY),
        "width": 128,
        "heads": 4,
        "layers": 2,
        "pad_id": VOCABULARY[PAD],
        "hf_tokenizer_name": "shapes-clip",
    },
}
_STEEPEST = 4.6
FEATURES: Final = MODEL_CONFIG["embed_dim"] + 2 * MODEL_CONFIG["vision_cfg"]["width"]
"""Numbers per picture in `features`."""


def new_clip() -> CLIP:
    """Build the CLIP with random weights."""
    return CLIP(
        MODEL_CONFIG["embed_dim"], CLIPVisionCfg(**MODEL_CONFIG["vision_cfg"]), CLIPTextCfg(**MODEL_CONFIG["text_cfg"])
    )


def train(course: Course, batch: int = BATCH) -> None:
    """Train along `course`; prints retrieval and contradiction accuracy at every checkpoint."""
    torch.manual_seed(course.seed)
    clip = new_clip()
    clip.train()
    average = Average(clip, 0.995)
    learners = optimisers(clip, PEAK_RATE)
    parts = {f"optimiser{number}": learner for number, learner in enumerate(learners)}
    tokenizer = clip_tokenizer()

    def step(number: int) -> Figures:
        set_rates(learners, PEAK_RATE * course.schedule(number))
        part = number * team.size() + team.rank()
        loss, right = contrast(clip, tokenizer, course.seed, part, batch // team.size())
        descend(clip.parameters(), learners, loss)
        average.update()
        return {"loss": loss.item(), "contradicted": right}

    def watch(done: int) -> None:
        del done
        figures = examine(load_clip(course))
        course.console.print("  " + "  ".join(f"{name} {value:.3f}" for name, value in figures.items()))

    follow(course, {"clip": clip, "average": average, **parts}, step, watch)


def contrast(clip: CLIP, tokenizer: Tokenizer, seed: int, number: int, batch: int) -> tuple[torch.Tensor, float]:
    """Return the loss on batch `number` of fresh pictures, and the share nearer to its caption than to a false one."""
    rng = np.random.default_rng([seed, number, 2])
    drawn = draw(seed, number, batch)
    pixels = normalise(_disturb(drawn, rng))
    texts = [*_say(drawn.scenes, rng), *_say(_contradict(drawn.scenes, rng), rng)]
    return _contrast(clip, pixels, torch.from_numpy(encode(tokenizer, texts)))


def descend(parameters: Iterable[nn.Parameter], learners: list[torch.optim.Optimizer], loss: torch.Tensor) -> None:
    """Take one optimiser step with the team's mean gradients."""
    learned = list(parameters)
    for learner in learners:
        learner.zero_grad(set_to_none=True)
    loss.backward()
    team.average_gradients(learned)
    nn.utils.clip_grad_norm_(learned, 1.0)
    for learner in learners:
        learner.step()


def features(clip: CLIP, pixels: torch.Tensor) -> torch.Tensor:
    """Return [B, 384]: the embedding of length one, then the last layer's patch tokens, their mean and their maximum.

    Args:
        clip: The model.
        pixels: Normalised pictures, [B, 3, 64, 64].
    """
    clip.visual.output_tokens = True
    pooled, patches = clip.visual(pixels)
    clip.visual.output_tokens = False
    return torch.cat([functional.normalize(pooled, dim=-1), patches.mean(1), patches.amax(1)], dim=-1)


def _contrast(clip: CLIP, pixels: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, float]:
    """InfoNCE with contradictions.

    Args:
        clip: The model.
        pixels: Normalised pictures, [B, 3, 64, 64].
        ids: [2B, 20]; the first half are the pictures' captions, the second half contradict them one by one.

    Returns:
        The loss, and the share of pictures nearer to their caption than to its contradiction.
    """
    count = len(pixels)
    with autocast():
        images = functional.normalize(clip.encode_image(pixels).float(), dim=-1)
        texts = functional.normalize(clip.encode_text(ids).float(), dim=-1)
    logits = clip.logit_scale.clamp(0, _STEEPEST).exp() * images @ texts.T
    target = torch.arange(count)
    loss = functional.cross_entropy(logits, target) + functional.cross_entropy(logits[:, :count].T, target)
    right = logits[:, :count].diagonal() > logits[:, count:].diagonal()
    return loss, right.float().mean().item()


def load_clip(course: Course) -> CLIP:
    """Load the averaged CLIP out of its checkpoint, in evaluation mode."""
    clip = new_clip()
    state = torch.load(course.checkpoint, weights_only=True)
    clip.load_state_dict(state["average"]["shadow"])
    return clip.eval().requires_grad_(requires_grad=False)


def normalise(pictures: np.ndarray[Any, np.dtype[np.uint8]]) -> torch.Tensor:
    """Return float32 [B, 3, 64, 64] in -1..1 from uint8 [B, 64, 64, 3]: mean and deviation one half."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)


@torch.no_grad()
def examine(clip: CLIP, count: int = 512, seed: int = 424_242) -> dict[str, float]:
    """Measure retrieval among `count` captions and how often the true caption beats a contradicting one."""
    drawn = draw(seed, 0, count)
    rng = np.random.default_rng([seed, 1])
    tokenizer = clip_tokenizer()
    true = torch.from_numpy(encode(tokenizer, _say(drawn.scenes, rng)))
    false = torch.from_numpy(encode(tokenizer, _say(_contradict(drawn.scenes, rng), rng)))
    images = clip.encode_image(normalise(drawn.pictures), normalize=True)
    texts = clip.encode_text(true, normalize=True)
    own = (images * texts).sum(-1)
    opposed = (images * clip.encode_text(false, normalize=True)).sum(-1)
    found = (images @ texts.T).argmax(1)
    same = torch.tensor([drawn.scenes[int(at)] == scene for at, scene in zip(found, drawn.scenes, strict=True)])
    return {
        "retrieval": same.float().mean().item(),
        "contradiction": (own > opposed).float().mean().item(),
        "cosine": own.mean().item(),
    }


def _say(scenes: list[Scene], rng: np.random.Generator) -> list[str]:
    return [caption(scene, rng) for scene in scenes]


def _contradict(scenes: list[Scene], rng: np.random.Generator) -> list[Scene]:
    return [contradict(scene, rng) for scene in scenes]


def _disturb(drawn: Drawn, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Blur and roughen half of the pictures a little, as an autoencoder would. Returns uint8 [B, 64, 64, 3]."""
    pictures = drawn.pictures.astype(np.float32)
    for at in np.flatnonzero(rng.random(len(pictures)) < 0.5):  # noqa: PLR2004
        blur = rng.uniform(0.2, 0.9)
        pictures[at] = ndimage.gaussian_filter(pictures[at], (blur, blur, 0))
        pictures[at] += rng.normal(0, rng.uniform(1, 8), pictures[at].shape)
    return np.clip(pictures, 0, 255).astype(np.uint8)
