"""Writing what is shipped: FluxPipeline folders, the open_clip folder, their manifests and graphs."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxPipeline
from open_clip.model import CLIP
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import nn
from transformers import PreTrainedTokenizerFast

from cascade.model_folder import ModelFolder
from shapes.train import parts
from shapes.train.clip import FEATURES, MEAN, MODEL_CONFIG, STD
from shapes.train.flow import SHIFT
from shapes.train.latents import Scaling
from shapes.train.networks import Generator
from shapes.train.words import BEGIN, END, LENGTH, PAD, UNKNOWN, clip_tokenizer, t5_tokenizer
from shapes.vocabulary import WORDS

LICENSE = "Apache-2.0"


def write_variant(
    folder: Path, generator: Generator, vae: AutoencoderKL, scaling: Scaling, facts: Mapping[str, Any]
) -> dict[str, float]:
    """Write one tier: a folder plain diffusers loads, graphs under onnx/, and maquette.json.

    Args:
        folder: An empty folder.
        generator: Transformer and text encoders; rounded to fp16 in place.
        vae: The shared autoencoder; rounded to fp16 in place.
        scaling: What turns its latents into normalised ones.
        facts: `name` and `steps`, and anything else the manifest should say.

    Returns:
        The largest difference between torch and onnxruntime for each graph.
    """
    round_to_half(generator)
    round_to_half(vae)
    vae.register_to_config(scaling_factor=scaling.scale, shift_factor=scaling.shift)
    _write_pipeline(folder, generator, vae)
    worst = _write_graphs(folder / "onnx", generator, vae)
    manifest = {
        "license": LICENSE,
        "guidance": False,
        "max_sequence_length": LENGTH,
        "text_mask": "all ones: FluxPipeline passes none, so padding is attended",
        "native_size": [64, 64],
        "multiple_of": 16,
        "min_size": [32, 32],
        "max_size": [128, 128],
        "scaling_factor": scaling.scale,
        "shift_factor": scaling.shift,
        "vocabulary": list(WORDS),
        "digest": ModelFolder(folder).digest(),
    }
    _write_json(folder / "maquette.json", {**facts, **manifest})
    return worst


def _write_pipeline(folder: Path, generator: Generator, vae: AutoencoderKL) -> None:
    logging.getLogger("diffusers").setLevel(logging.ERROR)
    first, second = clip_tokenizer(), t5_tokenizer()
    pipeline = FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=SHIFT, use_dynamic_shifting=False),
        vae=vae,
        text_encoder=generator.pooled_encoder,
        tokenizer=wrap(first),
        text_encoder_2=generator.sequence_encoder,
        tokenizer_2=wrap(second),
        transformer=generator.transformer,
    )
    pipeline.save_pretrained(folder)
    for name, tokenizer in (("tokenizer", first), ("tokenizer_2", second)):
        tokenizer.save(str(folder / name / "tokenizer.json"))
    for weights in folder.rglob("*.safetensors"):
        halve(weights)


def wrap(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """Return the transformers face of a tokenizer."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=LENGTH,
        pad_token=PAD,
        unk_token=UNKNOWN,
        bos_token=BEGIN,
        eos_token=END,
        padding_side="right",
        clean_up_tokenization_spaces=False,
    )


def round_to_half(module: nn.Module) -> nn.Module:
    """Round all floating parameters and buffers to fp16 precision, keeping them fp32; returns the module.

    What fp16 holds exactly is stored so in both formats and computed with in fp32 by both runtimes.
    """
    for tensor in [*module.parameters(), *module.buffers()]:
        if tensor.is_floating_point():
            tensor.data = tensor.data.half().float()
    return module


def halve(weights: Path) -> None:
    """Rewrite a safetensors file with its floating tensors in fp16, which rounding has made lossless."""
    from safetensors.torch import load_file  # noqa: PLC0415

    tensors = {
        name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in load_file(weights).items()
    }
    save_file(tensors, weights, {"format": "pt"})


def _write_graphs(folder: Path, generator: Generator, vae: AutoencoderKL) -> dict[str, float]:
    large = {"latents": torch.randn(1, 16, 16, 16)}
    sizes = [parts.velocity_inputs(2, 2), parts.velocity_inputs(4, 1), parts.velocity_inputs(8, 2)]
    return {
        "text_encoder": parts.pooled_text(generator.pooled_encoder).export(folder / "text_encoder.onnx"),
        "text_encoder_2": parts.sequence_text(generator.sequence_encoder).export(folder / "text_encoder_2.onnx"),
        "transformer": parts.velocity(generator.transformer).export(folder / "transformer.onnx", sizes),
        "vae_decoder": parts.decoder(vae).export(folder / "vae_decoder.onnx", [large]),
    }


def write_clip(folder: Path, clip: CLIP, name: str) -> dict[str, float]:
    """Write the CLIP as an open_clip local-dir folder with tokenizer, graphs and maquette.json into an empty folder."""
    round_to_half(clip)
    config = {
        "model_cfg": MODEL_CONFIG,
        "preprocess_cfg": {"mean": MEAN, "std": STD, "interpolation": "bicubic", "resize_mode": "squash"},
    }
    _write_json(folder / "open_clip_config.json", config)
    wrap(clip_tokenizer()).save_pretrained(folder)
    clip_tokenizer().save(str(folder / "tokenizer.json"))
    tensors = {name: tensor.half().contiguous() for name, tensor in clip.state_dict().items()}
    save_file(tensors, folder / "open_clip_model.safetensors", {"format": "pt"})
    worst = {
        "image": parts.clip_image(clip).export(folder / "onnx" / "image.onnx"),
        "text": parts.clip_text(clip).export(folder / "onnx" / "text.onnx"),
    }
    manifest = {
        "name": name,
        "license": LICENSE,
        "mean": MEAN,
        "std": STD,
        "image_size": 64,
        "context_length": LENGTH,
        "embedding_width": MODEL_CONFIG["embed_dim"],
        "feature_width": FEATURES,
        "digest": ModelFolder(folder).digest(),
    }
    _write_json(folder / "maquette.json", manifest)
    return worst


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
