"""CLIPScore: how far the picture and the prompt point the same way. A weak judge of quality; use it as a baseline."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import override

from discriminators.clip_folder import open_embeddings
from discriminators.embeddings import Embeddings
from discriminators.scoring import RawScorer, score_map

_WEIGHT = 2.5


class ClipScore(RawScorer):
    """The cosine of a CLIP's two embeddings, in -1..1.

    Without a calibration the score is CLIPScore, w · max(cos, 0) with w = 2.5, cut at 1 (Hessel et al., "CLIPScore: A
    Reference-free Evaluation Metric for Image Captioning", EMNLP 2021, section 3).
    """

    def __init__(self, clip: Path, calibration: Path | None, threads: int, device: str = "cpu") -> None:
        """Load the CLIP.

        Args:
            clip: an open_clip folder.
            calibration: folder of its `calibration.json`, or `None`.
            threads: CPU threads of one picture.
            device: a torch device, for a folder without ONNX graphs.

        Raises:
            ModelFilesError: a folder is missing, incomplete or corrupt, or they do not belong together.
        """
        self._clip = open_embeddings(clip, threads, device)
        super().__init__(score_map(calibration, self._clip.digest, self.uncalibrated))

    @staticmethod
    def uncalibrated(raw: float) -> float:
        """What a cosine is worth, in 0..1, without a calibration."""
        return weighted_cosine(raw)

    @override
    def raw(self, prompt: str, content: bytes) -> float:
        return cosine(self._clip, prompt, content)


def weighted_cosine(raw: float) -> float:
    """CLIPScore of a cosine, in 0..1."""
    return min(1.0, _WEIGHT * max(raw, 0.0))


def cosine(clip: Embeddings, prompt: str, content: bytes) -> float:
    """The cosine of a picture's and a prompt's embedding, in -1..1.

    Raises:
        DiscriminatorError: one of them cannot be embedded.
    """
    image, text = clip.image(content)[0, : clip.width], clip.text(prompt)[0]
    return float(image @ text)
