"""What the benchmark looks at pictures with: the scores that the shipped one is compared with, and a CLIP of its own.

Baselines stand on the CLIP of the shipped discriminator, so that only what is made of its embeddings differs. The judge
is another CLIP: a distance in the discriminator's own space would flatter the discriminator.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.cascade.errors import MissingWeightsError
from cascade.catalogue import DiscriminatorEntry
from discriminators.calibrated_head import CalibratedHead, Kind
from discriminators.clip_embeddings import ClipEmbeddings

REAL_FAKE = "heads/real-vs-generated"
ROUTER = "heads/prompt-router"
JUDGE = "shapes-clip-judge"


class Baselines:
    """Other scores of a light picture; the higher climbs first."""

    def __init__(self, entry: DiscriminatorEntry, weights: Path, threads: int) -> None:
        """Load them.

        Args:
            entry: the shipped discriminator, whose CLIP they share.
            weights: folder that holds the heads.
            threads: CPU threads within one operator.

        Raises:
            MissingWeightsError: there is no such head.
            ModelFilesError: one is incomplete, corrupt or of another CLIP.
        """
        self._clip = ClipEmbeddings(entry.folders["clip"], threads)
        real_fake = _folder(weights, REAL_FAKE, "which the cascade is compared with")
        router = _folder(weights, ROUTER, "which the cascade is compared with")
        self._real_fake = CalibratedHead(real_fake, self._clip, frozenset({Kind.REAL_FAKE}), threads)
        self._router = CalibratedHead(router, self._clip, frozenset({Kind.ROUTER}), threads)

    def orders(self, prompt: str, content: bytes) -> dict[str, float]:
        """Scores of PNG bytes and their prompt: how generated it looks, how far it is from it, how hard the prompt is.

        Raises:
            DiscriminatorError: a network failed.
        """
        image, text = self._clip.image(content), self._clip.text(prompt)
        return {
            "real_fake": float(self._real_fake.logits(image, None)[0]),
            "cosine": -float(image[0, : self._clip.width] @ text[0]),
            "router": float(self._router.logits(None, text)[0]),
        }


class Judge:
    """A CLIP that is used for nothing but this."""

    def __init__(self, weights: Path, threads: int) -> None:
        """Load it.

        Raises:
            MissingWeightsError: there is none.
            ModelFilesError: it is incomplete or corrupt.
        """
        self._clip = ClipEmbeddings(_folder(weights, JUDGE, "which pictures are compared in the space of"), threads)
        self.digest = self._clip.digest

    def embeddings(self, contents: Iterable[bytes]) -> NDArray[np.float64]:
        """[N, D] of length one, of N PNG pictures.

        Raises:
            DiscriminatorError: the network failed.
        """
        rows = [self._clip.image(content)[0, : self._clip.width] for content in contents]
        return np.asarray(rows, np.float64)


def _folder(weights: Path, name: str, role: str) -> Path:
    folder = weights / name
    if not folder.is_dir():
        raise MissingWeightsError(name, role)
    return folder
