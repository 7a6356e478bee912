"""The oracle: which parts of a scene does a picture really show?

It measures, it does not learn: the background from the border, things as connected regions that differ from it. A
region is taken apart into paint and ink; the silhouette of both is compared with all six shapes drawn at the same place
and area, then the ink with every fill drawn on the best of them. It knows how true pictures are drawn, so it is exact
on them and strict on everything else.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shapes.render import RADII, SIDE, Placed, coverage, inked
from shapes.scenes import Scene, Thing
from shapes.vocabulary import CANVAS, DARK_INK, INK, PAINT, Background, Colour, Fill, Relation, Shape, Size

Name = TypeVar("Name")

_STANDS_OUT = 38.0
_FAINTEST = 0.22
_NEAR = 5
_SAME_COLOUR = 70.0
_SMALLEST_AREA = 14
_SAME_SHAPE = 0.72
_SAME_FILL = 0.12
_OUTLIERS = 4
_PURE = 0.85
_MOST_REGIONS = 5
_BORDER = 2
_LEAST_STEP = 5.0


@dataclass(frozen=True, slots=True)
class Found:
    """One thing as measured: centre and radius in pixels; `colour` or `shape` is None where nothing fits.

    `fill` is None for a plain thing, and only means something where `readable`: where any fill, or none, fits the ink.
    """

    x: float
    y: float
    radius: float
    colour: Colour | None
    shape: Shape | None
    fill: Fill | None
    readable: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """Which attributes are right; None where the scene does not say."""

    background: bool | None
    count: bool
    colour: bool
    shape: bool
    fill: bool
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
    match = max(_matches(scene, things), key=_rank, default=_NOTHING)
    sized = any(thing.size for thing in scene.things)
    return Reading(
        background=None if scene.background is None else ground is scene.background,
        count=count,
        colour=match.colour,
        shape=match.shape,
        fill=match.fill,
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
    stands_out = contrast > np.maximum(_STANDS_OUT, _FAINTEST * ndimage.maximum_filter(contrast, _NEAR))
    labels, _ = ndimage.label(stands_out)
    areas = np.bincount(labels.ravel())
    areas[0] = 0
    chosen = [int(label) for label in np.argsort(-areas)[:_MOST_REGIONS] if areas[label] >= _SMALLEST_AREA]
    name = _nearest(ground, CANVAS)
    ink = np.asarray(INK[name] if name else DARK_INK, np.float32)
    return name, [_measure(pixels, labels == label, ground, ink) for label in chosen]


@dataclass(frozen=True, slots=True)
class _Match:
    """How well one assignment of found things to wanted things fits."""

    colour: bool
    shape: bool
    fill: bool
    size: bool
    relation: bool


_NOTHING: Final = _Match(colour=False, shape=False, fill=False, size=False, relation=False)


def _rank(match: _Match) -> int:
    return match.colour + match.shape + match.fill + match.size + match.relation


def _matches(scene: Scene, things: list[Found]) -> Iterator[_Match]:
    """Yield the fit of every assignment; none when too few things were found."""
    for chosen in itertools.permutations(things, len(scene.things)):
        pairs = list(zip(scene.things, chosen, strict=True))
        yield _Match(
            colour=all(found.colour is thing.colour for thing, found in pairs),
            shape=all(found.shape is thing.shape for thing, found in pairs),
            fill=all(found.readable and found.fill is thing.fill for thing, found in pairs),
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


def _measure(
    pixels: NDArray[np.float32], region: NDArray[np.bool_], ground: NDArray[np.float32], ink: NDArray[np.float32]
) -> Found:
    """Measure one region of float32 [64, 64, 3] given its bool mask [64, 64] and the background's and the ink's RGB."""
    paint = _paint(pixels[region], ground, ink)
    painted, blotted = _take_apart(pixels - ground, paint - ground, ink - ground)
    silhouette = np.clip(painted + blotted, 0.0, 1.0) * ndimage.binary_dilation(region, iterations=1)
    area = float(silhouette.sum())
    middles = np.arange(SIDE) + 0.5
    x, y = float(silhouette.sum(0) @ middles) / area, float(silhouette.sum(1) @ middles) / area
    fits = {shape: _fit(shape, x, y, area) for shape in Shape}
    overlaps = {shape: _overlap(silhouette, coverage(shape, placed)) for shape, placed in fits.items()}
    best = max(Shape, key=lambda shape: overlaps[shape])
    fill, difference = _fill(np.clip(blotted, 0.0, 1.0), best, fits[best])
    known = overlaps[best] > _SAME_SHAPE
    return Found(
        x=x,
        y=y,
        radius=fits[best].radius if known else float(np.sqrt(area / 2.5)),
        colour=_nearest(paint, PAINT),
        shape=best if known else None,
        fill=fill,
        readable=difference < _SAME_FILL,
    )


def _paint(pixels: NDArray[np.float32], ground: NDArray[np.float32], ink: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the RGB of a region's purest pixels, [N, 3]: those farthest from all mixtures of background and ink."""
    axis = (ink - ground) / np.linalg.norm(ink - ground)
    relative = pixels - ground
    purity = np.linalg.norm(relative - (relative @ axis)[:, None] * axis, axis=-1)
    purest = np.sort(purity)[-min(_OUTLIERS, len(purity))]
    paint: NDArray[np.float32] = np.median(pixels[purity >= _PURE * purest], axis=0).astype(np.float32)
    return paint


def _take_apart(
    pixels: NDArray[np.float32], paint: NDArray[np.float32], ink: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Solve pixels = a · paint + b · ink by least squares, all relative to the background; a and b are [64, 64]."""
    shares = (pixels @ np.linalg.pinv(np.stack([paint, ink]))).astype(np.float32)
    return shares[..., 0], shares[..., 1]


def _overlap(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Intersection over union of two coverages."""
    return float(np.minimum(one, other).sum() / np.maximum(one, other).sum())


def _fill(blotted: NDArray[np.float32], shape: Shape, placed: Placed) -> tuple[Fill | None, float]:
    """Return the fill whose ink is nearest to `blotted` [64, 64], and the mean square they differ by on the shape."""
    drawn = coverage(shape, placed)
    differences: dict[Fill | None, float] = {}
    for fill in (None, *Fill):
        wanted = drawn * inked(fill, shape, placed) if fill else np.zeros_like(drawn)
        differences[fill] = float((drawn * np.square(blotted - wanted)).sum() / drawn.sum())
    nearest = min(differences, key=lambda fill: differences[fill])
    return nearest, differences[nearest]


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
