"""The catalogue, and the model files it names: all there, all whole, and those that their cards describe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cascade.catalogue import Catalogue
from cascade.errors import ModelFilesError
from cascade.model_folder import ModelFolder
from gateway.catalogue_file import CatalogueError, load_configured
from gateway.local.doctor.findings import Finding, ok, problem, warning
from gateway.local.doctor.installation import ENGINE_REMEDY
from gateway.settings import Settings

_SAFETENSORS = ".safetensors"
_INDEX = ".safetensors.index.json"


@dataclass(frozen=True, slots=True)
class Models:
    """A catalogue.

    Attributes:
        fault: why it can't be used, a line each; "" when it can.
        models: names.
        pools: names.
        engineless: variants of the diffusers backend, on a machine without torch and diffusers.
        remarks: on licences that somebody should read.
    """

    fault: str
    models: Sequence[str] = ()
    pools: Sequence[str] = ()
    engineless: Sequence[str] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """A model folder.

    Attributes:
        name: without the folders above it.
        fault: what is missing or broken; "" when nothing is.
        stated: the digest in its card; "" when there is none.
        computed: the digest of its files; "" when that was not needed.
    """

    name: str
    fault: str
    stated: str = ""
    computed: str = ""


def look_at_catalogue(settings: Settings) -> Models:
    """The catalogue of these settings."""
    try:
        catalogue = load_configured(settings)
    except CatalogueError as error:
        return Models(str(error))
    has_engine = all(find_spec(name) for name in ("torch", "diffusers"))
    return Models(
        fault="",
        models=tuple(catalogue.models),
        pools=tuple(catalogue.pools),
        engineless=[it.name for it in catalogue.variants.values() if it.backend == "diffusers" and not has_engine],
        remarks=catalogue.licence_remarks,
    )


def judge_catalogue(facts: Models) -> Sequence[Finding]:
    """Can it be used, and by this installation?"""
    if facts.fault:
        return [problem("catalogue", line, "Correct it.") for line in facts.fault.splitlines() if line.strip()]
    engineless = [
        problem("catalogue", f"Variant {name} needs the engine extra, which is not installed.", ENGINE_REMEDY)
        for name in facts.engineless
    ]
    licences = [warning("licence", remark, "Make sure that you may use it as you do.") for remark in facts.remarks]
    said = f"It declares the models {', '.join(facts.models)}, and the pools {', '.join(facts.pools)}."
    return [*(engineless or [ok("catalogue", said)]), *licences]


def look_at_folders(settings: Settings) -> Sequence[Folder]:
    """Every folder that the catalogue names; none when there is no usable catalogue."""
    try:
        catalogue = load_configured(settings)
    except CatalogueError:
        return []
    return [_folder(path) for path in _folders(catalogue)]


def _folders(catalogue: Catalogue) -> Sequence[Path]:
    variants = [variant.folder for variant in catalogue.variants.values()]
    judges = [folder for judge in catalogue.discriminators.values() for folder in judge.folders.values()]
    return list(dict.fromkeys([*variants, *judges]))


def _folder(path: Path) -> Folder:
    try:
        files = ModelFolder(path)
        for stem in _stems(path):
            files.check_weights(stem)
        stated = _stated_digest(files)
        return Folder(path.name, _without_weights(files), stated, files.digest() if stated else "")
    except ModelFilesError as error:
        return Folder(path.name, str(error))


def _stems(folder: Path) -> Sequence[str]:
    """Names of all weights, in one file or in several, without their ending."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.safetensors*")]
    return sorted({name.removesuffix(end) for name in names for end in (_SAFETENSORS, _INDEX) if name.endswith(end)})


def _without_weights(files: ModelFolder) -> str:
    """The first part of a pipeline that has a configuration and no weights; "" when all have some."""
    if not files.has("model_index.json"):
        return ""
    parts = sorted(path.parent for path in files.path.glob("*/config.json"))
    bare = next((part for part in parts if not any(part.glob(f"*{_SAFETENSORS}"))), None)
    return "" if bare is None else f"{bare.name} of model folder {files.path.name} has no weights."


def _stated_digest(files: ModelFolder) -> str:
    card = next((name for name in ("maquette.json", "calibration.json") if files.has(name)), None)
    return "" if card is None else files.settings(card).text("digest", "")


def judge_folders(folders: Sequence[Folder]) -> Sequence[Finding]:
    """A finding for each folder."""
    return [_finding(folder) for folder in folders]


def _finding(folder: Folder) -> Finding:
    again = "Copy the whole folder again."
    if folder.fault:
        return problem("model files", folder.fault.removesuffix(f" {again}"), again)
    if folder.computed != folder.stated:
        what = f"The weights of {folder.name} are not those that its card describes: their digest is another."
        return problem("model files", what, f"{again} If the change was meant, write the new digest into its card.")
    whole = "are whole, and those of its card" if folder.stated else "are whole; its card states no digest"
    return ok("model files", f"The files of {folder.name} {whole}.")
