"""What a stage will cost, before it runs.

`t = t_text + evaluations · (t_evaluation + t_token · tokens) + t_pixel · pixels` in milliseconds: the linear part of
the duration model, enough while attention's quadratic term is small (short sequences).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PIXELS_PER_TOKEN = 16 * 16
"""A Flux-class transformer sees one token for 2×2 latent pixels of an f8 autoencoder."""


@dataclass(frozen=True, slots=True)
class DurationProfile:
    """How long a variant takes, in milliseconds of one of its pool's GPUs.

    Attributes:
        text_ms: prompt encoding and other fixed cost of a picture.
        evaluation_ms: fixed cost of one network evaluation.
        token_ms: cost of one image token in one evaluation.
        megapixel_ms: decoding and encoding one million pixels.
        band: 95th percentile over median, at least 1.
    """

    text_ms: float
    evaluation_ms: float
    token_ms: float
    megapixel_ms: float
    band: float

    def __post_init__(self) -> None:
        parts = (self.text_ms, self.evaluation_ms, self.token_ms, self.megapixel_ms)
        if not all(math.isfinite(part) and part >= 0 for part in parts):
            raise ValueError("every part of a duration profile is a finite number of milliseconds, at least 0")
        if not (math.isfinite(self.band) and self.band >= 1):
            raise ValueError(f"band {self.band} is below 1")

    def median_ms(self, width: int, height: int, evaluations: int) -> float:
        """Predicted median milliseconds for one picture, without a discriminator."""
        pixels = width * height
        evaluation = self.evaluation_ms + self.token_ms * math.ceil(pixels / PIXELS_PER_TOKEN)
        return self.text_ms + evaluations * evaluation + self.megapixel_ms * pixels / 1e6


def to_gpu_ms(milliseconds: float, gpu_weight: float) -> int:
    """Whole milliseconds of the reference GPU, rounded up: time that ran is never free."""
    return math.ceil(milliseconds * gpu_weight)
