"""A head on CLIP's embeddings, trained on one pair of tiers: would the heavy one do better on this prompt?"""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

from typing_extensions import override

from cascade.jobs import Artifact, Score
from cascade.ports import Discriminator
from cascade.requests import GenerationRequest
from cascade.threads import in_thread
from discriminators.calibrated_head import CalibratedHead, Kind
from discriminators.clip_folder import open_embeddings

_KINDS = frozenset({Kind.PAIR, Kind.REAL_FAKE})
"""A router's head sees no picture and so cannot judge one."""


class ClipHead(Discriminator):
    """Scores a light picture by the calibrated probability that the heavy tier would not beat it."""

    def __init__(self, clip: Path, head: Path, threads: int, device: str = "cpu") -> None:
        """Load the CLIP and the head that stands on it.

        Args:
            clip: folder of the CLIP.
            head: folder of `head.onnx` and `calibration.json`.
            threads: CPU threads within one operator.
            device: a torch device, for a CLIP that runs on torch.

        Raises:
            ModelFilesError: a folder is missing, incomplete or corrupt, or the head belongs to another CLIP.
        """
        self._clip = open_embeddings(clip, threads, device)
        self._head = CalibratedHead(head, self._clip, _KINDS, threads)

    @override
    async def score(self, request: GenerationRequest, artifact: Artifact) -> Score:
        return await in_thread(partial(self._score, request.prompt, artifact.content))

    def _score(self, prompt: str, content: bytes, _: threading.Event) -> Score:
        """Too short a piece of work to be stopped halfway."""
        text, image = self._clip.text(prompt), self._clip.image(content)
        return Score(1 - self._head.probability(image, text))
