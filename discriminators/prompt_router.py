"""A head on a prompt's embedding alone: would the heavy tier do better, before anything is drawn?"""

from __future__ import annotations

from pathlib import Path

from discriminators.calibrated_head import CalibratedHead, Kind
from discriminators.clip_folder import open_embeddings
from discriminators.embeddings import Embeddings


class PromptRouter:
    """P(heavy better) from the prompt. Any number of threads may ask at once."""

    def __init__(self, clip: Embeddings, head: Path, threads: int) -> None:
        """Load the head; the CLIP may be shared with others.

        Args:
            clip: whose text tower is used.
            head: folder of `head.onnx` and `calibration.json`, of kind router.
            threads: CPU threads within one operator.

        Raises:
            ModelFilesError: the folder is missing, incomplete or corrupt, or the head is of another kind or CLIP.
        """
        self._clip = clip
        self._head = CalibratedHead(head, clip, frozenset({Kind.ROUTER}), threads)

    @classmethod
    def open(cls, clip: Path, head: Path, threads: int) -> PromptRouter:
        """Load both from their folders.

        Raises:
            ModelFilesError: a folder is missing, incomplete or corrupt, or the head is of another kind or CLIP.
        """
        return cls(open_embeddings(clip, threads), head, threads)

    def probability(self, prompt: str) -> float:
        """The calibrated probability, 0..1, that the heavy tier's picture would be better by the head's margin.

        Raises:
            DiscriminatorError: the prompt is not Unicode text, or a network failed.
        """
        return self._head.probability(None, self._clip.text(prompt))
