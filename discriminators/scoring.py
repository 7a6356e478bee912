"""From a raw measure of a picture to the port's score: what all published scorers share.

A raw score is no probability: it is a cosine, a logit or a rating. A `calibration.json` says what it is worth here;
without one a scorer's own default map keeps the order, and no more should be read into it.
"""

from __future__ import annotations

import math
import threading
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path

from typing_extensions import override

from cascade.errors import DiscriminatorError, ModelFilesError
from cascade.jobs import Artifact, Score
from cascade.model_folder import ModelFolder
from cascade.ports import Discriminator
from cascade.requests import GenerationRequest
from cascade.threads import in_thread
from discriminators.calibrated_head import read_knots

ToScore = Callable[[float], float]
"""Rising, from any finite raw score into 0..1."""


class RawScorer(Discriminator):
    """A discriminator made of a raw measure and what it is worth."""

    def __init__(self, to_score: ToScore) -> None:
        self._to_score = to_score

    @abstractmethod
    def raw(self, prompt: str, content: bytes) -> float:
        """The published score of an encoded picture, as its authors compute it.

        Raises:
            DiscriminatorError: the picture could not be judged.
        """

    @override
    async def score(self, request: GenerationRequest, artifact: Artifact) -> Score:
        return await in_thread(partial(self._score, request.prompt, artifact.content))

    def _score(self, prompt: str, content: bytes, _: threading.Event) -> Score:
        """Too short a piece of work to be stopped halfway."""
        raw = self.raw(prompt, content)
        if not math.isfinite(raw):
            raise DiscriminatorError("The scorer's answer is not a number.")
        return Score(self._to_score(raw))


def score_map(calibration: Path | None, digest: str, default: ToScore) -> ToScore:
    """What a raw score is worth.

    Args:
        calibration: folder of a `calibration.json` whose `knots` lead from raw scores (x) to the probability that the
            picture is good enough (y), or `None` for `default`.
        digest: of the scorer's weights; a calibration with a `clip_digest` must name the same.
        default: of the scorer.

    Raises:
        ModelFilesError: the calibration is missing or makes no sense, or belongs to other weights.
    """
    if calibration is None:
        return default
    settings = ModelFolder(calibration).settings("calibration.json")
    if settings.text("clip_digest", digest) != digest:
        raise ModelFilesError(
            f"Calibration {calibration.name} was made for another scorer. Name the right pair in the catalogue."
        )
    return read_knots(settings).probability


def logistic(logit: float) -> float:
    """1 / (1 + exp(-logit)) in 0..1, without overflow."""
    return 0.5 * (1.0 + math.tanh(0.5 * logit))
