"""An open_clip folder and a head in miniature, with random weights and their ONNX graphs."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = ("a", "red", "green", "blue", "circle", "square", "above", "below", "the", "on", "white")
CONTEXT = 10
SIDE = 32
DIMENSIONS = 16
PATCH_WIDTH = 32
FEATURES = DIMENSIONS + 2 * PATCH_WIDTH
MEAN, STD = (0.5, 0.4, 0.6), (0.5, 0.6, 0.4)
DIGEST = "tiny"


def build_clip(folder: Path, *, patches: bool = False) -> Path:
    """Write a folder that open_clip loads as `local-dir:` and that holds the graphs of our CLIP, maybe with patches."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(7)
    vision = {"image_size": SIDE, "patch_size": 8, "width": PATCH_WIDTH, "layers": 1, "head_width": 16}
    text = {
        "context_length": CONTEXT,
        "vocab_size": len(WORDS) + 3,
        "width": 32,
        "heads": 2,
        "layers": 1,
        "hf_tokenizer_name": "tiny",  # open_clip then takes the folder's tokenizer
    }
    model_cfg = {"embed_dim": DIMENSIONS, "vision_cfg": vision, "text_cfg": text}
    clip = open_clip.CLIP(**model_cfg).eval()
    preprocess_cfg = {"size": SIDE, "mode": "RGB", "mean": MEAN, "std": STD, "interpolation": "bicubic"}
    config = {"model_cfg": model_cfg, "preprocess_cfg": preprocess_cfg}
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    save_file(clip.state_dict(), folder / "open_clip_model.safetensors")
    card = {"mean": MEAN, "std": STD, "image_size": SIDE, "context_length": CONTEXT, "digest": DIGEST}
    widths = {"embedding_width": DIMENSIONS} | ({"feature_width": FEATURES} if patches else {})
    (folder / "maquette.json").write_text(json.dumps(card | widths))
    _save_tokenizer(folder)
    (folder / "onnx").mkdir()
    clip.visual.output_tokens = patches

    def features(pixels: Any) -> Any:
        if not patches:
            return clip.encode_image(pixels, normalize=True)
        whole, tokens = clip.visual(pixels)
        unit = torch.nn.functional.normalize(whole, dim=-1)
        return torch.cat((unit, tokens.mean(dim=1), tokens.amax(dim=1)), dim=-1)

    image = _module(clip, features)
    _write(folder / "onnx" / "image.onnx", image, {"pixels": torch.randn(1, 3, SIDE, SIDE)})
    words = _module(clip, lambda input_ids: clip.encode_text(input_ids, normalize=True))
    _write(folder / "onnx" / "text.onnx", words, {"input_ids": torch.ones((1, CONTEXT), dtype=torch.int64)})
    return folder


def build_head(folder: Path, *, patches: bool = False) -> Path:
    """Write a head with random weights over [features, text, image * text], and a calibration."""
    import torch

    torch.manual_seed(8)
    width = FEATURES if patches else DIMENSIONS
    weights = torch.nn.Linear(width + 2 * DIMENSIONS, 1)

    def logit(image_features: Any, text_embedding: Any) -> Any:
        image = image_features[:, :DIMENSIONS]
        return 20 * weights(torch.cat((image_features, text_embedding, image * text_embedding), dim=-1))

    examples = {"image_features": torch.randn(1, width), "text_embedding": torch.randn(1, DIMENSIONS)}
    _write(folder / "head.onnx", _module(weights, logit), examples)
    calibration = {
        "light": "tiny-light",
        "heavy": "tiny-heavy",
        "kind": "pair",
        "clip_digest": DIGEST,
        "feature_width": width,
        "embedding_width": DIMENSIONS,
        "knots": {"x": [-20.0, -1.0, 1.0, 20.0], "y": [0.05, 0.3, 0.6, 0.95]},
    }
    (folder / "calibration.json").write_text(json.dumps(calibration))
    return folder


def _save_tokenizer(folder: Path) -> None:
    """As open_clip reads it, through transformers, and as we do."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    names = ("<pad>", "<unk>", *WORDS, "</s>")  # the end has the highest id: open_clip pools there
    vocabulary = {word: number for number, word in enumerate(names)}
    tokens = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokens.normalizer = Lowercase()
    tokens.pre_tokenizer = Whitespace()
    tokens.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", vocabulary["</s>"])])
    tokens.enable_truncation(CONTEXT)
    tokens.enable_padding(length=CONTEXT, pad_id=0, pad_token="<pad>")
    marks = {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=tokens, model_max_length=CONTEXT, **marks).save_pretrained(folder)
    tokens.save(str(folder / "tokenizer.json"))


def _write(path: Path, module: Any, inputs: dict[str, Any]) -> None:
    import torch

    torch.onnx.export(
        module,
        (),
        path,
        kwargs=inputs,
        input_names=list(inputs),
        opset_version=23,
        dynamo=True,
        external_data=False,
        verbose=False,
    )


def _module(model: Any, call: Callable[..., Any]) -> Any:
    """A module whose forward is `call(**inputs)`: what the exporter takes."""
    import torch

    class Part(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, **inputs: Any) -> Any:
            return call(**inputs)

    return Part().eval()
