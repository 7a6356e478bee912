"""A head folder as a function, for serving and evaluation: a picture's and a prompt's embeddings to P(heavy better).

`head.onnx` gives a raw logit, `calibration.json` says what it is worth and which CLIP it was made for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from cascade.errors import DiscriminatorError, ModelFilesError
from cascade.model_folder import ModelFolder, Settings
from discriminators.embeddings import Embeddings
from discriminators.networks import RUN_ERRORS, Network

_PICTURE, _PROMPT = "image_features", "text_embedding"


class Kind(StrEnum):
    """What a head looks at."""

    PAIR = "pair"
    """The picture and the prompt."""
    ROUTER = "router"
    """The prompt alone."""
    REAL_FAKE = "real-fake"
    """The picture alone."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of what its graph takes, in order."""
        return {Kind.PAIR: (_PICTURE, _PROMPT), Kind.ROUTER: (_PROMPT,), Kind.REAL_FAKE: (_PICTURE,)}[self]


@dataclass(frozen=True, slots=True)
class Knots:
    """Calibration as a rising line through points, flat outside them.

    Attributes:
        logits: [K] float64, ascending.
        probabilities: [K] float64 in 0..1, never falling.
    """

    logits: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    def probability(self, logit: float) -> float:
        """P(heavy better) for a raw logit."""
        return float(np.interp(logit, self.logits, self.probabilities))


class CalibratedHead:
    """One head, for one CLIP. Any number of threads may ask it at once."""

    def __init__(self, folder: Path, clip: Embeddings, kinds: frozenset[Kind], threads: int) -> None:
        """Load a head.

        Args:
            folder: of `head.onnx` and `calibration.json`.
            clip: whose embeddings it will be fed with.
            kinds: those that the caller can use.
            threads: CPU threads within one operator.

        Raises:
            ModelFilesError: the folder is missing, incomplete or corrupt, or the head is of another kind or CLIP.
        """
        files = ModelFolder(folder)
        self.calibration = files.settings("calibration.json")
        """All that `calibration.json` says."""
        self.knots = read_knots(self.calibration)
        self._inputs = _inputs(self.calibration, kinds)
        _check_clip(self.calibration, clip)
        _check_graph(self.calibration)
        self._network = _Outputs(files, "head.onnx", frozenset(self._inputs), threads)

    def probability(self, image: NDArray[np.float32] | None, text: NDArray[np.float32] | None) -> float:
        """P(heavy better) of one picture's features [1, F] and one prompt's embedding [1, D].

        What the head's kind does not look at may be `None`.

        Raises:
            DiscriminatorError: the network failed or its answer is not a number.
        """
        return self.knots.probability(float(self.logits(image, text)[0]))

    def probabilities(self, image: NDArray[np.float32] | None, text: NDArray[np.float32] | None) -> NDArray[np.float64]:
        """The same for [B, F] and [B, D]; returns [B] float64 in 0..1.

        Raises:
            DiscriminatorError: the network failed or an answer is not a number.
        """
        return np.interp(self.logits(image, text), self.knots.logits, self.knots.probabilities)

    def logits(self, image: NDArray[np.float32] | None, text: NDArray[np.float32] | None) -> NDArray[np.float64]:
        """Raw logits [B] of “heavy better”.

        Raises:
            DiscriminatorError: the network failed or an answer is not a number.
        """
        known = {_PICTURE: image, _PROMPT: text}
        fed = {name: value for name in self._inputs if (value := known[name]) is not None}
        answer = self._network.run(fed).ravel().astype(np.float64)
        if not np.isfinite(answer).all():
            raise DiscriminatorError("The head's answer is not a number.")
        return answer


class _Outputs(Network):
    """A head's graph: the logit comes first, and nothing else of it is computed."""

    @override
    def run(self, inputs: Mapping[str, NDArray[np.float32] | NDArray[np.int64]]) -> NDArray[np.float32]:
        try:
            (output,) = self._session.run([self._session.get_outputs()[0].name], dict(inputs))
        except RUN_ERRORS as error:
            raise DiscriminatorError("head.onnx failed on this picture.") from error
        return np.asarray(output, np.float32)


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


def _inputs(calibration: Settings, kinds: frozenset[Kind]) -> tuple[str, ...]:
    """What the graph takes.

    Raises:
        ModelFilesError: the head's kind is unknown, or not one the caller can use.
    """
    kind, usable = calibration.text("kind", ""), ", ".join(sorted(kinds))
    if kind not in kinds:
        raise calibration.folder.broken(
            calibration.name, f"says kind {kind or 'nothing'}, and here it must be {usable}"
        )
    return Kind(kind).inputs


def _check_clip(calibration: Settings, clip: Embeddings) -> None:
    """Refuse a head made for other embeddings.

    Raises:
        ModelFilesError: the digest or a width differs.
    """
    if calibration.text("clip_digest") != clip.digest:
        raise ModelFilesError(
            f"Head {calibration.folder.path.name} was trained for another CLIP. Name the right pair in the catalogue."
        )
    made_for = calibration.whole("feature_width"), calibration.whole("embedding_width")
    if made_for != (clip.feature_width, clip.width):
        raise ModelFilesError(
            f"Head {calibration.folder.path.name} was trained on {made_for[0]} features of a picture and {made_for[1]} "
            f"of a prompt; this CLIP gives {clip.feature_width} and {clip.width}. Train the head anew on it."
        )


def _check_graph(calibration: Settings) -> None:
    """Refuse a graph that another calibration was made for, as when two folders were mixed.

    Raises:
        ModelFilesError: it is missing, or another one.
    """
    stated, graph = calibration.text("graph_digest", ""), calibration.folder.read("head.onnx")
    if stated and stated != hashlib.sha256(graph).hexdigest():
        raise calibration.folder.broken("head.onnx", "is not the graph that calibration.json was made for")
