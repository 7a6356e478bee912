"""Heads as torch modules: from embeddings to (logit of “heavy better”, expected gain). Each exports as one graph."""

from __future__ import annotations

import torch
from torch import nn
from typing_extensions import override

from discriminators.calibrated_head import Kind

HIDDEN = (256, 64)
DROPOUT = 0.1
_LEAST_SPREAD = 1e-4

Answer = tuple[torch.Tensor, torch.Tensor]
"""logit [B], gain [B]."""


class Line(nn.Module):
    """Logistic and ridge regression: one affine map."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, 2)

    @override
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return [B, 2], logit and gain, from features [B, P]."""
        return self.linear(x)


class Perceptron(nn.Module):
    """Standardised features → LayerNorm → 256 → 64 → logit, gain and the light picture's own utility."""

    mean: torch.Tensor
    scale: torch.Tensor
    shift: torch.Tensor

    def __init__(self, x: torch.Tensor) -> None:
        """Standardise by what [N, P] features look like."""
        super().__init__()
        width = x.shape[1]
        self.register_buffer("mean", x.mean(0))
        self.register_buffer("scale", 1 / x.std(0).clamp_min(_LEAST_SPREAD))
        self.register_buffer("shift", torch.zeros(3))
        self.layers = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, HIDDEN[0]),
            nn.GELU(),
            nn.Dropout(DROPOUT),
            nn.Linear(HIDDEN[0], HIDDEN[1]),
            nn.GELU(),
        )
        self.last = nn.Linear(HIDDEN[1], 3)

    @override
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return [B, 3] from features [B, P]."""
        return self.last(self.layers((x - self.mean) * self.scale)) + self.shift


class Mean(nn.Module):
    """Several members' mean answer."""

    def __init__(self, members: list[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    @override
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return [B, 2 or 3] from features [B, P]."""
        return torch.stack([member(x) for member in self.members]).mean(0)


class PairHead(nn.Module):
    """Sees the picture and the prompt."""

    kind = Kind.PAIR

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    @override
    def forward(self, image_features: torch.Tensor, text_embedding: torch.Tensor) -> Answer:
        """Return logit [B] and gain [B] from features [B, F] and embeddings [B, D]."""
        return _columns(self.body(pair_features(image_features, text_embedding)))


class RouterHead(nn.Module):
    """Sees the prompt alone: a decision before anything is drawn."""

    kind = Kind.ROUTER

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    @override
    def forward(self, text_embedding: torch.Tensor) -> Answer:
        """Return logit [B] and gain [B] from embeddings [B, D]."""
        return _columns(self.body(text_embedding))


class RealFakeHead(nn.Module):
    """Sees the picture alone and says how unlike true ones it is: the baseline of DiffServe and HADIS."""

    kind = Kind.REAL_FAKE
    gain_at_zero: torch.Tensor
    gain_per_logit: torch.Tensor

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.register_buffer("gain_at_zero", torch.zeros(()))
        self.register_buffer("gain_per_logit", torch.zeros(()))

    @override
    def forward(self, image_features: torch.Tensor) -> Answer:
        """Return logit [B] and gain [B] from features [B, F]; the gain is a line in the logit."""
        logit = self.body(image_features)[:, 0]
        return logit, self.gain_at_zero + self.gain_per_logit * logit


Head = PairHead | RouterHead | RealFakeHead


def pair_features(image: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
    """[B, 3D + 1 + F]: picture, prompt, product, distance, cosine, and the picture's pooled patches.

    Args:
        image: [B, F], the first D of each row its embedding of length one.
        text: [B, D] of length one.
    """
    width = text.shape[-1]
    seen, rest = image[:, :width], image[:, width:]
    product = seen * text
    return torch.cat([seen, text, product, (seen - text).abs(), product.sum(-1, keepdim=True), rest], dim=-1)


def _columns(answer: torch.Tensor) -> Answer:
    return answer[:, 0], answer[:, 1]
