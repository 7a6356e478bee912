"""A head on CLIP's embeddings, trained on one pair of tiers: would the heavy one do better on this prompt?"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from cascade.errors import DiscriminatorError, ModelFilesError
from cascade.jobs import Artifact, Score
from cascade.model_folder import ModelFolder, Settings
from cascade.ports import Discriminator
from cascade.requests import GenerationRequest
from cascade.threads import in_thread
from discriminators.clip_embeddings import ClipEmbeddings
from discriminators.networks import Network


@dataclass(frozen=True, slots=True)
class Knots:
    """Isotonic calibration: a rising line through points, flat outside them.

    Attributes:
        logits: [K] float64, ascending.
        probabilities: [K] float64 in 0..1, never falling.
    """

    logits: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    def probability(self, logit: float) -> float:
        """P(heavy better) for a raw logit."""
        return float(np.interp(logit, self.logits, self.probabilities))


class ClipHead(Discriminator):
    """Scores a light picture by the calibrated probability that the heavy tier would not beat it."""

    def __init__(self, clip: Path, head: Path, threads: int) -> None:
        """Load the CLIP and the head that stands on it.

        Args:
            clip: folder of the CLIP.
            head: folder of `head.onnx` and `calibration.json`.
            threads: CPU threads within one operator.

        Raises:
            ModelFilesError: a folder is missing, incomplete or corrupt, or the head belongs to another CLIP.
        """
        files = ModelFolder(head)
        calibration = files.settings("calibration.json")
        self._knots = read_knots(calibration)
        self._clip = ClipEmbeddings(clip, threads)
        if calibration.text("clip_digest") != self._clip.digest:
            raise ModelFilesError(
                f"Head {head.name} was trained for another CLIP than {clip.name}. Name the right pair in the catalogue."
            )
        self._head = Network(files, "head.onnx", frozenset({"image_embedding", "text_embedding"}), threads)

    @override
    async def score(self, request: GenerationRequest, artifact: Artifact) -> Score:
        return await in_thread(partial(self._score, request.prompt, artifact.content))

    def _score(self, prompt: str, content: bytes, _: threading.Event) -> Score:
        """Too short a piece of work to be stopped halfway."""
        text, image = self._clip.text(prompt), self._clip.image(content)
        (logit,) = self._head.run({"image_embedding": image, "text_embedding": text}).ravel()
        if not np.isfinite(logit):
            raise DiscriminatorError("The head's answer is not a number.")
        return Score(1 - self._knots.probability(float(logit)))


def read_knots(calibration: Settings) -> Knots:
    """The knots of a `calibration.json`.

    Raises:
        ModelFilesError: there is none, they do not rise, or they leave 0..1.
    """
    knots = calibration.inner("knots")
    logits, probabilities = np.array(knots.numbers("x")), np.array(knots.numbers("y"))
    rising = logits.size > 0 and (np.diff(logits) >= 0).all() and (np.diff(probabilities) >= 0).all()
    if logits.shape != probabilities.shape or not rising:
        raise calibration.folder.broken(calibration.name, "must give knots as rising x and y of the same length")
    if not 0 <= probabilities[0] <= probabilities[-1] <= 1:
        raise calibration.folder.broken(calibration.name, "must give knots' y as probabilities")
    return Knots(logits, probabilities)
