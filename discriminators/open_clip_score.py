"""HPS v2, v2.1 and their like: a CLIP in open_clip's format, fine-tuned on which of two pictures people preferred."""

from __future__ import annotations

from typing_extensions import override

from discriminators.clip_score import ClipScore
from discriminators.scoring import logistic

_SCALE = 100.0
"""Of a cosine in such a CLIP's softmax over pictures: CLIP's largest logit scale, with which HPS v2 was tuned."""
_REFERENCE = 0.2717
"""Mean cosine of Stable Diffusion 2.0 in the HPS v2 benchmark's table (README of tgxs002/HPSv2: 27.17)."""


class OpenClipScore(ClipScore):
    """The cosine of a preference-tuned CLIP, in -1..1.

    Its authors compare pictures of one prompt only. Without a calibration the score is the model's own probability of
    being preferred over a picture whose cosine is that of Stable Diffusion 2.0 in the HPS v2 benchmark: logistic(100 ·
    (cos - 0.2717)), by the softmax it was tuned with (Wu et al., "Human Preference Score v2", 2023). HPS v2.1 scores
    higher throughout: calibrate it.

    The published `.pt` becomes `open_clip_pytorch_model.bin` beside an `open_clip_config.json` of ViT-H-14.
    """

    @override
    @staticmethod
    def uncalibrated(raw: float) -> float:
        return against_reference(raw)


def against_reference(raw: float) -> float:
    """The probability, in 0..1, of being preferred over a picture of the reference's cosine."""
    return logistic(_SCALE * (raw - _REFERENCE))
