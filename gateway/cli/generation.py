"""`generate` and `strip`: commands that ask a running gateway for pictures."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.console import AsJson, console, fail, print_json, show

Url = Annotated[str | None, typer.Option(help="The gateway; by default the one of this machine.")]
Key = Annotated[str | None, typer.Option(envvar="MAQUETTE_API_KEY", help="API key; by default the demo tenant's.")]


def generate(
    prompt: Annotated[str, typer.Argument(help="What to draw.")],
    model: Annotated[str | None, typer.Option(help="A model's name.")] = None,
    quality: Annotated[str | None, typer.Option(help="preview, auto or final.")] = None,
    size: Annotated[str | None, typer.Option(help="WIDTHxHEIGHT.")] = None,
    n: Annotated[int, typer.Option(help="How many pictures.")] = 1,
    seed: Annotated[int | None, typer.Option(help="Same seed, same picture.")] = None,
    steps: Annotated[int | None, typer.Option(help="Denoising steps, for a model of one variant.")] = None,
    picture_format: Annotated[str, typer.Option("--format", help="png, jpeg or webp.")] = "png",
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path(),
    url: Url = None,
    key: Key = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Draw pictures and save them."""
    fields = {
        "prompt": prompt, "model": model, "quality": quality, "size": size, "n": n, "seed": seed,
        "num_inference_steps": steps, "output_format": picture_format,
    }  # fmt: skip
    answer = ask(url, key, lambda client: client.generate(**fields))
    trace = answer["maquette"]
    drawn = [picture for picture in trace["pictures"] if picture["status"] == "done"]
    rows = [_save(out, picture_format, picture, datum) for picture, datum in zip(drawn, answer["data"], strict=True)]
    if as_json:
        print_json({"gpu_ms": trace["gpu_ms"], "pictures": rows})
    else:
        show(
            rows, title=f"{trace['gpu_ms']['charged']} GPU-ms charged of {trace['gpu_ms']['held']} held", as_json=False
        )


def strip(
    out: Annotated[Path, typer.Argument(help="The PNG file to write.")],
    seed: Annotated[int, typer.Option(help="Of every picture.")] = 7,
    url: Url = None,
    key: Key = None,
) -> None:
    """Draw the demo's ten prompts and save a strip: light, heavy, chosen, score, verdict."""
    from gateway.local.contact_strip import draw_strip
    from gateway.local.demo import PROMPTS, panels

    async def draw(client: Any) -> bytes:
        answers = [await client.generate(prompt=prompt, seed=seed) for prompt in PROMPTS]
        return draw_strip(await panels(client, answers, PROMPTS, seed))

    out.write_bytes(ask(url, key, draw))
    console.print(f"Saved {out}")


def _save(folder: Path, picture_format: str, picture: dict[str, Any], datum: dict[str, Any]) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"maquette-{picture['seed']}.{picture_format}"
    path.write_bytes(base64.b64decode(datum["b64_json"]))
    last = picture["attempts"][-1]
    scores = [attempt["score"] for attempt in picture["attempts"] if attempt["score"] is not None]
    return {
        "file": str(path),
        "seed": picture["seed"],
        "score": scores[0] if scores else None,
        "route": " → ".join(attempt["variant"] for attempt in picture["attempts"]),
        "cached": last["cached"],
        "gpu_ms": sum(attempt["gpu_ms"] for attempt in picture["attempts"]),
    }


def ask(url: str | None, key: str | None, action: Callable[[Any], Awaitable[Any]]) -> Any:
    """What `action` answers with a client of the gateway; by default of the one started here, with its demo key."""
    from gateway.local.bootstrap import demo_key_file
    from gateway.local.client import Client
    from gateway.settings import Settings

    settings = Settings()
    path = demo_key_file(settings.data_dir)
    if key is None and not path.is_file():
        fail("no key: give --key, set MAQUETTE_API_KEY, or start `maquette up` here first")

    async def act() -> Any:
        address = url or f"http://{settings.host}:{settings.port}"
        async with Client(address, key or path.read_text().strip()) as client:
            return await action(client)

    return asyncio.run(act())
