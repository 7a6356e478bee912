"""The words of the tiny world and what they look like.

Colours are sRGB triples in 0..255. The module knows no grammar (`shapes.captions`) and no geometry (`shapes.render`).
"""

from enum import StrEnum
from typing import Final

RGB = tuple[int, int, int]


class Shape(StrEnum):
    """What a thing is; the value is its singular noun."""

    CIRCLE = "circle"
    SQUARE = "square"
    TRIANGLE = "triangle"
    STAR = "star"
    HEART = "heart"
    CROSS = "cross"


class Colour(StrEnum):
    """What a thing is painted with."""

    RED = "red"
    ORANGE = "orange"
    YELLOW = "yellow"
    GREEN = "green"
    CYAN = "cyan"
    BLUE = "blue"
    PURPLE = "purple"
    PINK = "pink"


class Size(StrEnum):
    """How large a thing is, compared with the other size at the same count."""

    SMALL = "small"
    LARGE = "large"


class Fill(StrEnum):
    """What is drawn on a thing in ink; a thing whose caption names none is plain."""

    STRIPED = "striped"
    DOTTED = "dotted"
    OUTLINED = "outlined"


class Background(StrEnum):
    """What the picture is painted on."""

    WHITE = "white"
    GREY = "grey"
    BLACK = "black"
    BEIGE = "beige"
    NAVY = "navy"


class Relation(StrEnum):
    """How the first thing lies to the second; `ROW` orders three things from left to right."""

    LEFT_OF = "left of"
    RIGHT_OF = "right of"
    ABOVE = "above"
    BELOW = "below"
    ROW = "in a row"


PAINT: Final[dict[Colour, RGB]] = {
    Colour.RED: (222, 44, 50),
    Colour.ORANGE: (246, 134, 28),
    Colour.YELLOW: (252, 211, 44),
    Colour.GREEN: (48, 158, 74),
    Colour.CYAN: (64, 200, 216),
    Colour.BLUE: (44, 98, 218),
    Colour.PURPLE: (128, 60, 180),
    Colour.PINK: (248, 128, 186),
}

CANVAS: Final[dict[Background, RGB]] = {
    Background.WHITE: (250, 250, 250),
    Background.GREY: (142, 146, 152),
    Background.BLACK: (20, 20, 24),
    Background.BEIGE: (234, 216, 184),
    Background.NAVY: (26, 36, 82),
}

DARK_INK: Final[RGB] = (16, 16, 20)
LIGHT_INK: Final[RGB] = (252, 252, 252)
INK: Final[dict[Background, RGB]] = {
    Background.WHITE: DARK_INK,
    Background.GREY: DARK_INK,
    Background.BLACK: LIGHT_INK,
    Background.BEIGE: DARK_INK,
    Background.NAVY: LIGHT_INK,
}
"""What stripes, dots and outlines are drawn in: whichever ink stands out from the background."""

SHAPE_WORDS: Final[dict[str, Shape]] = {**{shape.value: shape for shape in Shape}, "disc": Shape.CIRCLE}
PLURALS: Final[dict[str, Shape]] = {
    "circles": Shape.CIRCLE,
    "squares": Shape.SQUARE,
    "triangles": Shape.TRIANGLE,
    "stars": Shape.STAR,
    "hearts": Shape.HEART,
    "crosses": Shape.CROSS,
    "discs": Shape.CIRCLE,
}

NUMBERS: Final[dict[str, int]] = {"two": 2, "three": 3}
ARTICLES: Final[tuple[str, ...]] = ("a", "an", "one")

SIZE_WORDS: Final[dict[str, Size]] = {
    "small": Size.SMALL,
    "little": Size.SMALL,
    "large": Size.LARGE,
    "big": Size.LARGE,
}
COLOUR_WORDS: Final[dict[str, Colour]] = {
    **{colour.value: colour for colour in Colour},
    "violet": Colour.PURPLE,
    "turquoise": Colour.CYAN,
}
FILL_WORDS: Final[dict[str, Fill]] = {**{fill.value: fill for fill in Fill}, "spotted": Fill.DOTTED}
BACKGROUND_WORDS: Final[dict[str, Background]] = {**{b.value: b for b in Background}, "gray": Background.GREY}
RELATION_PHRASES: Final[dict[str, Relation]] = {
    "to the left of": Relation.LEFT_OF,
    "left of": Relation.LEFT_OF,
    "to the right of": Relation.RIGHT_OF,
    "right of": Relation.RIGHT_OF,
    "above": Relation.ABOVE,
    "over": Relation.ABOVE,
    "below": Relation.BELOW,
    "under": Relation.BELOW,
}

_GLUE: Final[tuple[str, ...]] = ("and", ",", "on", "against", "with", "background", "in", "row", "picture", "drawing")

MAX_WORDS: Final = 18
"""The longest caption, commas counted as words; the text encoders hold two more tokens."""


def _all_words() -> tuple[str, ...]:
    """Return every word a caption may hold, sorted, each once."""
    words = {*ARTICLES, *NUMBERS, *SIZE_WORDS, *FILL_WORDS, *COLOUR_WORDS, *SHAPE_WORDS, *PLURALS, *BACKGROUND_WORDS}
    words |= set(_GLUE)
    for phrase in RELATION_PHRASES:
        words |= set(phrase.split())
    return tuple(sorted(words))


WORDS: Final[tuple[str, ...]] = _all_words()
