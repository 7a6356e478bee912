"""Drawing each prompt on the light route and on the heavy one, through a running gateway."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gateway.local.client import RefusedError

SEEDS = 2**31


class Draws(Protocol):
    """What is needed of the gateway's client."""

    async def generate(self, **fields: Any) -> dict[str, Any]:
        """Draw pictures; the answer is OpenAI's with the gateway's own under `maquette`."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and the line of the file it stands in."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to draw for each prompt.

    Attributes:
        model: its name, or `None` for the default.
        size: `WIDTHxHEIGHT`, or `None`.
        heavy: how many heavy pictures, 1..10.
        seed: chooses the seeds; the same one draws the same pictures.
    """

    model: str | None
    size: str | None
    heavy: int
    seed: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """PNG bytes of one light picture and of the heavy ones."""

    prompt: str
    light: bytes
    heavy: tuple[bytes, ...]


def read_prompts(path: Path) -> list[Prompt]:
    """The prompts of a text file, one a line; empty lines and repetitions are left out."""
    lines = enumerate((line.strip() for line in path.read_text("utf-8").splitlines()), 1)
    first = {text: number for number, text in reversed(list(lines)) if text}
    return [Prompt(number, text) for text, number in sorted(first.items(), key=lambda item: item[1])]


async def collect(
    client: Draws,
    prompts: Sequence[Prompt],
    wanted: Wanted,
    keep: Callable[[Drawn], None],
    on_step: Callable[..., None],
) -> None:
    """Draw prompts one after another and hand each to `keep`.

    Raises:
        RefusedError: the gateway refused or did not finish one; the message names its line.
    """
    for done, prompt in enumerate(prompts, 1):
        try:
            keep(await _draw(client, prompt.text, wanted))
        except RefusedError as error:
            raise RefusedError(
                f"Line {prompt.number} of the prompts: {error} What was drawn before it is kept; run again to go on."
            ) from error
        on_step(done, len(prompts))


def file_names(prompt: str, heavy: int) -> tuple[str, tuple[str, ...]]:
    """Relative paths of the light picture and of the heavy ones; those of one prompt are always the same."""
    stem = hashlib.sha256(prompt.encode()).hexdigest()[:16]
    return f"pictures/{stem}-light.png", tuple(f"pictures/{stem}-heavy-{number}.png" for number in range(heavy))


async def _draw(client: Draws, prompt: str, wanted: Wanted) -> Drawn:
    """Both routes at once, with seeds that depend on the prompt; a light picture and heavy ones share none."""
    seed = int.from_bytes(hashlib.sha256(f"{wanted.seed} {prompt}".encode()).digest()[:8], "big") % SEEDS
    shared = {"prompt": prompt, "model": wanted.model, "size": wanted.size}
    light, heavy = await asyncio.gather(
        client.generate(**shared, quality="preview", seed=seed),
        client.generate(**shared, quality="final", seed=seed + 1, n=wanted.heavy),
    )
    (one,), several = _pictures(light, 1), _pictures(heavy, wanted.heavy)
    return Drawn(prompt, one, several)


def _pictures(answer: dict[str, Any], count: int) -> tuple[bytes, ...]:
    """The PNG bytes of an answer.

    Raises:
        RefusedError: some were not drawn.
    """
    drawn = tuple(base64.b64decode(datum["b64_json"]) for datum in answer["data"])
    if len(drawn) != count:
        raise RefusedError(f"only {len(drawn)} of {count} pictures were drawn.")
    return drawn
