"""The text encoders and transformers of both tiers, built from their configurations with random weights."""

from dataclasses import dataclass

import torch
from diffusers import FluxTransformer2DModel
from transformers import CLIPTextConfig, CLIPTextModel, T5Config, T5EncoderModel

from shapes.train.words import BEGIN, END, LENGTH, PAD, VOCABULARY

TEXT_WIDTH = 128
POOLED_WIDTH = 64
TOKEN_CHANNELS = 64


def new_pooled_encoder() -> CLIPTextModel:
    """Build the one-layer CLIP text model whose state at `<eos>` is the pooled condition [B, 64]."""
    return CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=POOLED_WIDTH,
            intermediate_size=4 * POOLED_WIDTH,
            projection_dim=POOLED_WIDTH,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=LENGTH,
            pad_token_id=VOCABULARY[PAD],
            bos_token_id=VOCABULARY[BEGIN],
            eos_token_id=VOCABULARY[END],
        )
    )


def new_sequence_encoder() -> T5EncoderModel:
    """Build the two-layer T5 encoder whose states [B, 20, 128] the transformer attends to."""
    config = T5Config(
        vocab_size=len(VOCABULARY),
        d_model=TEXT_WIDTH,
        d_kv=32,
        d_ff=2 * TEXT_WIDTH,
        num_layers=2,
        num_heads=4,
        relative_attention_num_buckets=16,
        relative_attention_max_distance=LENGTH,
        feed_forward_proj="gated-gelu",
        dropout_rate=0.0,
        pad_token_id=VOCABULARY[PAD],
        eos_token_id=VOCABULARY[END],
    )
    return T5EncoderModel(config)


@dataclass(frozen=True, slots=True)
class Depth:
    """How large a transformer is: heads of 32, blocks with two streams, blocks with one."""

    heads: int
    double: int
    single: int


HEAVY = Depth(heads=6, double=2, single=4)
LIGHT = Depth(heads=6, double=1, single=2)


def new_transformer(depth: Depth) -> FluxTransformer2DModel:
    """Build a Flux transformer over 64-channel image tokens."""
    return FluxTransformer2DModel(
        patch_size=1,
        in_channels=TOKEN_CHANNELS,
        num_layers=depth.double,
        num_single_layers=depth.single,
        attention_head_dim=32,
        num_attention_heads=depth.heads,
        joint_attention_dim=TEXT_WIDTH,
        pooled_projection_dim=POOLED_WIDTH,
        guidance_embeds=False,
        axes_dims_rope=(8, 12, 12),
    )


class Generator(torch.nn.Module):
    """A transformer with its text encoders, called on token ids; what training and sampling here use."""

    def __init__(self, depth: Depth) -> None:
        super().__init__()
        self.transformer = new_transformer(depth)
        self.pooled_encoder = new_pooled_encoder()
        self.sequence_encoder = new_sequence_encoder()

    def encode(self, t5_ids: torch.Tensor, clip_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return states [B, 20, 128] and pooled [B, 64] of int64 ids [B, 20].

        Padding is attended, as in FluxPipeline, which passes no mask.
        """
        states = self.sequence_encoder(t5_ids).last_hidden_state
        return states, self.pooled_encoder(clip_ids).pooler_output

    def velocity(
        self, tokens: torch.Tensor, time: torch.Tensor, states: torch.Tensor, pooled: torch.Tensor, side: int = 4
    ) -> torch.Tensor:
        """Predict noise minus picture.

        Args:
            tokens: Noisy packed latents, [B, side², 64].
            time: [B] in 0 (picture) … 1 (noise).
            states: [B, 20, 128].
            pooled: [B, 64].
            side: Image tokens per row.

        Returns:
            [B, side², 64].
        """
        return self.transformer(
            hidden_states=tokens,
            timestep=time,
            encoder_hidden_states=states,
            pooled_projections=pooled,
            img_ids=image_ids(side),
            txt_ids=torch.zeros(states.shape[1], 3),
            return_dict=False,
        )[0]


def image_ids(side: int) -> torch.Tensor:
    """Return float32 [side², 3]: (0, row, column) per image token."""
    rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    return torch.stack([torch.zeros_like(rows), rows, columns], dim=-1).reshape(-1, 3).float()
