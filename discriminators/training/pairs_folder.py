"""A folder of pairs as people and judges fill it: pictures, and `pairs.jsonl` with one line per light picture.

    {"prompt": "…", "light": "a.png", "heavy": ["b.png", "c.png"], "light_utility": 0.6, "heavy_utilities": [0.9, 0.5]}
    {"prompt": "…", "light": "d.png", "heavy": ["e.png"], "preferred": ["heavy"]}

Also `propensity` (the chance with which the request was sampled, 1 by default), `group` (what must stay in one part of
a split, the prompt by default) and `judge` (who said so).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import msgspec

from discriminators.training.errors import PairsError

FILE = "pairs.jsonl"

_UTILITY_OF = {"light": 0.0, "tie": 0.5, "heavy": 1.0}
"""Of a heavy picture that was compared with a light one, whose own utility then is one half."""

Utility = Annotated[float, msgspec.Meta(ge=0, le=1)]
Words = Annotated[str, msgspec.Meta(min_length=1)]


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    prompt: Words
    light: Words
    heavy: Annotated[list[Words], msgspec.Meta(min_length=1)]
    light_utility: Utility | None = None
    heavy_utilities: list[Utility] | None = None
    preferred: list[Literal["light", "heavy", "tie"]] | None = None
    propensity: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    group: Words | None = None
    judge: str = ""


@dataclass(frozen=True, slots=True)
class PairLine:
    """One prompt with a light picture and heavy ones, judged.

    Attributes:
        number: of the line, from 1.
        prompt: what was asked for.
        light: the light picture's file.
        heavy: the heavy pictures' files.
        light_utility: in 0..1.
        heavy_utilities: in 0..1, one per heavy picture.
        weight: inverse of the propensity, at least 1.
        group: number of the prompt or group; the same text has the same number in every folder.
        judge: who gave the utilities, or empty.
    """

    number: int
    prompt: str
    light: Path
    heavy: tuple[Path, ...]
    light_utility: float
    heavy_utilities: tuple[float, ...]
    weight: float
    group: int
    judge: str


def read_pairs(folder: Path) -> list[PairLine]:
    """All lines.

    Raises:
        PairsError: the file is missing or empty, or a line is wrong; the message names it.
    """
    path = folder / FILE
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PairsError(f"There is no readable {FILE} in folder {folder.name}. Collect pairs first.") from error
    pairs = [_parse(folder, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not pairs:
        raise PairsError(f"{FILE} of folder {folder.name} holds no pairs. Collect some first.")
    return pairs


def collected_prompts(folder: Path) -> frozenset[str]:
    """Prompts that already have a line, judged or not. A last line that was cut off is removed from the file.

    Raises:
        PairsError: a line is not one of pairs.
    """
    path = folder / FILE
    if not path.is_file():
        return frozenset()
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        path.write_bytes(whole)
    lines = whole.decode("utf-8", "replace").splitlines()
    return frozenset(_decode(number, line).prompt for number, line in enumerate(lines, 1) if line.strip())


def append_pair(folder: Path, line: Mapping[str, Any]) -> None:
    """Add a line."""
    with (folder / FILE).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def group_number(text: str) -> int:
    """63 bits of the text's SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 1


def judges_of(lines: Sequence[PairLine]) -> str:
    """Everyone who gave utilities, as text."""
    return ", ".join(sorted({line.judge or "a judge that was not named" for line in lines}))


def _parse(folder: Path, number: int, text: str) -> PairLine:
    line = _decode(number, text)
    light, heavy = _utilities(number, line)
    return PairLine(
        number=number,
        prompt=line.prompt,
        light=_existing(folder, number, line.light),
        heavy=tuple(_existing(folder, number, name) for name in line.heavy),
        light_utility=light,
        heavy_utilities=heavy,
        weight=1 / line.propensity,
        group=group_number(line.group or line.prompt),
        judge=line.judge,
    )


def _decode(number: int, text: str) -> _Line:
    try:
        return msgspec.json.decode(text, type=_Line)
    except msgspec.ValidationError as error:
        raise _wrong(number, f"is wrong: {error}") from error
    except msgspec.DecodeError as error:
        raise _wrong(number, "is not JSON") from error


def _utilities(number: int, line: _Line) -> tuple[float, tuple[float, ...]]:
    """(of the light picture, of each heavy one)."""
    told = line.light_utility is not None or line.heavy_utilities is not None
    if line.preferred is not None and told:
        raise _wrong(number, "has both preferred and utilities; give one of them")
    if line.preferred is not None:
        light, heavy = 0.5, [_UTILITY_OF[answer] for answer in line.preferred]
    elif line.light_utility is None or line.heavy_utilities is None:
        raise _wrong(number, "is not judged yet: fill in light_utility and heavy_utilities, or preferred")
    else:
        light, heavy = line.light_utility, line.heavy_utilities
    if len(heavy) != len(line.heavy):
        raise _wrong(number, f"names {len(line.heavy)} heavy pictures and judges {len(heavy)}")
    return light, tuple(heavy)


def _existing(folder: Path, number: int, name: str) -> Path:
    """The file of that relative name, which must lie in the folder."""
    relative = PurePosixPath(name)
    if relative.is_absolute() or ".." in relative.parts:
        raise _wrong(number, "names a picture outside the folder; paths are relative to it")
    path = folder / relative
    if not path.is_file():
        raise _wrong(number, f"names a picture that is not there: {name}")
    return path


def _wrong(number: int, what: str) -> PairsError:
    return PairsError(f"Line {number} of {FILE} {what}.")
