"""The catalogue's YAML form. What a model folder says about itself (`maquette.json`) fills what the file leaves out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from cascade.calibration import threshold_for
from cascade.catalogue import Catalogue, DiscriminatorEntry, Model, Pool, Sizes, Step, Variant
from cascade.licences import Use
from cascade.plans import DiscriminatorName, ModelName, PoolName, VariantName
from cascade.pricing import DurationProfile
from cascade.routing import QUALITIES
from gateway import yaml_lines
from gateway.catalogue_judges import DiscriminatorIn, to_entry
from gateway.catalogue_parts import Licensed, MisfitError, Strict
from gateway.model_cards import folder_licence, own_card
from gateway.settings import BUNDLED_WEIGHTS, Settings

_MARKERS = 2
"""Tokens that mark a prompt's beginning and end; with a closed vocabulary every other token is a word or a comma."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class CatalogueError(ValueError):
    """The catalogue file can't be used; the message says where and why."""


class ProfileIn(Strict):
    """Milliseconds on one of the pool's workers; `maquette`'s `bench/backends.py` prints them."""

    text_ms: float = Field(ge=0)
    evaluation_ms: float = Field(ge=0)
    token_ms: float = Field(ge=0)
    megapixel_ms: float = Field(ge=0)
    band: float = Field(default=2.0, ge=1, le=20)


class VariantIn(Licensed):
    """A loadable model configuration."""

    backend: Literal["onnx", "diffusers"]
    folder: Path
    profile: ProfileIn
    steps: int | None = Field(default=None, ge=1, le=1000)
    most_steps: int | None = Field(default=None, ge=1, le=1000)
    guidance: float | None = Field(default=None, ge=0, le=100)
    negative_prompt: bool = False


class PoolIn(Strict):
    """Identical workers of one variant."""

    variant: Name
    workers: int = Field(default=1, ge=0, le=1024)
    threads: int = Field(default=1, ge=1, le=256)
    most_pixels: int = Field(default=2**20, ge=1)
    gpu_weight: float = Field(default=1.0, gt=0, le=1000)
    device: str = Field(default="cpu", pattern=r"^(cpu|cuda(:\d+)?|mps)$")


class StepIn(Strict):
    """A rung of a route. A judged one has a fixed threshold or a target deferral rate on the calibration data."""

    variant: Name
    discriminator: Name | None = None
    threshold: float | None = Field(default=None, ge=0, le=1)
    deferral_rate: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _one_rule(self) -> StepIn:
        rules = (self.threshold is not None) + (self.deferral_rate is not None)
        if rules != (self.discriminator is not None):
            raise ValueError("a judged rung needs a discriminator and either threshold or deferral_rate")
        return self


class ModelIn(Strict):
    """A public model name."""

    description: str = ""
    routes: dict[Literal["preview", "auto", "final"], list[StepIn]] = Field(min_length=1)


class CatalogueIn(Strict):
    """The whole file."""

    version: Literal[1]
    use: Use = Use.COMMERCIAL
    default_model: Name
    variants: dict[Name, VariantIn] = Field(min_length=1)
    pools: dict[Name, PoolIn] = Field(min_length=1)
    discriminators: dict[Name, DiscriminatorIn] = Field(default_factory=dict)
    models: dict[Name, ModelIn] = Field(min_length=1)


def load_configured(settings: Settings) -> Catalogue:
    """The catalogue of these settings.

    Raises:
        CatalogueError: it can't be used.
    """
    return load(settings.catalogue, {"MAQUETTE_WEIGHTS": str(BUNDLED_WEIGHTS), **settings.variables})


def load(path: Path, variables: Mapping[str, str]) -> Catalogue:
    """Read, check and resolve a catalogue file. Relative folders are relative to the file.

    Raises:
        CatalogueError: the file, or a folder it names, can't be used.
    """
    try:
        document = yaml_lines.parse(path.read_text(), variables)
    except OSError as error:
        raise CatalogueError(f"{path.name}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise CatalogueError(f"{path.name}: {error}") from error
    try:
        return _resolve(CatalogueIn.model_validate(document.content), path.parent)
    except ValidationError as error:
        raise CatalogueError("\n".join(_explain(path, document, dict(fault)) for fault in error.errors())) from error
    except MisfitError as error:
        raise CatalogueError(_point(path, document, error.place, str(error))) from error
    except OSError as error:
        raise CatalogueError(f"{path.name}: a folder it names cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise CatalogueError(f"{path.name}: {error}") from error


def _explain(path: Path, document: yaml_lines.Document, fault: dict[str, Any]) -> str:
    place = tuple(part for part in fault["loc"] if part != "[key]")
    if fault["type"].startswith("union_tag"):
        place = (*place, "kind")
    elif place[:1] == ("discriminators",):
        place = (*place[:2], *place[3:])  # the third is the kind that pydantic chose, no key of the file
    message = "unknown key" if fault["type"] == "extra_forbidden" else fault["msg"]
    return _point(path, document, place, message)


def _point(path: Path, document: yaml_lines.Document, place: yaml_lines.Place, message: str) -> str:
    return f"{path.name}, line {document.line_of(place)}: {'.'.join(map(str, place))}: {message}"


def _resolve(parsed: CatalogueIn, base: Path) -> Catalogue:
    judges = {DiscriminatorName(n): to_entry(n, d, base) for n, d in parsed.discriminators.items()}
    return Catalogue(
        variants={VariantName(n): _variant(n, v, base) for n, v in parsed.variants.items()},
        pools={PoolName(n): _pool(n, p) for n, p in parsed.pools.items()},
        discriminators=judges,
        models={ModelName(n): _model(n, m, judges) for n, m in parsed.models.items()},
        default_model=ModelName(parsed.default_model),
        use=parsed.use,
    )


def _variant(name: str, variant: VariantIn, base: Path) -> Variant:
    folder = (base / variant.folder).resolve()
    card = own_card(folder)
    if not (folder / "model_index.json").is_file():
        raise MisfitError(("variants", name, "folder"), f"{folder.name} is not a model folder (no model_index.json)")
    steps = variant.steps or card.get("steps")
    if steps is None:
        raise MisfitError(("variants", name), "say `steps`, its folder does not")
    return Variant(
        name=VariantName(name),
        backend=variant.backend,
        folder=folder,
        weights=f"{variant.backend}:{card.get('digest') or _cheap_digest(folder)}",
        steps=steps,
        most_steps=variant.most_steps or max(50, steps),
        guidance=variant.guidance,
        negative_prompt=variant.negative_prompt,
        sizes=_sizes(card),
        profile=DurationProfile(**variant.profile.model_dump()),
        vocabulary=frozenset(card.get("vocabulary", ())),
        most_words=card.get("max_sequence_length", 512) - _MARKERS,
        license=variant.license or folder_licence(folder),
        license_override=variant.license_override,
    )


def _sizes(card: dict[str, Any]) -> Sizes:
    least, most = card.get("min_size", [256, 256]), card.get("max_size", [2048, 2048])
    native = card.get("native_size", [1024, 1024])
    return Sizes(card.get("multiple_of", 16), max(least), min(most), (native[0], native[1]))


def _pool(name: str, pool: PoolIn) -> Pool:
    fields = pool.model_dump() | {"variant": VariantName(pool.variant)}
    return Pool(name=PoolName(name), **fields)


def _model(name: str, model: ModelIn, judges: Mapping[DiscriminatorName, DiscriminatorEntry]) -> Model:
    declared: dict[str, list[StepIn]] = {str(quality): steps for quality, steps in model.routes.items()}
    ordered = [quality for quality in QUALITIES if quality in declared]
    routes = {
        quality: tuple(
            _step(step, judges, ("models", name, "routes", quality, index))
            for index, step in enumerate(declared[quality])
        )
        for quality in ordered
    }
    return Model(ModelName(name), routes, model.description)


def _step(step: StepIn, judges: Mapping[DiscriminatorName, DiscriminatorEntry], place: yaml_lines.Place) -> Step:
    if step.discriminator is None:
        return Step(VariantName(step.variant), None, 0.0)
    judge = judges.get(DiscriminatorName(step.discriminator))
    if judge is None:
        raise MisfitError((*place, "discriminator"), f"{step.discriminator} is not among the discriminators")
    return Step(VariantName(step.variant), judge.name, _threshold(step, judge, (*place, "deferral_rate")))


def _threshold(step: StepIn, judge: DiscriminatorEntry, place: yaml_lines.Place) -> float:
    if step.deferral_rate is None:
        return step.threshold or 0.0
    if not judge.score_quantiles:
        raise MisfitError(
            place,
            f"needs a calibration.json with score_quantiles, and {judge.name} has none: give {judge.name} a "
            "calibration, or this rung a threshold",
        )
    try:
        return threshold_for(step.deferral_rate, judge.score_quantiles)
    except ValueError as error:
        raise MisfitError(place, f"{judge.name}: {error}") from error


def _cheap_digest(folder: Path) -> str:
    """Names, sizes and times of the weight files: a card-less folder can be tens of gigabytes."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.safetensors")):
        stat = file.stat()
        digest.update(f"{file.relative_to(folder)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
