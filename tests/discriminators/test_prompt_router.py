"""A router decides from the prompt alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cascade.errors import ModelFilesError
from discriminators.calibrated_head import Kind
from discriminators.clip_folder import open_embeddings
from discriminators.clip_head import ClipHead
from discriminators.embeddings import Embeddings
from discriminators.prompt_router import PromptRouter
from discriminators.training.fitting import Recipe
from discriminators.training.head_folder import Names, write_head
from discriminators.training.pairs import uniform
from discriminators.training.trained import train

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

HARD, EASY = "a red circle above the blue square {}", "a green square {}"


def build(clip: Embeddings, place: Path) -> Path:
    """A router that was taught that the heavy tier wins on red circles above blue squares."""
    prompts = [(HARD if number % 2 else EASY).format("on white " * (number % 3)) for number in range(300)]
    won = np.arange(300) % 2 == 1
    pairs = uniform(
        image=np.zeros((300, clip.feature_width), np.float32),
        text=np.concatenate([clip.text(prompt) for prompt in prompts]),
        light=np.full(300, 0.5, np.float32),
        heavy=np.where(won, 0.9, 0.5).astype(np.float32)[:, None],
    )
    write_head(place, train(pairs, Recipe(kind=Kind.ROUTER)), Names("router", "light", "heavy", clip.digest, "rule"))
    return place


def test_a_router_knows_hard_prompts_from_easy_ones(clip: Path, tmp_path: Path) -> None:
    head = build(open_embeddings(clip, 1), tmp_path / "router")
    router = PromptRouter.open(clip, head, threads=1)

    assert router.probability(HARD.format("")) > 0.8
    assert router.probability(EASY.format("")) < 0.2


def test_a_router_is_no_judge_of_pictures(clip: Path, head: Path, tmp_path: Path) -> None:
    router = build(open_embeddings(clip, 1), tmp_path / "router")

    with pytest.raises(ModelFilesError, match="says kind router, and here it must be pair, real-fake"):
        ClipHead(clip, router, threads=1)
    with pytest.raises(ModelFilesError, match="here it must be router"):
        PromptRouter.open(clip, head, threads=1)
