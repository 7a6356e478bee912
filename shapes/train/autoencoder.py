"""The autoencoder: pictures ⇄ 16-channel latents an eighth as wide, which both tiers share.

Instead of a KL term, noise on the latents (up to 0.2 of their spread) makes the decoder forgive what the diffusion
model gets slightly wrong; a hinge keeps every channel's mean square at one so that the noise cannot be outgrown. The
first three channels are taught to be the picture's thumbnail: without that, colours come last and late.
"""

import torch
from diffusers import AutoencoderKL
from torch.nn import functional

from shapes.train import team
from shapes.train.course import Average, Course, Figures, follow
from shapes.train.pictures import draw, to_tensor
from shapes.train.precision import autocast

CHANNELS = 16
PEAK_RATE = 2e-3
BATCH = 32
_LOUDEST_NOISE = 0.2
_THUMBNAIL_GAIN = 1.5
_LOG_VARIANCE = -6.0


def new_autoencoder() -> AutoencoderKL:
    """Build the 0.69 M-parameter AutoencoderKL, f8, whose predicted variance is the constant e⁻⁶."""
    vae = AutoencoderKL(
        in_channels=3,
        out_channels=3,
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(16, 16, 32, 64),
        layers_per_block=1,
        latent_channels=CHANNELS,
        norm_num_groups=4,
        sample_size=64,
        mid_block_add_attention=False,
        use_quant_conv=False,
        use_post_quant_conv=False,
    )
    with torch.no_grad():
        vae.encoder.conv_out.weight[CHANNELS:] = 0
        vae.encoder.conv_out.bias[CHANNELS:] = _LOG_VARIANCE
    return vae


def train(course: Course, batch: int = BATCH, *, frozen: AutoencoderKL | None = None) -> None:
    """Train the autoencoder along `course`; the averaged weights are in its checkpoint under `average`.

    Args:
        course: How long and where.
        batch: Pictures per step over the whole team.
        frozen: Go on from these weights and leave the encoder as it is, so that encoded pictures stay valid.
    """
    torch.manual_seed(course.seed)
    vae = (frozen or new_autoencoder()).to(memory_format=torch.channels_last)
    vae.train().requires_grad_()
    vae.encoder.requires_grad_(requires_grad=frozen is None)
    average = Average(vae, 0.995)
    learned = [parameter for parameter in vae.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(learned, PEAK_RATE, betas=(0.9, 0.99), weight_decay=0.01)

    def step(number: int) -> Figures:
        for group in optimiser.param_groups:
            group["lr"] = PEAK_RATE * course.schedule(number)
        loss, figures = _reconstruct(vae, course.seed, number, batch // team.size())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        team.average_gradients(learned)
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        average.update()
        return figures

    follow(course, {"vae": vae, "optimiser": optimiser, "average": average}, step)


def _reconstruct(vae: AutoencoderKL, seed: int, number: int, count: int) -> tuple[torch.Tensor, Figures]:
    """Return the loss and the figures of one step on `count` fresh pictures."""
    part = number * team.size() + team.rank()
    torch.manual_seed(seed * 1_000_003 + part)
    pixels = to_tensor(draw(seed, part, count).pictures).to(memory_format=torch.channels_last)
    with autocast():
        latents = vae.encode(pixels).latent_dist.mean
        loudness = _LOUDEST_NOISE * torch.rand(len(latents), 1, 1, 1)
        pictures = vae.decode(latents + loudness * torch.randn_like(latents)).sample
    loss, error = _loss(pictures.float(), pixels, latents.float())
    psnr = -10 * float(torch.log10(error / 4))
    return loss, {"loss": loss.item(), "psnr": psnr, "spread": latents.std().item()}


def _loss(pictures: torch.Tensor, pixels: torch.Tensor, latents: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """L1 + 2 MSE, edges weighted five times, plus the thumbnail and the hinge on the latents.

    Args:
        pictures: Reconstructions, [B, 3, 64, 64].
        pixels: Originals, [B, 3, 64, 64] in -1..1.
        latents: [B, 16, 8, 8].

    Returns:
        The loss and the plain mean squared error, both scalars.
    """
    highest = functional.max_pool2d(pixels, 5, 1, 2)
    lowest = -functional.max_pool2d(-pixels, 5, 1, 2)
    edges = (highest - lowest).amax(1, keepdim=True) > 0.1  # noqa: PLR2004
    weight = 1 + 4 * edges
    difference = pictures - pixels
    error = (weight * (difference.abs() + 2 * difference.square())).sum() / (3 * weight.sum())
    hinge = functional.relu(latents.square().mean((0, 2, 3)) - 1).mean()
    thumbnail = _THUMBNAIL_GAIN * functional.avg_pool2d(pixels, 8)
    likeness = (latents[:, :3] - thumbnail).square().mean()
    return error + 0.2 * likeness + 0.05 * hinge + 1e-4 * latents.square().mean(), difference.detach().square().mean()
