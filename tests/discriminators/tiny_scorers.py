"""Published scorers in miniature: their file formats and layer names, with random weights."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.discriminators.tiny_clip import DIMENSIONS

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def torch_only(clip: Path, folder: Path) -> Path:
    """A copy of an open_clip folder as its authors publish it: without our graphs and manifest."""
    shutil.copytree(clip, folder, ignore=shutil.ignore_patterns("onnx", "maquette.json"))
    return folder


def build_pickscore(folder: Path) -> Path:
    """Write a CLIPModel of transformers and its processor."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPTokenizer

    pieces = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS), "re", "<|startoftext|>", "<|endoftext|>"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version: 0.2\nr e\n")
    tokenizer = CLIPTokenizer.from_pretrained(folder)
    ends = {"bos_token_id": len(pieces) - 2, "eos_token_id": len(pieces) - 1, "pad_token_id": len(pieces) - 1}
    shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = CLIPConfig(
        text_config={**shape, **ends, "vocab_size": len(pieces), "max_position_embeddings": 77},
        vision_config={**shape, "image_size": 32, "patch_size": 8},
        projection_dim=DIMENSIONS,
    )
    torch.manual_seed(9)
    CLIPModel(config).eval().save_pretrained(folder)
    images = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    CLIPProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    return folder


def aesthetic_head(version: int, width: int = DIMENSIONS) -> Any:
    """The module as LAION wrote it: its state dictionary has the published names and shapes."""
    import torch
    from torch.nn import Dropout, Linear, Module, Sequential

    torch.manual_seed(10 + version)
    if version == 1:
        return Linear(width, 1).eval()
    layers = (Linear(width, 1024), Dropout(0.2), Linear(1024, 128), Dropout(0.2), Linear(128, 64), Dropout(0.1))

    class Predictor(Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = Sequential(*layers, Linear(64, 16), Linear(16, 1))

        def forward(self, embedding: Any) -> Any:
            return self.layers(embedding)

    return Predictor().eval()


def save_head(folder: Path, head: Any, suffix: str) -> Path:
    """Write a head's weights alone into a folder."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True)
    if suffix == ".safetensors":
        save_file(head.state_dict(), folder / f"head{suffix}")
    else:
        torch.save(head.state_dict(), folder / f"head{suffix}")
    return folder


def save_calibration(folder: Path, **values: object) -> Path:
    """Write a calibration that says 0.2 below raw 0 and 0.7 above raw 1e-9."""
    folder.mkdir(parents=True)
    steps = {"knots": {"x": [0.0, 1e-9], "y": [0.2, 0.7]}, "score_quantiles": [0.2, 0.2, 0.7]}
    (folder / "calibration.json").write_text(json.dumps(steps | values))
    return folder


class Intruder:
    """A pickle that makes a folder when it is read."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (str(self.place),)
