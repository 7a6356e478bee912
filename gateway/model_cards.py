"""What model folders say about themselves, read without opening a weight file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

_FENCE = "---"
_OURS = ("maquette.json", "calibration.json")
"""Of a model, and of a head."""


def read_card(folder: Path, name: str) -> dict[str, Any]:
    """A folder's JSON object.

    Raises:
        ValueError: it is missing, or is not a JSON object.
    """
    try:
        card = json.loads((folder / name).read_text())
    except OSError as error:
        raise ValueError(f"{folder.name}/{name} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ValueError(f"{folder.name}/{name} is not JSON") from error
    if not isinstance(card, dict):
        raise ValueError(f"{folder.name}/{name} is not a JSON object")  # noqa: TRY004 - wrong content, not a wrong call
    return card


def own_card(folder: Path) -> dict[str, Any]:
    """Our `maquette.json`; empty for a folder that has none.

    Raises:
        ValueError: it is not a JSON object.
    """
    return read_card(folder, "maquette.json") if (folder / "maquette.json").is_file() else {}


def folder_licence(folder: Path) -> str:
    """The licence tag of one of our cards, else of a model card as hubs have it; empty when none says one.

    Raises:
        ValueError: one of our cards is not a JSON object.
    """
    for name in _OURS:
        said = read_card(folder, name).get("license") if (folder / name).is_file() else None
        if isinstance(said, str) and said:
            return said
    return _hub_licence(folder / "README.md")


def _hub_licence(readme: Path) -> str:
    """A hub's card names an unusual licence in `license_name` and says `license: other`; several stand in a list."""
    matter = _front_matter(readme)
    said = matter.get("license")
    tags = [tag for tag in (said if isinstance(said, list) else [said]) if isinstance(tag, str)]
    name = matter.get("license_name")
    if isinstance(name, str) and (not tags or tags == ["other"]):
        return name
    return ", ".join(tags)


def _front_matter(readme: Path) -> dict[str, Any]:
    """The YAML between the first two fences; empty when there is none that can be read."""
    try:
        first, _, rest = readme.read_text().partition("\n")
        if first.strip() != _FENCE:
            return {}
        matter = yaml.safe_load(rest.split(f"\n{_FENCE}", 1)[0])
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return matter if isinstance(matter, dict) else {}
