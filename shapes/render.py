"""Scenes to pixels: flat, anti-aliased shapes on a plain canvas.

Each shape is a signed distance field over the square [-1.5, 1.5]², computed once; drawing samples it at the pixel
centres and paints `clip(0.5 - distance, 0, 1)`, so edges are smooth at any size and position.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

from shapes.scenes import Scene
from shapes.vocabulary import CANVAS, INK, PAINT, Background, Fill, Relation, Shape, Size

SIDE: Final = 64
"""Height and width of a picture in pixels."""

RADII: Final[dict[int, dict[Size, tuple[float, float]]]] = {
    1: {Size.SMALL: (9.0, 11.0), Size.LARGE: (15.0, 18.0)},
    2: {Size.SMALL: (8.0, 9.3), Size.LARGE: (12.0, 13.5)},
    3: {Size.SMALL: (7.7, 8.5), Size.LARGE: (7.7, 8.5)},
}
"""Half the side of a thing's bounding square in pixels, lowest and highest, by the number of things and by size."""

_MARGIN = 2.5
_GAP = 2.8
_REACH = 1.5
_GRID = 241
_SUPERSAMPLE = 4
_STRIPE = 0.7
_DOT = 0.34
_LINE = 0.16
_THINNEST_LINE = 1.8


@dataclass(frozen=True, slots=True)
class Placed:
    """Where one thing lies: centre (x right, y down) and radius in pixels."""

    x: float
    y: float
    radius: float


def render(scene: Scene, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Draw `scene`; what it leaves open (positions, unnamed sizes, unnamed background) comes from `rng`.

    Returns:
        uint8 [64, 64, 3], sRGB.
    """
    background = scene.background or tuple(Background)[int(rng.integers(len(Background)))]
    return paint(scene, place(scene, rng), background)


def paint(scene: Scene, places: list[Placed], background: Background) -> NDArray[np.uint8]:
    """Draw the things of `scene` at given places. Returns uint8 [64, 64, 3]."""
    picture = np.empty((SIDE, SIDE, 3), np.float32)
    picture[:] = CANVAS[background]
    for thing, placed in zip(scene.things, places, strict=True):
        colour = np.empty_like(picture)
        colour[:] = PAINT[thing.colour]
        if thing.fill is not None:
            ink = np.asarray(INK[background], np.float32)
            colour += inked(thing.fill, thing.shape, placed)[..., None] * (ink - colour)
        picture += coverage(thing.shape, placed)[..., None] * (colour - picture)
    return (picture + 0.5).astype(np.uint8)


def coverage(shape: Shape, placed: Placed) -> NDArray[np.float32]:
    """How much of each pixel a shape covers. Returns float32 [64, 64] in 0..1."""
    alpha = np.zeros((SIDE, SIDE), np.float32)
    window = _window(placed)
    alpha[window.rows, window.columns] = np.clip(0.5 - _distance(shape, placed, window), 0.0, 1.0)
    return alpha


def inked(fill: Fill, shape: Shape, placed: Placed) -> NDArray[np.float32]:
    """How much of each pixel a fill's ink covers; only what lies within the shape matters. Float32 [64, 64] in 0..1."""
    ink = np.zeros((SIDE, SIDE), np.float32)
    window = _window(placed)
    distance = _ink_distance(fill, shape, placed, window)
    ink[window.rows, window.columns] = np.clip(0.5 - distance, 0.0, 1.0)
    return ink


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of the picture that a thing can touch."""

    rows: slice
    columns: slice

    def offsets(self, placed: Placed) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return where the middles of its pixels lie from the thing's centre: [H, 1] downwards, [1, W] to the right."""
        down = np.arange(self.rows.start, self.rows.stop) + 0.5 - placed.y
        right = np.arange(self.columns.start, self.columns.stop) + 0.5 - placed.x
        return down[:, None], right[None, :]


def _window(placed: Placed) -> _Window:
    reach = placed.radius + 2.0
    left, right = max(0, int(placed.x - reach)), min(SIDE, int(placed.x + reach) + 1)
    top, bottom = max(0, int(placed.y - reach)), min(SIDE, int(placed.y + reach) + 1)
    return _Window(slice(min(top, SIDE), max(top, bottom)), slice(min(left, SIDE), max(left, right)))


def _distance(shape: Shape, placed: Placed, window: _Window) -> NDArray[np.float32]:
    """Signed distance of each pixel's middle to the outline, in pixels, negative inside. Float32 [H, W]."""
    scale = (_GRID - 1) / (2 * _REACH)
    down, right = window.offsets(placed)
    grid = np.broadcast_arrays((down / placed.radius + _REACH) * scale, (right / placed.radius + _REACH) * scale)
    field: NDArray[np.float32] = ndimage.map_coordinates(_distance_field(shape), grid, order=1, mode="nearest")
    return field * np.float32(placed.radius)


def _ink_distance(fill: Fill, shape: Shape, placed: Placed, window: _Window) -> NDArray[np.float32]:
    """Signed distance of each pixel's middle to the ink's edge, in pixels, negative within the ink. Float32 [H, W]."""
    down, right = window.offsets(placed)
    if fill is Fill.OUTLINED:
        return -max(_THINNEST_LINE, _LINE * placed.radius) - _distance(shape, placed, window)
    if fill is Fill.DOTTED:
        return (np.hypot(down, right) - _DOT * placed.radius).astype(np.float32)
    period = _STRIPE * placed.radius
    bands = np.abs(down % period - period / 2) - period / 4
    return np.broadcast_to(bands, (bands.shape[0], right.shape[1])).astype(np.float32)


def place(scene: Scene, rng: np.random.Generator) -> list[Placed]:
    """Choose radii and centres such that things keep apart, keep off the border, and keep their relation."""
    count = len(scene.things)
    radii = []
    for thing in scene.things:
        size = thing.size or tuple(Size)[int(rng.integers(2))]
        radii.append(float(rng.uniform(*RADII[count][size])))
    if count == 1:
        return [Placed(*_near_middle(radii[0], rng), radii[0])]
    relation = scene.relation or (Relation.LEFT_OF if count == 2 else Relation.ROW)  # noqa: PLR2004
    if relation in {Relation.RIGHT_OF, Relation.BELOW}:
        return _line_up(radii[::-1], rng, upright=relation is Relation.BELOW)[::-1]
    return _line_up(radii, rng, upright=relation is Relation.ABOVE)


def _near_middle(radius: float, rng: np.random.Generator) -> tuple[float, float]:
    slack = 0.45 * (SIDE / 2 - radius - _MARGIN)
    x, y = SIDE / 2 + rng.uniform(-slack, slack, size=2)
    return float(x), float(y)


def _line_up(radii: list[float], rng: np.random.Generator, *, upright: bool) -> list[Placed]:
    """Spread things along one axis with random gaps, each near the middle of the other axis."""
    free = SIDE - 2 * _MARGIN - 2 * sum(radii) - _GAP * (len(radii) - 1)
    gaps = 0.35 + 0.65 * rng.random(len(radii) + 1)
    gaps *= free / gaps.sum()
    gaps[1:-1] += _GAP
    places, cursor = [], _MARGIN
    for radius, gap in zip(radii, gaps, strict=False):
        along = cursor + gap + radius
        across = SIDE / 2 + float(rng.uniform(-4.0, 4.0))
        places.append(Placed(across, along, radius) if upright else Placed(along, across, radius))
        cursor = along + radius
    return places


@cache
def _distance_field(shape: Shape) -> NDArray[np.float32]:
    """Signed distance to the outline in units of the radius, negative inside. float32 [241, 241]."""
    fine = _GRID * _SUPERSAMPLE
    mask = Image.new("1", (fine, fine))
    scale = fine / (2 * _REACH)
    points = [((x + _REACH) * scale, (y + _REACH) * scale) for x, y in _outline(shape)]
    ImageDraw.Draw(mask).polygon(points, fill=1)
    inside = np.asarray(mask)
    distance = ndimage.distance_transform_edt(~inside) - ndimage.distance_transform_edt(inside)
    coarse: NDArray[np.float32] = ndimage.zoom(distance, _GRID / fine, order=1).astype(np.float32)
    return coarse / np.float32(scale)


def _outline(shape: Shape) -> list[tuple[float, float]]:
    """The polygon of a shape inside [-1, 1]², y down."""
    return _OUTLINES[shape]


def _ring(count: int, radii: tuple[float, ...], dy: float = 0.0) -> list[tuple[float, float]]:
    """A closed polygon whose corners' distances from the middle repeat `radii`, the first corner on top."""
    angles = 2 * np.pi * np.arange(count) / count
    return [
        (float(radii[i % len(radii)] * np.sin(a)), float(dy - radii[i % len(radii)] * np.cos(a)))
        for i, a in enumerate(angles)
    ]


def _heart() -> list[tuple[float, float]]:
    t = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    x = 16 * np.sin(t) ** 3
    y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t))
    return [(float(a / 16), float((b - 2.5) / 16)) for a, b in zip(x, y, strict=True)]


def _cross() -> list[tuple[float, float]]:
    arm, end = 0.36, 0.98
    quarter = [(-arm, -end), (arm, -end), (arm, -arm)]
    points = []
    for _ in range(4):
        points += quarter
        quarter = [(-y, x) for x, y in quarter]
    return points


_OUTLINES: Final[dict[Shape, list[tuple[float, float]]]] = {
    Shape.CIRCLE: _ring(200, (0.92,)),
    Shape.SQUARE: [(-0.84, -0.84), (0.84, -0.84), (0.84, 0.84), (-0.84, 0.84)],
    Shape.TRIANGLE: [(0.0, -0.9), (1.0, 0.83), (-1.0, 0.83)],
    Shape.STAR: _ring(10, (1.05, 0.45), 0.08),
    Shape.HEART: _heart(),
    Shape.CROSS: _cross(),
}
