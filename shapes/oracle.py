"""The oracle: which parts of a scene does a picture really show?

It measures, it does not learn: the background from the border, things as connected regions that differ from it, each
region's colour from its inside and its shape by comparing its coverage with all six shapes drawn at the same place
and area. It knows how true pictures are drawn, so it is exact on them and strict on everything else.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shapes.render import RADII, SIDE, Placed, coverage
from shapes.scenes import Scene, Thing
from shapes.vocabulary import CANVAS, PAINT, Background, Colour, Relation, Shape, Size

Name = TypeVar("Name")

_STANDS_OUT = 38.0
_HALF = 0.45
_NEAR = 5
_SAME_COLOUR = 70.0
_SMALLEST_AREA = 14
_SAME_SHAPE = 0.72
_MOST_REGIONS = 5
_BORDER = 2
_LEAST_STEP = 5.0


@dataclass(frozen=True, slots=True)
class Found:
    """One thing as measured: centre and radius in pixels; `colour` or `shape` is None where nothing fits."""

    x: float
    y: float
    radius: float
    colour: Colour | None
    shape: Shape | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Which attributes are right; None where the scene does not say."""

    background: bool | None
    count: bool
    colour: bool
    shape: bool
    size: bool | None
    relation: bool | None

    @property
    def applicable(self) -> dict[str, bool]:
        """The attributes the scene speaks of."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def share(self) -> float:
        """The share of applicable attributes that are right, in 0..1."""
        return sum(self.applicable.values()) / len(self.applicable)

    @property
    def all_right(self) -> bool:
        """Whether every applicable attribute is right."""
        return all(self.applicable.values())


ATTRIBUTES: Final[tuple[str, ...]] = tuple(field.name for field in fields(Reading))


def read(picture: NDArray[np.uint8], scene: Scene) -> Reading:
    """Judge `picture` against `scene`.

    Args:
        picture: uint8 [64, 64, 3], sRGB.
        scene: What it should show.

    Raises:
        ValueError: The picture has another shape or type.
    """
    if picture.shape != (SIDE, SIDE, 3) or picture.dtype != np.uint8:
        msg = f"expected uint8 [64, 64, 3], got {picture.dtype} {list(picture.shape)}"
        raise ValueError(msg)
    ground, things = look(picture)
    count = len(things) == len(scene.things)
    match = max(
        _matches(scene, things), key=_rank, default=_Match(colour=False, shape=False, size=False, relation=False)
    )
    sized = any(thing.size for thing in scene.things)
    return Reading(
        background=None if scene.background is None else ground is scene.background,
        count=count,
        colour=match.colour,
        shape=match.shape,
        size=match.size if sized else None,
        relation=match.relation if scene.relation else None,
    )


def look(picture: NDArray[np.uint8]) -> tuple[Background | None, list[Found]]:
    """Measure what uint8 [64, 64, 3] shows, knowing nothing of what it should: background and things, largest first."""
    pixels = picture.astype(np.float32)
    ring = np.ones((SIDE, SIDE), bool)
    ring[_BORDER:-_BORDER, _BORDER:-_BORDER] = False
    ground = np.median(pixels[ring], axis=0)
    contrast = np.linalg.norm(pixels - ground, axis=-1)
    stands_out = contrast > np.maximum(_STANDS_OUT, _HALF * ndimage.maximum_filter(contrast, _NEAR))
    labels, _ = ndimage.label(stands_out)
    areas = np.bincount(labels.ravel())
    areas[0] = 0
    chosen = [int(label) for label in np.argsort(-areas)[:_MOST_REGIONS] if areas[label] >= _SMALLEST_AREA]
    name = _nearest(ground, CANVAS)
    return name, [_measure(pixels, labels == label, ground) for label in chosen]


@dataclass(frozen=True, slots=True)
class _Match:
    """How well one assignment of found things to wanted things fits."""

    colour: bool
    shape: bool
    size: bool
    relation: bool


def _rank(match: _Match) -> int:
    return match.colour + match.shape + match.size + match.relation


def _matches(scene: Scene, things: list[Found]) -> Iterator[_Match]:
    """Yield the fit of every assignment; none when too few things were found."""
    for chosen in itertools.permutations(things, len(scene.things)):
        pairs = list(zip(scene.things, chosen, strict=True))
        yield _Match(
            colour=all(found.colour is thing.colour for thing, found in pairs),
            shape=all(found.shape is thing.shape for thing, found in pairs),
            size=all(_size_fits(thing, found, len(pairs)) for thing, found in pairs),
            relation=scene.relation is None or _relation_holds(scene.relation, chosen),
        )


def _size_fits(thing: Thing, found: Found, count: int) -> bool:
    if thing.size is None:
        return True
    small, large = RADII[count][Size.SMALL], RADII[count][Size.LARGE]
    border = (small[1] + large[0]) / 2
    if thing.size is Size.SMALL:
        return found.radius < border
    return found.radius >= border


def _relation_holds(relation: Relation, things: tuple[Found, ...]) -> bool:
    dx = np.diff([thing.x for thing in things])
    dy = np.diff([thing.y for thing in things])
    if relation in {Relation.LEFT_OF, Relation.ROW}:
        return bool(np.all(dx > np.maximum(np.abs(dy), _LEAST_STEP)))
    if relation is Relation.RIGHT_OF:
        return bool(np.all(-dx > np.maximum(np.abs(dy), _LEAST_STEP)))
    if relation is Relation.ABOVE:
        return bool(np.all(dy > np.maximum(np.abs(dx), _LEAST_STEP)))
    return bool(np.all(-dy > np.maximum(np.abs(dx), _LEAST_STEP)))


def _nearest(colour: NDArray[np.float32], palette: dict[Name, tuple[int, int, int]]) -> Name | None:
    """The name of the nearest palette entry, or None when even that is too far."""
    names = list(palette)
    distances = np.linalg.norm(np.asarray([palette[name] for name in names], np.float32) - colour, axis=-1)
    best = int(distances.argmin())
    return names[best] if distances[best] < _SAME_COLOUR else None


def _measure(pixels: NDArray[np.float32], region: NDArray[np.bool_], ground: NDArray[np.float32]) -> Found:
    """Measure one region of float32 [64, 64, 3] given its bool mask [64, 64] and the background colour [3]."""
    depth = ndimage.distance_transform_cdt(region, "chessboard")
    inside = depth >= max(1, min(2, int(depth.max())))
    paint = np.median(pixels[inside], axis=0)
    axis = paint - ground
    alpha = np.clip((pixels - ground) @ axis / float(axis @ axis), 0.0, 1.0)
    alpha *= ndimage.binary_dilation(region, iterations=1)
    area = float(alpha.sum())
    rows, columns = np.arange(SIDE) + 0.5, np.arange(SIDE) + 0.5
    x, y = float(alpha.sum(0) @ columns) / area, float(alpha.sum(1) @ rows) / area
    best, score, radius = None, _SAME_SHAPE, np.sqrt(area / 2.5)
    for shape in Shape:
        placed = _fit(shape, x, y, area)
        drawn = coverage(shape, placed)
        overlap = float(np.minimum(alpha, drawn).sum() / np.maximum(alpha, drawn).sum())
        if overlap > score:
            best, score, radius = shape, overlap, placed.radius
    return Found(x, y, radius, _nearest(paint, PAINT), best)


def _fit(shape: Shape, x: float, y: float, area: float) -> Placed:
    """Place a shape so that its centroid and area are the measured ones."""
    unit = _UNITS[shape]
    radius = float(np.sqrt(area / unit.radius))
    return Placed(x - unit.x * radius, y - unit.y * radius, radius)


def _unit(shape: Shape) -> Placed:
    """The centroid of a shape of radius one, and its area in the place of the radius."""
    radius = 24.0
    drawn = coverage(shape, Placed(SIDE / 2, SIDE / 2, radius))
    area = float(drawn.sum())
    middles = np.arange(SIDE) + 0.5 - SIDE / 2
    return Placed(
        float(drawn.sum(0) @ middles) / area / radius, float(drawn.sum(1) @ middles) / area / radius, area / radius**2
    )


_UNITS: Final[dict[Shape, Placed]] = {shape: _unit(shape) for shape in Shape}
