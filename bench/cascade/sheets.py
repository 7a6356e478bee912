"""Contact sheets of the four things that can happen to a picture: right, wrong, rescued, wasted."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from bench.cascade.reporting import Measured
from bench.cascade.seeing import Seen
from gateway.local.contact_strip import wrapped
from shapes.oracle import Reading

CASES = {
    "right": "light kept, and all of it is right",
    "wrong": "light kept, and something in it is wrong",
    "rescued": "climbed: the light picture was wrong, the heavy one is right",
    "wasted": "climbed for nothing: the light picture was right, or the heavy one is wrong too",
}

_MOST = 20
_COLUMNS = 4
_SIDE = 128
_GAP = 10
_TEXT = 84
_HEAD = 44
_WIDTH = 2 * _SIDE + 3 * _GAP
_HEIGHT = _SIDE + 2 * _GAP + _TEXT
_LETTERS = 44
_LINES = 3
_INK, _FAINT, _EDGE, _PAPER = (24, 24, 27), (113, 113, 122), (212, 212, 216), (255, 255, 255)
_GOOD, _BAD = (22, 163, 74), (220, 38, 38)


def draw_sheets(measured: Measured, folder: Path) -> None:
    """Write `right.png`, `wrong.png`, `rescued.png` and `wasted.png`, up to 20 prompts each, evenly chosen.

    Raises:
        OSError: the folder can't be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for case, meaning in CASES.items():
        members = [seen for seen in measured.seen if case_of(seen, measured.threshold) == case]
        title = f"{case}: {len(members)} of {len(measured.seen)} prompts ({meaning})"
        _sheet(title, spread(members), measured.threshold).save(folder / f"{case}.png", optimize=True)


def case_of(seen: Seen, threshold: float) -> str:
    """Which of `CASES` happened."""
    if seen.drawn.score >= threshold:
        return "right" if seen.light.all_right else "wrong"
    return "rescued" if seen.heavy.all_right and not seen.light.all_right else "wasted"


def spread(members: Sequence[Seen], most: int = _MOST) -> list[Seen]:
    """At most so many, evenly spaced: nobody picks."""
    if len(members) <= most:
        return list(members)
    return [members[int(place)] for place in np.linspace(0, len(members) - 1, most)]


def _sheet(title: str, members: Sequence[Seen], threshold: float) -> Image.Image:
    rows = max(1, -(-len(members) // _COLUMNS))
    sheet = Image.new("RGB", (_COLUMNS * _WIDTH, _HEAD + rows * _HEIGHT), _PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, _GAP), title, fill=_INK, font=ImageFont.load_default(20))
    for number, seen in enumerate(members):
        row, column = divmod(number, _COLUMNS)
        _cell(sheet, draw, (column * _WIDTH, _HEAD + row * _HEIGHT), seen, threshold)
    return sheet


def _cell(sheet: Image.Image, draw: ImageDraw.ImageDraw, corner: tuple[int, int], seen: Seen, threshold: float) -> None:
    """Light and heavy side by side, the delivered one framed; what is wrong in each; score; prompt."""
    left, top = corner
    climbed = seen.drawn.score < threshold
    small = ImageFont.load_default(11)
    tiers = ((seen.drawn.light, seen.light, "light"), (seen.drawn.heavy, seen.heavy, "heavy"))
    for place, (content, reading, name) in enumerate(tiers):
        x, y = left + _GAP + place * (_SIDE + _GAP), top + _GAP
        with Image.open(io.BytesIO(content)) as picture:
            sheet.paste(picture.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.LANCZOS), (x, y))
        draw.rectangle((x - 1, y - 1, x + _SIDE, y + _SIDE), outline=_EDGE)
        colour = _GOOD if reading.all_right else _BAD
        if climbed is (place == 1):
            draw.rectangle((x - 3, y - 3, x + _SIDE + 2, y + _SIDE + 2), outline=colour, width=3)
        draw.text((x, y + _SIDE + 5), f"{name}: {_verdict(reading)}", fill=colour, font=small)
    y = top + _GAP + _SIDE + 21
    sign = "<" if climbed else ">="
    draw.text((left + _GAP, y), f"score {seen.drawn.score:.3f} {sign} {threshold:.3f}", fill=_FAINT, font=small)
    for line, words in enumerate(wrapped(seen.prompt.text, _LETTERS)[:_LINES]):
        draw.text((left + _GAP, y + 17 + 14 * line), words, fill=_INK, font=ImageFont.load_default(12))


def _verdict(reading: Reading) -> str:
    """`right`, or the wrong attributes, two at most by name."""
    wrong = [name for name, right in reading.applicable.items() if not right]
    if not wrong:
        return "right"
    return ", ".join(wrong) if len(wrong) <= 2 else f"{wrong[0]} and {len(wrong) - 1} more"  # noqa: PLR2004
