"""Drawn pictures on disk, one line each, so that a broken-off run goes on and plots can be made anew.

The first line says what everything below it was drawn with; where that differs nothing is used.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.cascade.studio import Drawn, Time

FILE = "drawn.jsonl"


class Kept:
    """Pictures by prompt, in memory and, when there is a folder, on disk."""

    def __init__(self, folder: Path | None, drawn_with: Mapping[str, Any]) -> None:
        """Read what is there.

        Args:
            folder: made if needed; `None` keeps nothing.
            drawn_with: weights, seed, machine: all that a picture or its time depends on but its prompt.

        Raises:
            OSError: the folder can't be used.
        """
        self._path = None if folder is None else folder / FILE
        self._found: dict[str, Drawn] = {}
        self.stale = False
        """Whether the folder held pictures drawn with something else; they are gone."""
        if self._path is not None:
            self._open(self._path, key_of(drawn_with))

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, prompt: str) -> bool:
        return prompt in self._found

    def get(self, prompt: str) -> Drawn:
        """The pictures of `prompt`.

        Raises:
            KeyError: it was not drawn yet.
        """
        return self._found[prompt]

    def put(self, prompt: str, drawn: Drawn) -> None:
        """Keep the pictures of `prompt`.

        Raises:
            OSError: the file can't be written.
        """
        self._found[prompt] = drawn
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(_to_line(prompt, drawn))

    def _open(self, path: Path, key: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
        whole = [line for line in lines if line.endswith("\n")]  # a run that was killed leaves half a line
        self.stale = bool(lines) and whole[:1] != [_header(key)]
        good = [] if self.stale else whole[1:]
        self._found = dict(map(_from_line, good))
        path.write_text("".join([_header(key), *good]))


def key_of(drawn_with: Mapping[str, Any]) -> str:
    """64 hex digits of it."""
    return hashlib.sha256(json.dumps(drawn_with, sort_keys=True).encode()).hexdigest()


def _header(key: str) -> str:
    return json.dumps({"drawn_with": key}) + "\n"


def _to_line(prompt: str, drawn: Drawn) -> str:
    pictures = {name: base64.b64encode(getattr(drawn, name)).decode() for name in ("light", "heavy")}
    return json.dumps({"prompt": prompt, **asdict(drawn), **pictures}) + "\n"


def _from_line(line: str) -> tuple[str, Drawn]:
    row = json.loads(line)
    return row["prompt"], Drawn(
        light=base64.b64decode(row["light"]),
        heavy=base64.b64decode(row["heavy"]),
        score=row["score"],
        light_time=Time(**row["light_time"]),
        judge_time=Time(**row["judge_time"]),
        heavy_time=Time(**row["heavy_time"]),
    )
