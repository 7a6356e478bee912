"""Scenes: what a picture should show, and how to draw one at random.

A scene is the meaning of a caption, nothing about pixels. Start reading here, then `shapes.captions`
(scene ⇄ words), `shapes.render` (scene → pixels) and `shapes.oracle` (pixels + scene → verdict).
"""

import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np

from shapes.vocabulary import Background, Colour, Fill, Relation, Shape, Size

T = TypeVar("T")

_PAIR_RELATIONS = (Relation.LEFT_OF, Relation.RIGHT_OF, Relation.ABOVE, Relation.BELOW)
_IDENTICAL_SHARE = 0.2
_SIZED_SHARE = 0.8
_SMALL_SHARE = 0.4
_GROUNDED_SHARE = 0.9
_PARTS = 10
_MOST_THINGS = 3

NEVER_TOGETHER = frozenset(
    {
        (Shape.CIRCLE, Colour.PURPLE),
        (Shape.SQUARE, Colour.PINK),
        (Shape.TRIANGLE, Colour.CYAN),
        (Shape.STAR, Colour.GREEN),
        (Shape.HEART, Colour.ORANGE),
    }
)
"""Five of the 48 pairs of shape and colour: no training picture shows one, though it shows either half with others."""


class Difficulty(StrEnum):
    """The ladder, by the detail that must be got right.

    One plain thing that is not small; a small one, one with a fill, or two plain ones; more than that.
    """

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Split(StrEnum):
    """What a combination of things is for. Its background and relation do not matter."""

    TRAIN = "train"
    CALIBRATE = "calibrate"
    TEST = "test"


class ImpossibleSceneError(ValueError):
    """The scene contradicts itself, or nothing in this world can show it."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One shape; `size` is None where the caption does not say, `fill` where the thing is plain."""

    shape: Shape
    colour: Colour
    size: Size | None = None
    fill: Fill | None = None


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
        if count == _MOST_THINGS and any(thing.size or thing.fill for thing in self.things):
            msg = "sizes and fills can be named for one or two things, not for three"
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
        if len(self.things) == _MOST_THINGS:
            return Difficulty.HARD
        filled = any(thing.fill for thing in self.things)
        if len(self.things) == 1 and self.things[0].size is Size.SMALL and not filled:
            return Difficulty.MEDIUM
        return tuple(Difficulty)[len(self.things) - 1 + filled]

    @property
    def split(self) -> Split:
        """What the scene's things are for: eight combinations in ten are for training."""
        key = "|".join(sorted(f"{thing.shape} {thing.colour} {thing.size} {thing.fill}" for thing in self.things))
        part = zlib.crc32(key.encode()) % _PARTS
        return {0: Split.TEST, 1: Split.CALIBRATE}.get(part, Split.TRAIN)

    @property
    def novel(self) -> bool:
        """Whether a thing has a colour that training never showed on its shape."""
        return any((thing.shape, thing.colour) in NEVER_TOGETHER for thing in self.things)


def sample_scene(rng: np.random.Generator, difficulty: Difficulty) -> Scene:
    """Draw a scene; the same generator state gives the same scene."""
    count = _sample_count(rng, difficulty)
    while (scene := _propose(rng, difficulty, count)).difficulty is not difficulty:
        continue
    return scene


def _propose(rng: np.random.Generator, difficulty: Difficulty, count: int) -> Scene:
    """Draw a scene that may well be as difficult as asked."""
    background = _pick(rng, tuple(Background)) if rng.random() < _GROUNDED_SHARE else None
    fills = _sample_fills(rng, count, difficulty)
    if count == 1 or rng.random() < _IDENTICAL_SHARE:
        fill = fills[0] or fills[-1]
        return Scene((_sample_thing(rng, fill, sized=count < _MOST_THINGS),) * count, None, background)
    things = tuple(_sample_thing(rng, fill, sized=count < _MOST_THINGS) for fill in fills)
    return Scene(things, Relation.ROW if count == _MOST_THINGS else _pick(rng, _PAIR_RELATIONS), background)


def _sample_count(rng: np.random.Generator, difficulty: Difficulty) -> int:
    """One thing is easy, one or two are medium, two or three are hard, with even chances."""
    fewest = {Difficulty.EASY: 1, Difficulty.MEDIUM: 1, Difficulty.HARD: 2}[difficulty]
    return fewest if difficulty is Difficulty.EASY else fewest + int(rng.random() < 0.5)  # noqa: PLR2004


def _sample_fills(rng: np.random.Generator, count: int, difficulty: Difficulty) -> list[Fill | None]:
    """Fills that make `count` things as difficult as asked; one thing of medium difficulty may be plain and small."""
    if (difficulty, count) == (Difficulty.MEDIUM, 1) and rng.random() < _SMALL_SHARE:
        return [None]
    if difficulty is Difficulty.EASY or count == _MOST_THINGS or (difficulty, count) == (Difficulty.MEDIUM, 2):
        return [None] * count
    fills = [_pick(rng, tuple(Fill))] + [_pick(rng, (None, *Fill)) for _ in range(count - 1)]
    return fills if rng.random() < 0.5 else fills[::-1]  # noqa: PLR2004


def _sample_thing(rng: np.random.Generator, fill: Fill | None, *, sized: bool) -> Thing:
    size = _pick(rng, tuple(Size)) if rng.random() < _SIZED_SHARE and sized else None
    return Thing(_pick(rng, tuple(Shape)), _pick(rng, tuple(Colour)), size, fill)


def _pick(rng: np.random.Generator, choices: tuple[T, ...]) -> T:
    return choices[int(rng.integers(len(choices)))]
