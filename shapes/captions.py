"""Scenes ⇄ captions: a small grammar, written in several ways and read back strictly.

    caption    = ["a picture of" | "a drawing of"] things [("on" | "against" | "with") "a" GROUND "background"]
    things     = one | many | one RELATION one | one "," one "and" one ["in a row"]
    one        = ("a" | "an" | "one") [SIZE] [FILL] COLOUR SHAPE
    many       = ("two" | "three") [SIZE] [FILL] COLOUR SHAPES

`parse(caption(scene)) == scene` for every scene. At most `vocabulary.MAX_WORDS` words, commas counted.
"""

import difflib
from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from shapes.scenes import ImpossibleSceneError, Scene, Thing
from shapes.vocabulary import (
    ARTICLES,
    BACKGROUND_WORDS,
    COLOUR_WORDS,
    FILL_WORDS,
    MAX_WORDS,
    NUMBERS,
    PLURALS,
    RELATION_PHRASES,
    SHAPE_WORDS,
    SIZE_WORDS,
    WORDS,
    Background,
    Relation,
    Shape,
)

Meaning = TypeVar("Meaning")

_OPENERS = ("a picture of", "a drawing of")
_GROUNDS = ("on", "against", "with")
_ROW = "in a row"


class CaptionError(ValueError):
    """The words do not name a scene of this world."""


class UnknownWordError(CaptionError):
    """A word is not in the vocabulary."""

    def __init__(self, word: str) -> None:
        near = difflib.get_close_matches(word, WORDS, n=1)
        hint = f"; did you mean “{near[0]}”?" if near else ""
        super().__init__(f"unknown word “{word}”{hint}")
        self.word = word


class GrammarError(CaptionError):
    """The words are known but do not make a caption."""


def caption(scene: Scene, rng: np.random.Generator | None = None) -> str:
    """Write `scene` in words.

    Args:
        scene: What to say.
        rng: Chooses among the ways to say it; None gives the plain one.
    """
    things = _say_things(scene, rng)
    opener = f"{_choose(_OPENERS, rng)} " if rng is not None and scene.relation is None and rng.random() < 0.25 else ""  # noqa: PLR2004
    if scene.background is None:
        return opener + things
    where = _GROUNDS[0] if rng is None or rng.random() < 0.6 else _choose(_GROUNDS[1:], rng)  # noqa: PLR2004
    return f"{opener}{things} {where} a {_word(BACKGROUND_WORDS, scene.background, rng)} background"


def parse(text: str) -> Scene:
    """Read a caption back; letter case and a final full stop do not matter.

    Raises:
        UnknownWordError: A word is not in the vocabulary.
        GrammarError: The words do not follow the grammar, are too many, or name an impossible scene.
    """
    words = split(text)
    for word in words:
        if word not in WORDS:
            raise UnknownWordError(word)
    if not 1 <= len(words) <= MAX_WORDS:
        msg = f"a caption has 1 to {MAX_WORDS} words, this one has {len(words)}"
        raise GrammarError(msg)
    reader = _Reader(words)
    if not any(reader.take(opener) for opener in _OPENERS):
        reader.rewind()
    things, relation = _read_things(reader)
    background = _read_ground(reader)
    reader.finish()
    try:
        return Scene(things, relation, background)
    except ImpossibleSceneError as error:
        raise GrammarError(str(error)) from error


def split(text: str) -> list[str]:
    """Return the words of a caption in lower case, commas as words of their own."""
    return text.lower().strip().removesuffix(".").replace(",", " , ").split()


def _choose(ways: list[str] | tuple[str, ...], rng: np.random.Generator | None) -> str:
    return ways[0] if rng is None else ways[int(rng.integers(len(ways)))]


def _say_things(scene: Scene, rng: np.random.Generator | None) -> str:
    count = len(scene.things)
    if scene.relation is None and count > 1:
        number = next(word for word, value in NUMBERS.items() if value == count)
        return f"{number} {_describe(scene.things[0], rng)} {_word(PLURALS, scene.things[0].shape, rng)}"
    said = [_say_one(thing, rng) for thing in scene.things]
    if scene.relation is None:
        return said[0]
    if scene.relation is Relation.ROW:
        tail = f" {_ROW}" if rng is not None and rng.random() < 0.4 else ""  # noqa: PLR2004
        return f"{said[0]}, {said[1]} and {said[2]}{tail}"
    return f"{said[0]} {_word(RELATION_PHRASES, scene.relation, rng)} {said[1]}"


def _say_one(thing: Thing, rng: np.random.Generator | None) -> str:
    described = _describe(thing, rng)
    article = "an" if described[0] in "aeiou" else "a"
    if rng is not None and rng.random() < 0.05:  # noqa: PLR2004
        article = "one"
    return f"{article} {described} {_word(SHAPE_WORDS, thing.shape, rng)}"


def _describe(thing: Thing, rng: np.random.Generator | None) -> str:
    said = [_word(SIZE_WORDS, thing.size, rng)] if thing.size else []
    said += [_word(FILL_WORDS, thing.fill, rng)] if thing.fill else []
    return " ".join([*said, _word(COLOUR_WORDS, thing.colour, rng)])


def _word(words: Mapping[str, Meaning], meant: Meaning, rng: np.random.Generator | None) -> str:
    """Choose among the words for one meaning."""
    return _choose([word for word, meaning in words.items() if meaning is meant], rng)


class _Reader:
    """A cursor over words."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._at = 0

    def take(self, phrase: str) -> bool:
        """Move past `phrase` if it comes next."""
        wanted = phrase.split()
        found = self._words[self._at : self._at + len(wanted)] == wanted
        self._at += len(wanted) if found else 0
        return found

    def one_of(self, words: tuple[str, ...], what: str) -> str:
        """Move past one word of `words` and return it, or say what was expected instead."""
        found = self.maybe(words)
        if found is None:
            raise GrammarError(self._complaint(what))
        return found

    def maybe(self, words: tuple[str, ...]) -> str | None:
        """Move past one word of `words` and return it, or None."""
        if self._at < len(self._words) and self._words[self._at] in words:
            self._at += 1
            return self._words[self._at - 1]
        return None

    def rewind(self) -> None:
        """Start again."""
        self._at = 0

    def finish(self) -> None:
        """Raise `GrammarError` if words are left."""
        if self._at < len(self._words):
            raise GrammarError(self._complaint("the end"))

    def _complaint(self, what: str) -> str:
        found = f"“{self._words[self._at]}”" if self._at < len(self._words) else "the end"
        after = f" after “{' '.join(self._words[: self._at])}”" if self._at else ""
        return f"expected {what}{after}, found {found}"


def _read_things(reader: _Reader) -> tuple[tuple[Thing, ...], Relation | None]:
    number = reader.maybe(tuple(NUMBERS))
    if number is not None:
        return (_read_thing(reader, PLURALS, "shapes in the plural"),) * NUMBERS[number], None
    first = _read_one(reader)
    if reader.take(","):
        second = _read_one(reader)
        reader.one_of(("and",), "“and”")
        third = _read_one(reader)
        reader.take(_ROW)
        return (first, second, third), Relation.ROW
    for phrase, relation in RELATION_PHRASES.items():
        if reader.take(phrase):
            return (first, _read_one(reader)), relation
    return (first,), None


def _read_one(reader: _Reader) -> Thing:
    reader.one_of(ARTICLES, "“a”")
    return _read_thing(reader, SHAPE_WORDS, "a shape")


def _read_thing(reader: _Reader, nouns: Mapping[str, Shape], expected: str) -> Thing:
    size = reader.maybe(tuple(SIZE_WORDS))
    fill = reader.maybe(tuple(FILL_WORDS))
    colour = reader.one_of(tuple(COLOUR_WORDS), "a colour")
    noun = reader.one_of(tuple(nouns), expected)
    return Thing(
        nouns[noun], COLOUR_WORDS[colour], SIZE_WORDS[size] if size else None, FILL_WORDS[fill] if fill else None
    )


def _read_ground(reader: _Reader) -> Background | None:
    if reader.maybe(_GROUNDS) is None:
        return None
    reader.one_of(("a",), "“a”")
    ground = reader.one_of(tuple(BACKGROUND_WORDS), "a background colour")
    reader.one_of(("background",), "“background”")
    return BACKGROUND_WORDS[ground]
