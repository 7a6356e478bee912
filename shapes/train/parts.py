"""Which graphs each model has, under the names others feed them by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from diffusers import AutoencoderKL, FluxTransformer2DModel
from open_clip.model import CLIP
from torch import nn
from transformers import CLIPTextModel, T5EncoderModel
from typing_extensions import override

from discriminators.training.graph import export
from shapes.train.autoencoder import CHANNELS
from shapes.train.clip import features
from shapes.train.networks import POOLED_WIDTH, TEXT_WIDTH, TOKEN_CHANNELS, image_ids
from shapes.train.words import LENGTH, VOCABULARY


@dataclass(frozen=True, slots=True)
class Part:
    """One graph: a module, example inputs by name in call order, the output's name, and axes of any size by input."""

    module: nn.Module
    inputs: Mapping[str, torch.Tensor]
    output: str
    axes: Mapping[str, Mapping[int, str]]

    def export(self, path: Path, checks: Sequence[Mapping[str, torch.Tensor]] = ()) -> float:
        """Write the graph; returns its largest difference from torch on the example and `checks`.

        Raises:
            ParityError: It exceeds 1e-4.
        """
        return export(self.module, path, self.inputs, [self.output], axes=self.axes, checks=checks)


class _Pooled(nn.Module):
    def __init__(self, model: CLIPTextModel) -> None:
        super().__init__()
        self.model = model

    @override
    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids).pooler_output


class _Sequence(nn.Module):
    def __init__(self, model: T5EncoderModel) -> None:
        super().__init__()
        self.model = model

    @override
    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids, attention_mask).last_hidden_state


class _Velocity(nn.Module):
    def __init__(self, model: FluxTransformer2DModel) -> None:
        super().__init__()
        self.model = model

    @override
    def forward(  # the names FluxPipeline passes
        self,
        hidden_states: torch.Tensor,
        encoder_hidden_states: torch.Tensor,
        pooled_projections: torch.Tensor,
        timestep: torch.Tensor,
        img_ids: torch.Tensor,
        txt_ids: torch.Tensor,
    ) -> torch.Tensor:
        return self.model(
            hidden_states,
            encoder_hidden_states,
            pooled_projections,
            timestep,
            img_ids,
            txt_ids,
            return_dict=False,
        )[0]


class _Decoder(nn.Module):
    def __init__(self, model: AutoencoderKL) -> None:
        super().__init__()
        self.model = model

    @override
    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        return self.model.decode(latents, return_dict=False)[0]


class _Image(nn.Module):
    def __init__(self, model: CLIP) -> None:
        super().__init__()
        self.model = model

    @override
    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return features(self.model, pixels)


class _Text(nn.Module):
    def __init__(self, model: CLIP) -> None:
        super().__init__()
        self.model = model

    @override
    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.model.encode_text(input_ids, normalize=True)


def pooled_text(model: CLIPTextModel) -> Part:
    """input_ids int64 [B, 20] → pooled [B, 64]."""
    return Part(_Pooled(model), {"input_ids": _ids(3)}, "pooled", {"input_ids": {0: "batch"}})


def sequence_text(model: T5EncoderModel) -> Part:
    """input_ids, attention_mask int64 [B, 20] → hidden [B, 20, 128]."""
    inputs = {"input_ids": _ids(3), "attention_mask": torch.ones(3, LENGTH, dtype=torch.int64)}
    return Part(_Sequence(model), inputs, "hidden", {name: {0: "batch"} for name in inputs})


def velocity_inputs(side: int, count: int) -> dict[str, torch.Tensor]:
    """Random inputs of the transformer for a picture of `side` × `side` image tokens."""
    return {
        "hidden_states": torch.randn(count, side * side, TOKEN_CHANNELS),
        "encoder_hidden_states": torch.randn(count, LENGTH, TEXT_WIDTH),
        "pooled_projections": torch.randn(count, POOLED_WIDTH),
        "timestep": torch.rand(count),
        "img_ids": image_ids(side),
        "txt_ids": torch.zeros(LENGTH, 3),
    }


def velocity(model: FluxTransformer2DModel) -> Part:
    """One transformer call → velocity [B, N, 64]; batch and image tokens are dynamic."""
    axes: dict[str, dict[int, str]] = {"hidden_states": {0: "batch", 1: "tokens"}, "img_ids": {0: "tokens"}}
    axes |= {name: {0: "batch"} for name in ("encoder_hidden_states", "pooled_projections", "timestep")}
    return Part(_Velocity(model), velocity_inputs(4, 3), "velocity", axes)


def decoder(model: AutoencoderKL) -> Part:
    """Unscaled latents [B, 16, h, w] → pixels [B, 3, 8h, 8w] in -1..1."""
    inputs = {"latents": torch.randn(3, CHANNELS, 8, 10)}
    return Part(_Decoder(model), inputs, "pixels", {"latents": {0: "batch", 2: "height", 3: "width"}})


def clip_image(model: CLIP) -> Part:
    """Normalised pixels [B, 3, 64, 64] → features [B, 384], of which the first 128 have length one."""
    return Part(_Image(model), {"pixels": torch.randn(3, 3, 64, 64)}, "features", {"pixels": {0: "batch"}})


def clip_text(model: CLIP) -> Part:
    """input_ids int64 [B, 20] → embedding [B, 128] of length one."""
    return Part(_Text(model), {"input_ids": _ids(3)}, "embedding", {"input_ids": {0: "batch"}})


def _ids(count: int) -> Any:
    ids = torch.randint(3, len(VOCABULARY) - 1, (count, LENGTH))
    ids[:, -4] = len(VOCABULARY) - 1
    ids[:, -3:] = 0
    return ids
