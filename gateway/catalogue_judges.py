"""The discriminators of a catalogue file: each kind with exactly the folders that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from cascade.catalogue import DiscriminatorEntry
from cascade.plans import DiscriminatorName
from gateway.catalogue_parts import Licensed, MisfitError
from gateway.model_cards import folder_licence, read_card

_CALIBRATION = "calibration.json"
_LANDMARKS: Mapping[str | tuple[str, str], str] = {
    "clip": "open_clip_config.json",
    ("pickscore", "clip"): "config.json",
    ("clip_head", "head"): _CALIBRATION,
    "calibration": _CALIBRATION,
}
"""A file that a folder is known by: of a part, or of one kind's part."""


class _JudgeIn(Licensed):
    """What every kind has."""

    milliseconds: float = Field(ge=0)


class ClipHeadIn(_JudgeIn):
    """A head trained on this pair of tiers, and the open_clip folder it stands on."""

    kind: Literal["clip_head"]
    clip: Path
    head: Path


class CosineIn(_JudgeIn):
    """CLIPScore of an open_clip folder; HPS v2 or v2.1, also one; PickScore, a CLIPModel folder with its processor."""

    kind: Literal["clip_score", "open_clip", "pickscore"]
    clip: Path
    calibration: Path | None = None


class AestheticIn(_JudgeIn):
    """LAION's aesthetic head, and the open_clip folder it stands on."""

    kind: Literal["aesthetic"]
    clip: Path
    head: Path
    calibration: Path | None = None


DiscriminatorIn = Annotated[ClipHeadIn | CosineIn | AestheticIn, Field(discriminator="kind")]


def to_entry(name: str, judge: DiscriminatorIn, base: Path) -> DiscriminatorEntry:
    """Resolve a discriminator's folders, relative to `base`, and read what they say.

    Raises:
        MisfitError: a folder lacks the file it is known by.
        ValueError: a card is not a JSON object.
    """
    folders = {part: (base / path).resolve() for part, path in _paths(judge).items()}
    for part, folder in folders.items():
        landmark = _LANDMARKS.get((judge.kind, part), _LANDMARKS.get(part, ""))
        if not (folder / landmark).exists():
            missing = f"no {landmark}" if landmark else "there is none"
            raise MisfitError(("discriminators", name, part), f"{folder.name} is not a {part} folder ({missing})")
    return DiscriminatorEntry(
        name=DiscriminatorName(name),
        kind=judge.kind,
        folders=MappingProxyType(folders),
        milliseconds=judge.milliseconds,
        score_quantiles=_quantiles(folders),
        license=judge.license or _licence(folder for part, folder in folders.items() if part != "calibration"),
        license_override=judge.license_override,
    )


def _paths(judge: DiscriminatorIn) -> dict[str, Path]:
    return {part: path for part in ("clip", "head", "calibration") if (path := getattr(judge, part, None)) is not None}


def _quantiles(folders: Mapping[str, Path]) -> tuple[float, ...]:
    """Of the calibration, which a head brings along."""
    folder = folders.get("calibration", folders.get("head"))
    if folder is None or not (folder / _CALIBRATION).is_file():
        return ()
    return tuple(read_card(folder, _CALIBRATION).get("score_quantiles", ()))


def _licence(folders: Iterable[Path]) -> str:
    """The tags of all parts; a part without one must not hide behind the others."""
    tags = [folder_licence(folder) for folder in folders]
    distinct = {tag.casefold(): tag or "unknown" for tag in tags}
    return ", ".join(distinct.values()) if any(tags) else ""
