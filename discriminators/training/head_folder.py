"""Writing a head folder: `head.onnx`, `calibration.json`, `README.md`, and which prompts it has seen."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from discriminators.training.card import model_card
from discriminators.training.graph import export
from discriminators.training.seen import write_seen
from discriminators.training.swapping import swap_in
from discriminators.training.trained import Trained

VERSION = 2
OUTPUTS = ("logit", "gain")


@dataclass(frozen=True, slots=True)
class Names:
    """What a head is about.

    Attributes:
        name: of the head.
        light: the tier whose pictures it judges.
        heavy: the tier it compares them with.
        clip_digest: of the weights of the CLIP it stands on.
        judge: who gave the utilities, with a version.
        license: of the head, an SPDX identifier; empty when nobody says.
    """

    name: str
    light: str
    heavy: str
    clip_digest: str
    judge: str
    license: str = ""


def write_head(place: Path, trained: Trained, names: Names) -> float:
    """Write a head folder beside `place` and swap it in whole.

    Returns:
        The largest difference between onnxruntime and torch.

    Raises:
        ParityError: it exceeds 1e-4; `place` is untouched.
        OSError: the folder cannot be written.
    """
    differences = []

    def write(folder: Path) -> None:
        inputs = {name: torch.from_numpy(column) for name, column in trained.examples.items()}
        differences.append(export(trained.head, folder / "head.onnx", inputs, OUTPUTS))
        digest = hashlib.sha256((folder / "head.onnx").read_bytes()).hexdigest()
        facts = {**asdict(names), "version": VERSION, "graph_digest": digest, **trained.facts}
        (folder / "calibration.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (folder / "README.md").write_text(model_card(facts), "utf-8")
        write_seen(folder, trained.seen)

    swap_in(place, write)
    return differences[0]
