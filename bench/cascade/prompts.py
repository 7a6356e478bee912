"""Prompts nobody was trained on, drawn from seeds: held-out combinations, pairs never seen together, and others."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

import numpy as np

from bench.cascade.errors import FewPromptsError
from cascade.fingerprint import derived_seed
from cascade.jobs import TenantId
from shapes.captions import caption
from shapes.scenes import Difficulty, Scene, Split, sample_scene

_STREAMS = {"prompts": 1, "novel": 2, "reference": 3}
_MOST_TRIES = 20_000
_TENANT = TenantId("bench")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked for, and what that means."""

    text: str
    scene: Scene


def stream_of(name: str, seed: int) -> list[int]:
    """The seed sequence of a stream: `prompts`, `novel` or `reference`."""
    return [seed, _STREAMS[name]]


def held_out(seed: int, count: int) -> list[Prompt]:
    """Different prompts of the test split, the three difficulties in turn.

    The first n of a larger count are those of count n.

    Raises:
        FewPromptsError: there are not so many.
    """
    return _draw(stream_of("prompts", seed), count, _unseen, frozenset())


def novel(seed: int, count: int) -> list[Prompt]:
    """Different prompts with a colour on a shape that no training picture shows. Of any split: none was trained on.

    Raises:
        FewPromptsError: there are not so many.
    """
    return _draw(stream_of("novel", seed), count, lambda scene: scene.novel, frozenset())


def reference(seed: int, count: int, taken: Container[str]) -> list[Prompt]:
    """Prompts like those of `held_out`, none of them in `taken`.

    Raises:
        FewPromptsError: there are not so many.
    """
    return _draw(stream_of("reference", seed), count, _unseen, taken)


def picture_seed(seed: int, text: str) -> int:
    """The seed of a prompt's pictures, both tiers': made of the prompt, as for callers who let the cache choose."""
    return derived_seed(f"bench {seed}".encode(), _TENANT, text)


def _unseen(scene: Scene) -> bool:
    return scene.split is Split.TEST and not scene.novel


def _draw(stream: list[int], count: int, wanted: Callable[[Scene], bool], taken: Container[str]) -> list[Prompt]:
    rng = np.random.default_rng(stream)
    ladder = tuple(Difficulty)
    found: dict[str, Prompt] = {}
    for _ in range(count):
        difficulty = ladder[len(found) % len(ladder)]
        prompt = _another(rng, difficulty, wanted, lambda text: text in taken or text in found)
        if prompt is None:
            raise FewPromptsError(len(found))
        found[prompt.text] = prompt
    return list(found.values())


def _another(
    rng: np.random.Generator, difficulty: Difficulty, wanted: Callable[[Scene], bool], used: Callable[[str], bool]
) -> Prompt | None:
    """A prompt that is not used yet, or `None` after many tries."""
    for _ in range(_MOST_TRIES):
        scene = sample_scene(rng, difficulty)
        if wanted(scene) and not used(text := caption(scene, rng)):
            return Prompt(text, scene)
    return None
