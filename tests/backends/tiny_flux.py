"""A FluxPipeline folder in miniature: random weights, word-level tokenizers, and its ONNX graphs.

Its tokenizers, configurations and files are laid out like those of the bundled folders.
"""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = ("a", "red", "green", "blue", "circle", "square", "above", "below", "the", "on", "white")
CLIP_LENGTH = 8
SEQUENCE = 12
HIDDEN = 32


def build(folder: Path) -> Path:
    """Write a folder that plain diffusers loads and that holds the graphs of the ONNX backend.

    Like FLUX.1-dev and unlike the bundled folders: guidance is an input, and the schedule depends on the size.
    """
    import torch

    torch.manual_seed(7)
    pipeline = _pipeline(folder / "made-from")
    pipeline.save_pretrained(folder, safe_serialization=True)
    for name in ("tokenizer", "tokenizer_2"):
        (folder / name / "tokenizer.json").write_bytes((folder / "made-from" / name / "tokenizer.json").read_bytes())
    ours = {"max_sequence_length": SEQUENCE, "native_size": [64, 64]}
    (folder / "maquette.json").write_text(json.dumps(ours))
    (folder / "onnx").mkdir()
    _export_transformer(pipeline.transformer, folder / "onnx")
    _export_others(pipeline, folder / "onnx")
    return folder


def _tokenizer(folder: Path, length: int) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    names = ("<pad>", "<unk>", *WORDS, "</s>")  # the end has the highest id: CLIP pools there
    vocabulary = {word: number for number, word in enumerate(names)}
    tokens = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokens.normalizer = Lowercase()
    tokens.pre_tokenizer = Whitespace()
    tokens.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", vocabulary["</s>"])])
    tokens.enable_truncation(length)
    tokens.enable_padding(length=length, pad_id=0, pad_token="<pad>")
    folder.mkdir(parents=True)
    tokens.save(str(folder / "tokenizer.json"))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokens, model_max_length=length, pad_token="<pad>", unk_token="<unk>", eos_token="</s>"
    )


def _pipeline(tokenizers: Path) -> Any:
    from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel
    from transformers import CLIPTextConfig, CLIPTextModel, T5Config, T5EncoderModel

    vocabulary = len(WORDS) + 3
    clip = CLIPTextConfig(
        vocab_size=vocabulary,
        hidden_size=HIDDEN,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=CLIP_LENGTH,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=vocabulary - 1,
    )
    t5 = T5Config(vocab_size=vocabulary, d_model=HIDDEN, d_kv=16, d_ff=64, num_layers=1, num_heads=2)
    t5._attn_implementation = "eager"  # the exporter trips over the other
    return FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=1.5, use_dynamic_shifting=True),
        vae=AutoencoderKL(
            block_out_channels=(8, 8, 8, 8),
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
            layers_per_block=1,
            latent_channels=16,
            norm_num_groups=4,
            sample_size=64,
            use_quant_conv=False,
            use_post_quant_conv=False,
            mid_block_add_attention=False,
            scaling_factor=0.36,
            shift_factor=0.12,
        ).eval(),
        text_encoder=CLIPTextModel(clip).eval(),
        tokenizer=_tokenizer(tokenizers / "tokenizer", CLIP_LENGTH),
        text_encoder_2=T5EncoderModel(t5).eval(),
        tokenizer_2=_tokenizer(tokenizers / "tokenizer_2", SEQUENCE),
        transformer=FluxTransformer2DModel(
            in_channels=64,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=HIDDEN,
            pooled_projection_dim=HIDDEN,
            guidance_embeds=True,
            axes_dims_rope=(4, 6, 6),
        ).eval(),
    )


def _export_transformer(transformer: Any, folder: Path) -> None:
    import torch

    tokens = torch.export.Dim("tokens", min=4, max=4096)
    inputs = {
        "hidden_states": torch.randn(1, 16, 64),
        "encoder_hidden_states": torch.randn(1, SEQUENCE, HIDDEN),
        "pooled_projections": torch.randn(1, HIDDEN),
        "timestep": torch.tensor([0.5]),
        "img_ids": torch.zeros(16, 3),
        "txt_ids": torch.zeros(SEQUENCE, 3),
        "guidance": torch.tensor([3.5]),
    }
    shapes: dict[str, Any] = dict.fromkeys(inputs)
    shapes |= {"hidden_states": {1: tokens}, "img_ids": {0: tokens}}
    velocity = _module(transformer, lambda **inputs: transformer(**inputs, return_dict=False)[0])
    _write(folder / "transformer.onnx", velocity, inputs, shapes)


def _export_others(pipeline: Any, folder: Path) -> None:
    import torch

    clip, t5, vae = pipeline.text_encoder, pipeline.text_encoder_2, pipeline.vae
    ids = torch.ones((1, CLIP_LENGTH), dtype=torch.int64)
    pooled = _module(clip, lambda input_ids: clip(input_ids).pooler_output)
    _write(folder / "text_encoder.onnx", pooled, {"input_ids": ids}, {"input_ids": None})
    ids = torch.ones((1, SEQUENCE), dtype=torch.int64)
    texts = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    sequence = _module(t5, lambda **inputs: t5(**inputs)[0])
    _write(folder / "text_encoder_2.onnx", sequence, texts, dict.fromkeys(texts))
    high, wide = torch.export.Dim("high", min=2, max=128), torch.export.Dim("wide", min=2, max=128)
    pixels = _module(vae, lambda latents: vae.decode(latents, return_dict=False)[0])
    latents = {"latents": torch.randn(1, 16, 8, 12)}
    _write(folder / "vae_decoder.onnx", pixels, latents, {"latents": {2: high, 3: wide}})


def _write(path: Path, module: Any, inputs: dict[str, Any], shapes: dict[str, Any]) -> None:
    import torch

    torch.onnx.export(
        module,
        (),
        path,
        kwargs=inputs,
        input_names=list(inputs),
        dynamic_shapes=shapes,
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
