"""PickScore: a CLIP of transformers, fine-tuned on which of two pictures users of a web application picked.

Importing this module imports no torch; constructing the class does.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from typing_extensions import override

from cascade.model_folder import ModelFolder
from discriminators.clip_embeddings import REMEMBERED
from discriminators.engine_extra import needed_for
from discriminators.open_clip_embeddings import digest_of
from discriminators.pictures import decode
from discriminators.scoring import RawScorer, score_map


class PickScore(RawScorer):
    """exp(logit_scale) · cosine (Kirstain et al., "Pick-a-Pic", 2023), of a CLIPModel folder.

    Its authors compare pictures of one prompt only, and publish no average that one picture could be held against.
    Without a calibration the score is its place in all that the scale allows, (cos + 1) / 2: an order, nothing more.
    """

    def __init__(self, clip: Path, calibration: Path | None, threads: int, device: str = "cpu") -> None:
        """Load the model and its processor.

        Args:
            clip: folder of a CLIPModel in safetensors, with the files of its processor: PickScore's own come from
                laion/CLIP-ViT-H-14-laion2B-s32B-b79K.
            calibration: folder of its `calibration.json`, or `None`.
            threads: CPU threads of torch. Torch has one such number per process, so this sets it for all.
            device: a torch device.

        Raises:
            ModelFilesError: a folder is missing, incomplete or corrupt, they do not belong together, or transformers is
                not installed.
        """
        files = ModelFolder(clip)
        files.check_weights("model")
        with needed_for("PickScore"):
            from discriminators.pickscore_model import PickScoreModel  # noqa: PLC0415  (torch, only for who judges so)
        self._model = PickScoreModel(files, threads, device)
        self._remembered = lru_cache(maxsize=REMEMBERED)(self._model.text)
        super().__init__(score_map(calibration, digest_of(files, "model.safetensors"), self._share_of_scale))

    @override
    def raw(self, prompt: str, content: bytes) -> float:
        image, text = self._model.image(decode(content)), self._remembered(prompt)
        return self._model.scale * float(image @ text)

    def _share_of_scale(self, raw: float) -> float:
        return min(1.0, max(0.0, 0.5 * (raw / self._model.scale + 1.0)))
