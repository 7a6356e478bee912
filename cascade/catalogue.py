"""What the operator declared: variants, pools, discriminators and the models made of them. Frozen and checked.

Parsing a file into this is the gateway's business; the invariants are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cascade.licences import Use, refusal, remark
from cascade.plans import DiscriminatorName, ModelName, PoolName, VariantName
from cascade.pricing import DurationProfile


@dataclass(frozen=True, slots=True)
class Sizes:
    """Which pictures a variant draws: each side a multiple within [least, most] pixels."""

    multiple: int
    least: int
    most: int
    native: tuple[int, int]

    def fit(self, width: int, height: int) -> bool:
        """Whether the variant draws exactly this size."""
        return all(side % self.multiple == 0 and self.least <= side <= self.most for side in (width, height))

    def describe(self) -> str:
        """The rule as a sentence for a caller."""
        return f"Each side must be a multiple of {self.multiple} from {self.least} to {self.most} pixels."


@dataclass(frozen=True, slots=True)
class Variant:
    """One loadable model configuration.

    Attributes:
        backend: which kind of engine loads it: `onnx` or `diffusers`.
        folder: a FluxPipeline folder.
        weights: digest of its weights.
        steps: denoising steps it was made for.
        most_steps: the most a caller may ask for.
        guidance: its guidance scale, or `None` for a variant without guidance.
        negative_prompt: whether it honours one.
        vocabulary: the words it knows; empty for a model of open vocabulary.
        most_words: how many of them, commas included, it reads of a prompt.
        license: SPDX identifier or a hub's tag; empty when none is known.
        license_override: why it may be used although its licence forbids it; empty when it need not.
    """

    name: VariantName
    backend: str
    folder: Path
    weights: str
    steps: int
    most_steps: int
    guidance: float | None
    negative_prompt: bool
    sizes: Sizes
    profile: DurationProfile
    vocabulary: frozenset[str] = frozenset()
    most_words: int = 512
    license: str = ""
    license_override: str = ""


@dataclass(frozen=True, slots=True)
class Pool:
    """Identical workers serving one variant up to a picture size.

    Attributes:
        workers: processes that `maquette up` starts.
        threads: CPU threads of each.
        most_pixels: the largest picture of its shape class.
        gpu_weight: reference GPUs that one worker is worth.
        device: torch device of a `diffusers` variant.
    """

    name: PoolName
    variant: VariantName
    workers: int
    threads: int
    most_pixels: int
    gpu_weight: float = 1.0
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class DiscriminatorEntry:
    """A discriminator by name.

    Attributes:
        kind: which judge it is.
        folders: what it is made of, by the part each plays: `clip`, `head`, `calibration`.
        milliseconds: predicted time of judging one picture.
        score_quantiles: of the calibration data, ascending; empty when it is not calibrated.
        license: tags of its parts, joined by commas; empty when none is known.
        license_override: why it may be used although its licence forbids it; empty when it need not.
    """

    name: DiscriminatorName
    kind: str
    folders: Mapping[str, Path]
    milliseconds: float
    score_quantiles: tuple[float, ...]
    license: str = ""
    license_override: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One rung of a route: a variant, and who decides whether to climb on."""

    variant: VariantName
    discriminator: DiscriminatorName | None
    threshold: float

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold {self.threshold} of {self.variant} is outside [0, 1]")


@dataclass(frozen=True, slots=True)
class Model:
    """A public name and its routes by quality: `preview`, `auto`, `final`."""

    name: ModelName
    routes: Mapping[str, tuple[Step, ...]]
    description: str = ""

    @property
    def heaviest(self) -> VariantName:
        """The last rung of the last route: what sets the native size and the vocabulary."""
        return list(self.routes.values())[-1][-1].variant


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that can be asked for. Checked when made.

    Raises:
        ValueError: something refers to a name that is not declared, a route has no rung, or a licence forbids the use.
    """

    variants: Mapping[VariantName, Variant]
    pools: Mapping[PoolName, Pool]
    discriminators: Mapping[DiscriminatorName, DiscriminatorEntry]
    models: Mapping[ModelName, Model]
    default_model: ModelName
    use: Use = Use.COMMERCIAL

    def __post_init__(self) -> None:
        for name in ("variants", "pools", "discriminators", "models"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        self._check_licences()
        if self.default_model not in self.models:
            raise ValueError(f"default model {self.default_model} is not among the models")
        for pool in self.pools.values():
            if pool.variant not in self.variants:
                raise ValueError(f"pool {pool.name} serves {pool.variant}, which is not among the variants")
        for model in self.models.values():
            if not model.routes:
                raise ValueError(f"model {model.name} has no route")
            for quality, steps in model.routes.items():
                self._check_route(f"model {model.name}, route {quality}", steps)

    @property
    def licence_remarks(self) -> tuple[str, ...]:
        """A sentence for every licence that is overridden, conditional or not known."""
        remarks = (remark(owner, tag, self.use, override) for owner, tag, override in self._licences())
        return tuple(said for said in remarks if said is not None)

    def _check_licences(self) -> None:
        for owner, tag, override in self._licences():
            refused = refusal(owner, tag, self.use, override)
            if refused is not None:
                raise ValueError(refused)

    def _licences(self) -> list[tuple[str, str, str]]:
        """(owner, tag, override) of all that has a licence."""
        variants = [(f"variant {each.name}", each.license, each.license_override) for each in self.variants.values()]
        judges = self.discriminators.values()
        return variants + [(f"discriminator {each.name}", each.license, each.license_override) for each in judges]

    def _check_route(self, where: str, steps: tuple[Step, ...]) -> None:
        if not steps:
            raise ValueError(f"{where}: no variant")
        served = {pool.variant for pool in self.pools.values()}
        for step in steps:
            if step.variant not in self.variants:
                raise ValueError(f"{where}: {step.variant} is not among the variants")
            if step.variant not in served:
                raise ValueError(f"{where}: no pool serves {step.variant}")
            if step.discriminator is not None and step.discriminator not in self.discriminators:
                raise ValueError(f"{where}: {step.discriminator} is not among the discriminators")
        for step in steps[:-1]:
            if step.discriminator is None:
                raise ValueError(f"{where}: {step.variant} is not the last and needs a discriminator")
