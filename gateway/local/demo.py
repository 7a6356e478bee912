"""`maquette up --demo`: real generations through the cascade, and what happened to them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gateway.local.client import Client, RefusedError
from gateway.local.contact_strip import Panel, draw_strip

PROMPTS: Sequence[str] = (
    "a large red circle on a white background",
    "a small blue star on a beige background",
    "a green heart on a navy background",
    "a yellow square above a purple circle on a grey background",
    "two pink triangles on a black background",
    "a red cross left of a cyan heart on a white background",
    "a small orange star below a large blue square on a beige background",
    "a red circle, a yellow star and a green heart in a row on a navy background",
    "three purple crosses on a white background",
    "a cyan triangle, a pink square and an orange circle in a row on a black background",
)
"""From easy to hard."""


async def run_demo(client: Client, console: Console, folder: Path) -> bool:
    """Draw every prompt through the cascade, one of them twice; print a table and save a strip.

    Returns whether everything went as it should: each prompt answered, the repeat free and equal.
    """
    seed = secrets.randbelow(1_000_000)  # so that each demo draws anew
    try:
        answers = [
            await client.generate(prompt=prompt, seed=seed)
            for prompt in track(PROMPTS, "Drawing", console=console, transient=True)
        ]
        again = await client.generate(prompt=PROMPTS[0], seed=seed)
        path = folder / "demo.png"
        path.write_bytes(draw_strip(await panels(client, answers, PROMPTS, seed)))
    except RefusedError as error:
        console.print(f"[bold red]The demo failed:[/] {error}")
        return False
    console.print(_table(answers, seed))
    free: bool = again["maquette"]["gpu_ms"]["charged"] == 0 and again["data"] == answers[0]["data"]
    console.print(
        "The first prompt again, same seed: same bytes, from the cache, 0 GPU-ms."
        if free
        else "[bold red]The first prompt again was not served from the cache.[/]"
    )
    console.print(f"Light, heavy and chosen side by side: [bold]{path}[/]")
    return free


async def panels(client: Client, answers: Sequence[dict[str, Any]], prompts: Sequence[str], seed: int) -> list[Panel]:
    """A panel for each answer; the heavy picture of a kept light one is drawn for comparison."""
    return [await _panel(client, answer, prompt, seed) for prompt, answer in zip(prompts, answers, strict=True)]


async def _panel(client: Client, answer: dict[str, Any], prompt: str, seed: int) -> Panel:
    attempts = answer["maquette"]["pictures"][0]["attempts"]
    light, climbed = attempts[0], len(attempts) > 1
    if climbed:
        heavy = attempts[1]["url"]
    else:
        final = await client.generate(prompt=prompt, seed=seed, quality="final", response_format="url")
        heavy = final["data"][0]["url"]
    return Panel(
        prompt=prompt,
        light=await client.content(light["url"]),
        heavy=await client.content(heavy),
        score=light["score"],
        threshold=light["threshold"],
        climbed=climbed,
    )


def _table(answers: Sequence[dict[str, Any]], seed: int) -> Table:
    table = Table(title=f"What the cascade did, seed {seed}", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("prompt", ratio=1)
    table.add_column("score", no_wrap=True)
    table.add_column("delivered", no_wrap=True)
    table.add_column("GPU-ms\nheld → charged", justify="right", no_wrap=True)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        trace = answer["maquette"]
        attempts = trace["pictures"][0]["attempts"]
        first, gpu_ms = attempts[0], trace["gpu_ms"]
        climbs = first["verdict"] == "escalate"
        colour, sign = ("yellow", "<") if climbs else ("green", "≥")
        table.add_row(
            prompt,
            f"[{colour}]{first['score']:.2f} {sign} {first['threshold']:.2f}[/]",
            attempts[-1]["variant"],
            f"{gpu_ms['held']} → {gpu_ms['charged']}",
        )
    return table
