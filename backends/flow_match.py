"""diffusers' FlowMatchEulerDiscreteScheduler as FluxPipeline drives it, in numpy.

Steps go from sigma 1 (noise) to sigma 0 (picture); the network predicts the velocity, noise minus picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascade.model_folder import Settings

_TRAIN_STEPS = np.float32(1000)
_UNSUPPORTED = (
    "use_karras_sigmas",
    "use_exponential_sigmas",
    "use_beta_sigmas",
    "invert_sigmas",
    "stochastic_sampling",
)


@dataclass(frozen=True, slots=True)
class FlowMatch:
    """A schedule, named as in `scheduler_config.json`.

    Attributes:
        shift: static shift; above 1 spends more steps near the noise.
        use_dynamic_shifting: shift by the number of image tokens instead.
        base_shift: of a picture with `base_image_seq_len` tokens.
        max_shift: of one with `max_image_seq_len` tokens; linear between and beyond.
        time_shift_type: `exponential` or `linear`.
        shift_terminal: stretch the schedule to end here; 0 leaves it.
    """

    shift: float = 1.0
    use_dynamic_shifting: bool = False
    base_shift: float = 0.5
    max_shift: float = 1.15
    base_image_seq_len: int = 256
    max_image_seq_len: int = 4096
    time_shift_type: str = "exponential"
    shift_terminal: float = 0.0

    def sigmas(self, steps: int, tokens: int) -> NDArray[np.float32]:
        """The noise levels of a run.

        Args:
            steps: denoising steps, at least 1.
            tokens: image tokens of the picture.

        Returns:
            [steps + 1] falling from at most 1 to exactly 0.
        """
        sigmas = np.linspace(1.0, 1 / steps, steps).astype(np.float32)
        if self.use_dynamic_shifting:
            sigmas = self._dynamically_shifted(sigmas, tokens)
        else:
            sigmas = self.shift * sigmas / (1 + (self.shift - 1) * sigmas)
        if self.shift_terminal:
            rest = 1 - sigmas
            sigmas = 1 - rest / (rest[-1] / (1 - self.shift_terminal))
        return np.append(sigmas, np.float32(0)).astype(np.float32)

    def _dynamically_shifted(self, sigmas: NDArray[np.float32], tokens: int) -> NDArray[np.float32]:
        slope = (self.max_shift - self.base_shift) / (self.max_image_seq_len - self.base_image_seq_len)
        mu = tokens * slope + (self.base_shift - slope * self.base_image_seq_len)
        strength = math.exp(mu) if self.time_shift_type == "exponential" else mu
        return np.asarray(strength / (strength + (1 / sigmas - 1)), np.float32)


def timestep(sigma: np.float32) -> NDArray[np.float32]:
    """[1] the network's timestep in 0..1: the sigma, rounded as by its detour over diffusers' 0..1000."""
    return np.array([sigma * _TRAIN_STEPS / _TRAIN_STEPS], np.float32)


def euler_step(
    latents: NDArray[np.float32], velocity: NDArray[np.float32], sigma: np.float32, following: np.float32
) -> NDArray[np.float32]:
    """The latents at noise level `following`, from those at `sigma` and their velocity; all of one shape."""
    return latents + (following - sigma) * velocity


def read_schedule(settings: Settings) -> FlowMatch:
    """The schedule that a `scheduler_config.json` describes.

    Raises:
        ModelFilesError: a value is wrong, or asks for what this schedule does not do.
    """
    kind = settings.text("_class_name", "FlowMatchEulerDiscreteScheduler")
    if kind != "FlowMatchEulerDiscreteScheduler":
        raise settings.folder.broken(settings.name, f"names {kind}; only FlowMatchEulerDiscreteScheduler is known")
    for option in _UNSUPPORTED:
        if settings.flag(option, default=False):
            raise settings.folder.broken(settings.name, f"sets {option}, which Flux folders here do not use")
    if settings.whole("num_train_timesteps", 1000) != _TRAIN_STEPS:
        raise settings.folder.broken(settings.name, "must give num_train_timesteps as 1000")
    time_shift_type = settings.text("time_shift_type", "exponential")
    if time_shift_type not in {"exponential", "linear"}:
        raise settings.folder.broken(settings.name, "must give time_shift_type as exponential or linear")
    plain = FlowMatch()
    return FlowMatch(
        shift=settings.number("shift", plain.shift),
        use_dynamic_shifting=settings.flag("use_dynamic_shifting", default=plain.use_dynamic_shifting),
        base_shift=settings.number("base_shift", plain.base_shift),
        max_shift=settings.number("max_shift", plain.max_shift),
        base_image_seq_len=settings.whole("base_image_seq_len", plain.base_image_seq_len),
        max_image_seq_len=settings.whole("max_image_seq_len", plain.max_image_seq_len),
        time_shift_type=time_shift_type,
        shift_terminal=settings.number("shift_terminal", plain.shift_terminal),
    )
