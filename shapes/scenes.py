"""Scenes: what a picture should show, and how to draw one at random.

A scene is the meaning of a caption, nothing about pixels. Start reading here, then `shapes.captions`
(scene ⇄ words), `shapes.render` (scene → pixels) and `shapes.oracle` (pixels + scene → verdict).
"""

import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np

from shapes.vocabulary import Background, Colour, Relation, Shape, Size

T = TypeVar("T")

_PAIR_RELATIONS = (Relation.LEFT_OF, Relation.RIGHT_OF, Relation.ABOVE, Relation.BELOW)
_IDENTICAL_SHARE = 0.2
_SIZED_SHARE = 0.8
_GROUNDED_SHARE = 0.9
_HELD_OUT_MODULUS = 10
_MOST_THINGS = 3


class Difficulty(StrEnum):
    """The ladder: one thing, two things, three things."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class ImpossibleSceneError(ValueError):
    """The scene contradicts itself, or nothing in this world can show it."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One shape; `size` is None where the caption does not say."""

    shape: Shape
    colour: Colour
    size: Size | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """One to three things; without a relation, two or three things are identical.

    `background` is None where the caption does not say.
    """

    things: tuple[Thing, ...]
    relation: Relation | None = None
    background: Background | None = None

    def __post_init__(self) -> None:
        """Raise `ImpossibleSceneError` for what this world cannot show."""
        count = len(self.things)
        if not 1 <= count <= _MOST_THINGS:
            msg = f"a scene has one to three things, not {count}"
            raise ImpossibleSceneError(msg)
        if count == _MOST_THINGS and any(thing.size for thing in self.things):
            msg = "sizes can be named for one or two things, not for three"
            raise ImpossibleSceneError(msg)
        if self.relation is None and len(set(self.things)) > 1:
            msg = "different things need a relation"
            raise ImpossibleSceneError(msg)
        if self.relation is not None and count != (_MOST_THINGS if self.relation is Relation.ROW else 2):
            msg = f"“{self.relation}” does not fit {count} thing(s)"
            raise ImpossibleSceneError(msg)

    @property
    def difficulty(self) -> Difficulty:
        """Where the scene stands on the ladder."""
        return tuple(Difficulty)[len(self.things) - 1]


def sample_scene(rng: np.random.Generator, difficulty: Difficulty) -> Scene:
    """Draw a scene; the same generator state gives the same scene."""
    background = _pick(rng, tuple(Background)) if rng.random() < _GROUNDED_SHARE else None
    if difficulty is Difficulty.EASY:
        return Scene((_sample_thing(rng, sized=True),), None, background)
    count = 2 if difficulty is Difficulty.MEDIUM else _MOST_THINGS
    if rng.random() < _IDENTICAL_SHARE:
        return Scene((_sample_thing(rng, sized=count == 2),) * count, None, background)  # noqa: PLR2004
    if difficulty is Difficulty.MEDIUM:
        things = (_sample_thing(rng, sized=True), _sample_thing(rng, sized=True))
        return Scene(things, _pick(rng, _PAIR_RELATIONS), background)
    return Scene(tuple(_sample_thing(rng, sized=False) for _ in range(count)), Relation.ROW, background)


def held_out(scene: Scene) -> bool:
    """Whether training must never see this combination: one in ten of all scenes with several things.

    The background and the relation do not matter, so neither turns a held-out combination into a seen one.
    """
    if len(scene.things) == 1:
        return False
    key = "|".join(f"{thing.shape} {thing.colour}" for thing in sorted(scene.things, key=str))
    return zlib.crc32(key.encode()) % _HELD_OUT_MODULUS == 0


def _sample_thing(rng: np.random.Generator, *, sized: bool) -> Thing:
    size = _pick(rng, tuple(Size)) if rng.random() < _SIZED_SHARE and sized else None
    return Thing(_pick(rng, tuple(Shape)), _pick(rng, tuple(Colour)), size)


def _pick(rng: np.random.Generator, choices: tuple[T, ...]) -> T:
    return choices[int(rng.integers(len(choices)))]
