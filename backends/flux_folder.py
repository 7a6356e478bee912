"""What a FluxPipeline folder says of itself, checked before any engine touches it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backends.flow_match import FlowMatch, read_schedule
from cascade.errors import GenerationError
from cascade.model_folder import ModelFolder, Settings
from cascade.plans import Stage

PLAIN_GUIDANCE = 3.5
"""What FluxPipeline takes when nobody says otherwise."""

PLAIN_SEQUENCE = 512
PLAIN_SIDE = 1024

NEGATIVE_SCALE = 4.0
"""Classifier-free guidance with a negative prompt, for a network whose own guidance is an input."""


@dataclass(frozen=True, slots=True)
class FluxFolder:
    """A model folder and the numbers that sampling needs.

    Attributes:
        files: the folder.
        schedule: noise levels.
        guided: the transformer takes a guidance scale as an input.
        sequence: T5 tokens of a prompt (`max_sequence_length`).
        native: width and height in pixels that the model was made for.
        channels: of a latent.
        reduction: pixels per latent along a side.
        scaling: latents are divided by it before decoding …
        shift: … and this is added.
    """

    files: ModelFolder
    schedule: FlowMatch
    guided: bool
    sequence: int
    native: tuple[int, int]
    channels: int
    reduction: int
    scaling: float
    shift: float

    def check_size(self, width: int, height: int) -> None:
        """Refuse what FluxPipeline would silently round down.

        Raises:
            GenerationError: a side is not a positive multiple of a token's side.
        """
        side = 2 * self.reduction
        if min(width, height) < side or width % side or height % side:
            raise GenerationError(f"{width}x{height} cannot be drawn: each side must be a multiple of {side} pixels.")

    def guidance(self, stage: Stage) -> float:
        """The scale that the transformer is told, if it takes one."""
        return PLAIN_GUIDANCE if stage.guidance is None else stage.guidance

    def negative_scale(self, stage: Stage) -> float:
        """How strongly to move away from a negative prompt; 1 or less ignores it.

        A network without a guidance input has no other use for the stage's guidance.
        """
        return NEGATIVE_SCALE if self.guided else self.guidance(stage)


def read_flux_folder(path: Path) -> FluxFolder:
    """Read the configurations of a FluxPipeline folder.

    Raises:
        ModelFilesError: a file is missing, is not what it should be, or the folder is of another pipeline.
    """
    files = ModelFolder(path)
    index = files.settings("model_index.json")
    pipeline = index.text("_class_name")
    if pipeline != "FluxPipeline":
        raise files.broken(index.name, f"is of {pipeline}, not of FluxPipeline")
    transformer = files.settings("transformer/config.json")
    vae = files.settings("vae/config.json")
    ours = files.settings("maquette.json") if files.has("maquette.json") else Settings(files, "maquette.json", {})
    return FluxFolder(
        files=files,
        schedule=read_schedule(files.settings("scheduler/scheduler_config.json")),
        guided=transformer.flag("guidance_embeds", default=False),
        sequence=ours.whole("max_sequence_length", PLAIN_SEQUENCE),
        native=_native(ours),
        channels=transformer.whole("in_channels", 64) // 4,
        reduction=2 ** (len(vae.numbers("block_out_channels")) - 1),
        scaling=vae.number("scaling_factor"),
        shift=vae.number("shift_factor"),
    )


def _native(ours: Settings) -> tuple[int, int]:
    if "native_size" not in ours.values:
        return PLAIN_SIDE, PLAIN_SIDE
    match ours.numbers("native_size"):
        case (width, height):
            return int(width), int(height)
    raise ours.folder.broken(ours.name, "must give native_size as width and height")
