"""A strip of pictures for people: for each prompt the light picture, the heavy one, and what the cascade chose."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

_SIDE = 128
_GAP = 12
_TEXT = 54
_INK, _PAPER = (24, 24, 27), (255, 255, 255)
_ACCEPT, _CLIMB = (22, 163, 74), (234, 88, 12)


@dataclass(frozen=True, slots=True)
class Panel:
    """One prompt's story.

    Attributes:
        light: PNG bytes of what the light model drew.
        heavy: PNG bytes of what the heavy model draws with the same seed.
        climbed: whether the cascade delivered the heavy one.
    """

    prompt: str
    light: bytes
    heavy: bytes
    score: float
    threshold: float
    climbed: bool


def draw_strip(panels: Sequence[Panel], columns: int = 5) -> bytes:
    """PNG bytes of the panels in rows of `columns`; the chosen picture of each has a frame."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    width, height = 2 * _SIDE + 3 * _GAP, _SIDE + 2 * _GAP + _TEXT
    sheet = Image.new("RGB", (columns * width, rows * height), _PAPER)
    for number, panel in enumerate(panels):
        _draw_panel(sheet, panel, (number % columns) * width, (number // columns) * height)
    out = io.BytesIO()
    sheet.save(out, "PNG", optimize=True)
    return out.getvalue()


def _draw_panel(sheet: Image.Image, panel: Panel, left: int, top: int) -> None:
    draw = ImageDraw.Draw(sheet)
    font, small = ImageFont.load_default(13), ImageFont.load_default(11)
    colour = _CLIMB if panel.climbed else _ACCEPT
    for place, content in enumerate((panel.light, panel.heavy)):
        x, y = left + _GAP + place * (_SIDE + _GAP), top + _GAP
        with Image.open(io.BytesIO(content)) as picture:
            sheet.paste(picture.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.LANCZOS), (x, y))
        if (place == 1) is panel.climbed:
            draw.rectangle((x - 3, y - 3, x + _SIDE + 2, y + _SIDE + 2), outline=colour, width=3)
    y = top + _GAP + _SIDE + 6
    sign = "<" if panel.climbed else ">="
    verdict = (
        f"score {panel.score:.2f} {sign} {panel.threshold:.2f}: {'climbed to heavy' if panel.climbed else 'light kept'}"
    )
    draw.text((left + _GAP, y), verdict, fill=colour, font=font)
    for line, words in enumerate(wrapped(panel.prompt, 44)[:2]):
        draw.text((left + _GAP, y + 17 + 13 * line), words, fill=_INK, font=small)


def wrapped(text: str, width: int) -> list[str]:
    """Break `text` between words into lines of at most `width` characters; a longer word has its own."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
