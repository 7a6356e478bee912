"""Hard negatives: scenes that differ from a given one in a single attribute."""

from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from shapes.scenes import Scene, Thing
from shapes.vocabulary import Background, Colour, Fill, Relation, Shape, Size

_Word = TypeVar("_Word", bound=StrEnum)
_OPPOSITE = {
    Relation.LEFT_OF: Relation.RIGHT_OF,
    Relation.RIGHT_OF: Relation.LEFT_OF,
    Relation.ABOVE: Relation.BELOW,
    Relation.BELOW: Relation.ABOVE,
}


def contradict(scene: Scene, rng: np.random.Generator) -> Scene:
    """Return a scene that a picture of `scene` does not show: one attribute changed, or two things' swapped."""
    plain = scene.relation is None and not any(thing.size or thing.fill for thing in scene.things)
    possible = {
        _change_shape: True,
        _change_colour: True,
        _change_background: scene.background is not None,
        _change_size: any(thing.size for thing in scene.things),
        _change_fill: len(scene.things) < 3,  # noqa: PLR2004 - three things are always plain
        _turn_round: scene.relation in _OPPOSITE and _told_apart(*scene.things),
        _swap_colours: len({thing.colour for thing in scene.things}) > 1,
        _swap_shapes: len({thing.shape for thing in scene.things}) > 1,
        _swap_fills: len({thing.fill for thing in scene.things}) > 1,
        _change_count: plain,
    }
    ways = [way for way, fits in possible.items() if fits]
    changed = ways[int(rng.integers(len(ways)))](scene, rng)
    return changed if changed != scene else _change_shape(scene, rng)


def _other(word: _Word, rng: np.random.Generator) -> _Word:
    others = [other for other in type(word) if other is not word]
    return others[int(rng.integers(len(others)))]


def _with_thing(scene: Scene, at: int, thing: Thing) -> Scene:
    """Replace one thing; identical things without a relation all change together."""
    if scene.relation is None:
        return replace(scene, things=(thing,) * len(scene.things))
    return replace(scene, things=(*scene.things[:at], thing, *scene.things[at + 1 :]))


def _change_shape(scene: Scene, rng: np.random.Generator) -> Scene:
    at = int(rng.integers(len(scene.things)))
    shape: Shape = _other(scene.things[at].shape, rng)
    return _with_thing(scene, at, replace(scene.things[at], shape=shape))


def _change_colour(scene: Scene, rng: np.random.Generator) -> Scene:
    at = int(rng.integers(len(scene.things)))
    colour: Colour = _other(scene.things[at].colour, rng)
    return _with_thing(scene, at, replace(scene.things[at], colour=colour))


def _change_background(scene: Scene, rng: np.random.Generator) -> Scene:
    return replace(scene, background=_other(scene.background or Background.WHITE, rng))


def _change_size(scene: Scene, rng: np.random.Generator) -> Scene:
    sized = [at for at, thing in enumerate(scene.things) if thing.size]
    at = sized[int(rng.integers(len(sized)))]
    return _with_thing(scene, at, replace(scene.things[at], size=_other(scene.things[at].size or Size.SMALL, rng)))


def _change_fill(scene: Scene, rng: np.random.Generator) -> Scene:
    at = int(rng.integers(len(scene.things)))
    others = [fill for fill in (None, *Fill) if fill is not scene.things[at].fill]
    return _with_thing(scene, at, replace(scene.things[at], fill=others[int(rng.integers(len(others)))]))


def _turn_round(scene: Scene, rng: np.random.Generator) -> Scene:
    del rng
    return replace(scene, relation=None if scene.relation is None else _OPPOSITE[scene.relation])


def _told_apart(first: Thing, second: Thing) -> bool:
    """Whether a picture always shows which of two things is which: a size that one leaves open may be the other's."""
    sized = first.size is not None and second.size is not None and first.size is not second.size
    return sized or replace(first, size=None) != replace(second, size=None)


def _swap_colours(scene: Scene, rng: np.random.Generator) -> Scene:
    first, second = _two_different([thing.colour for thing in scene.things], rng)
    things = list(scene.things)
    things[first] = replace(scene.things[first], colour=scene.things[second].colour)
    things[second] = replace(scene.things[second], colour=scene.things[first].colour)
    return replace(scene, things=tuple(things))


def _swap_fills(scene: Scene, rng: np.random.Generator) -> Scene:
    del rng
    first, second = scene.things  # only two things can differ in their fills
    return replace(scene, things=(replace(first, fill=second.fill), replace(second, fill=first.fill)))


def _swap_shapes(scene: Scene, rng: np.random.Generator) -> Scene:
    first, second = _two_different([thing.shape for thing in scene.things], rng)
    things = list(scene.things)
    things[first] = replace(scene.things[first], shape=scene.things[second].shape)
    things[second] = replace(scene.things[second], shape=scene.things[first].shape)
    return replace(scene, things=tuple(things))


def _two_different(words: list[_Word], rng: np.random.Generator) -> tuple[int, int]:
    """Return two positions whose words differ; at least two words must."""
    pairs = [(i, j) for i in range(len(words)) for j in range(i) if words[i] is not words[j]]
    return pairs[int(rng.integers(len(pairs)))]


def _change_count(scene: Scene, rng: np.random.Generator) -> Scene:
    counts = [count for count in (1, 2, 3) if count != len(scene.things)]
    return replace(scene, things=(scene.things[0],) * counts[int(rng.integers(len(counts)))])
