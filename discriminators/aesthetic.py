"""LAION's aesthetic predictors: what people would rate the picture, whatever was asked for."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import override

from cascade.model_folder import ModelFolder
from discriminators.aesthetic_layers import read_layers
from discriminators.clip_folder import open_embeddings
from discriminators.scoring import RawScorer, score_map

_WORST, _BEST = 1.0, 10.0


class Aesthetic(RawScorer):
    """A predicted mean rating, nominally in 1..10, of a picture. It does not look at the prompt.

    Without a calibration the score is (rating - 1) / 9, cut to 0..1: the ratings it was trained on, AVA's and SAC's, go
    from 1 to 10.

    The published heads stand on OpenAI's CLIP: its open_clip folder says `"quick_gelu": true`.
    """

    def __init__(self, clip: Path, head: Path, calibration: Path | None, threads: int, device: str = "cpu") -> None:
        """Load the CLIP and the head.

        Args:
            clip: an open_clip folder.
            head: folder of one file of weights: `.safetensors`, or a `.pth`, `.pt` or `.bin` state dictionary.
            calibration: folder of its `calibration.json`, or `None`.
            threads: CPU threads of one picture.
            device: a torch device, for a CLIP folder without ONNX graphs.

        Raises:
            ModelFilesError: a folder is missing, incomplete or corrupt, or they do not belong together.
        """
        self._clip = open_embeddings(clip, threads, device)
        self._layers = read_layers(ModelFolder(head), self._clip.width)
        super().__init__(score_map(calibration, self._clip.digest, share_of_scale))

    @override
    def raw(self, prompt: str, content: bytes) -> float:
        values = self._clip.image(content)[0, : self._clip.width]
        for weight, bias in self._layers:
            values = weight @ values + bias
        return float(values[0])


def share_of_scale(raw: float) -> float:
    """Where a rating lies between the worst and the best, in 0..1."""
    return min(1.0, max(0.0, (raw - _WORST) / (_BEST - _WORST)))
