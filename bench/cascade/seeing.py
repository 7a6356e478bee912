"""From pictures to what is right in them: the oracle's readings as columns."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench.cascade.policies import Outcomes
from bench.cascade.prompts import Prompt
from bench.cascade.studio import Drawn
from shapes.oracle import Reading, read
from shapes.render import render

Orders = Callable[[str, bytes], Mapping[str, float]]
"""Baseline scores of a prompt and the PNG bytes of its light picture."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A prompt, its pictures, and what the oracle reads in them."""

    prompt: Prompt
    drawn: Drawn
    light: Reading
    heavy: Reading
    orders: Mapping[str, float]


def see(prompt: Prompt, drawn: Drawn, orders: Orders) -> Seen:
    """Read both pictures and score the light one with the baselines.

    Raises:
        ValueError: the pictures have another size than the oracle's.
        DiscriminatorError: a baseline failed.
    """
    light, heavy = (read(pixels(content), prompt.scene) for content in (drawn.light, drawn.heavy))
    return Seen(prompt, drawn, light, heavy, orders(prompt.text, drawn.light))


def outcomes_of(seen: Sequence[Seen]) -> Outcomes:
    """Everything seen, as columns."""
    names = seen[0].orders if seen else ()
    return Outcomes(
        light_right=_column([each.light.all_right for each in seen]),
        heavy_right=_column([each.heavy.all_right for each in seen]),
        light_share=_column([each.light.share for each in seen]),
        heavy_share=_column([each.heavy.share for each in seen]),
        light_ms=_column([each.drawn.light_time.gpu_ms for each in seen]),
        judge_ms=_column([each.drawn.judge_time.gpu_ms for each in seen]),
        heavy_ms=_column([each.drawn.heavy_time.gpu_ms for each in seen]),
        score=_column([each.drawn.score for each in seen]),
        baselines={name: _column([each.orders[name] for each in seen]) for name in names},
    )


def pixels(content: bytes) -> NDArray[np.uint8]:
    """uint8 [H, W, 3] of PNG bytes."""
    with Image.open(io.BytesIO(content)) as picture:
        return np.asarray(picture.convert("RGB"), np.uint8)


def rendered(prompt: Prompt, rng: np.random.Generator) -> bytes:
    """PNG bytes of a true picture of `prompt`."""
    out = io.BytesIO()
    Image.fromarray(render(prompt.scene, rng)).save(out, "PNG")
    return out.getvalue()


def _column(values: Sequence[float]) -> NDArray[np.float64]:
    return np.asarray(values, np.float64)
