"""YAML with `${VAR}` and `${VAR:-default}`, and the line of every value, so that an error can point at it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

Place = tuple[str | int, ...]
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


class YamlError(ValueError):
    """The text is not YAML, uses a variable that is not set, or says a key twice."""


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed YAML and where its values stand."""

    content: Any
    lines: Mapping[Place, int]

    def line_of(self, place: Place) -> int:
        """The 1-based line of the value at `place`, or of the nearest thing around it that exists."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def parse(text: str, variables: Mapping[str, str]) -> Document:
    """Read one YAML document.

    Raises:
        YamlError: with a line number.
    """
    expanded = _expand(text, variables)
    try:
        root = yaml.compose(expanded, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise YamlError(f"line {line}: {error.problem}") from error
    except yaml.YAMLError as error:
        raise YamlError(f"line 1: {error}") from error
    lines: dict[Place, int] = {}
    if root is not None:
        _walk(root, (), lines)
    return Document(yaml.safe_load(expanded), lines)


def _expand(text: str, variables: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        found = variables.get(match["name"], match["default"])
        if found is None:
            line = text.count("\n", 0, match.start()) + 1
            raise YamlError(
                f"line {line}: ${{{match['name']}}} is not set; write ${{{match['name']}:-default}} for a default"
            )
        return found

    return _VARIABLE.sub(value, text)


def _walk(node: yaml.Node, place: Place, lines: dict[Place, int]) -> None:
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            below = (*place, key.value)
            if below in lines:
                raise YamlError(f"line {key.start_mark.line + 1}: {key.value} is said twice")
            lines[below] = key.start_mark.line + 1
            _walk(child, below, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, child in enumerate(node.value):
            _walk(child, (*place, index), lines)
