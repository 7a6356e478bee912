"""What a caller wants drawn. Field names are those of a diffusers call."""

from __future__ import annotations

from dataclasses import dataclass

SEEDS = 2**32
"""Seeds are 0 … SEEDS - 1: what torch's CPU generator tells apart."""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """Pictures to draw for one prompt.

    Attributes:
        prompt: what to draw.
        width: pixels.
        height: pixels.
        seed: of picture 0, in [0, SEEDS). Picture i uses `seed_of(i)`.
        n: number of pictures, at least 1.
        steps: denoising steps; `None` leaves each stage its own.
        guidance: guidance scale; `None` leaves each stage its own.
        negative_prompt: what to avoid; empty for nothing.
    """

    prompt: str
    width: int
    height: int
    seed: int
    n: int = 1
    steps: int | None = None
    guidance: float | None = None
    negative_prompt: str = ""

    @property
    def pixels(self) -> int:
        """Pixels of one picture."""
        return self.width * self.height

    def seed_of(self, index: int) -> int:
        """The seed of picture `index`: so n pictures with seed s equal single ones with s, s+1 and on."""
        return (self.seed + index) % SEEDS
