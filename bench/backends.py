"""CPU milliseconds per picture of both engines, and the duration profiles that the catalogue quotes.

    python -m bench.backends [--rounds 5] [--json]

Not as a script: its own name would hide the package it measures.

CPU time of one thread, not wall time, so that a busy machine disturbs it less. All engines take turns within a round.
Every picture has a prompt of its own: the text encoders' caches never help.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table
from scipy.optimize import nnls

from backends.diffusers_flux import DiffusersFlux
from backends.onnx_flux import OnnxFlux
from cascade.jobs import Artifact
from cascade.plans import PoolName, Stage, VariantName
from cascade.ports import Backend
from cascade.pricing import PIXELS_PER_TOKEN, DurationProfile
from cascade.requests import GenerationRequest
from discriminators.clip_head import ClipHead

WEIGHTS = Path(__file__).parents[1] / "shapes" / "weights"
VARIANTS = ("shapes-schnell", "shapes-dev")
ENGINES: dict[str, Callable[[Path], Backend]] = {
    "onnx": lambda folder: OnnxFlux(folder, threads=1),
    "diffusers": lambda folder: DiffusersFlux(folder, threads=1),
}
NUMBERS = count()


@dataclass(frozen=True)
class Shape:
    """One kind of picture."""

    width: int
    height: int
    steps: int

    def parts(self) -> list[float]:
        """What a `DurationProfile`'s four constants are multiplied by."""
        pixels = self.width * self.height
        tokens = -(-pixels // PIXELS_PER_TOKEN)
        return [1.0, self.steps, self.steps * tokens, pixels / 1e6]


@dataclass
class Contender:
    """One engine on one folder, and what its pictures took in milliseconds."""

    variant: str
    engine: str
    backend: Backend
    shipped: Shape
    grid: tuple[Shape, ...]
    times: dict[Shape, list[float]] = field(default_factory=dict)

    async def draw(self, shape: Shape) -> None:
        """Draw one picture and note its CPU time."""
        number = next(NUMBERS)
        request = GenerationRequest(f"a red circle above blue square {number}", shape.width, shape.height, number)
        stage = Stage(VariantName(self.variant), PoolName("bench"), shape.steps, None, "", None, 0.0, 0, 0)
        begun = time.process_time()
        await self.backend.generate(request, stage, number, lambda _done, _total: None)
        self.times.setdefault(shape, []).append((time.process_time() - begun) * 1000)

    def profile(self) -> DurationProfile:
        """Constants that explain the medians with the least relative error, none below zero."""
        medians = {shape: median(times) for shape, times in self.times.items()}
        rows = np.array([np.array(shape.parts()) / middle for shape, middle in medians.items()])
        constants, _ = nnls(rows, np.ones(len(rows)))
        text, evaluation, token, megapixel = (round(float(constant), 4) for constant in constants)
        plain = DurationProfile(text, evaluation, token, megapixel, band=1.0)
        ratios = [
            taken / plain.median_ms(shape.width, shape.height, shape.steps)
            for shape, times in self.times.items()
            for taken in times
        ]
        return DurationProfile(text, evaluation, token, megapixel, band=round(max(1.0, np.quantile(ratios, 0.95)), 3))


def contenders() -> Iterator[Contender]:
    """Each engine on each bundled folder."""
    for variant in VARIANTS:
        folder = WEIGHTS / variant
        card = json.loads((folder / "maquette.json").read_text())
        width, height = card["native_size"]
        steps = int(card["steps"])
        sides = sorted({card["min_size"][0], width, card["max_size"][0]})
        runs = sorted({1, max(2, steps // 4), steps})
        grid = tuple(Shape(side, side, run) for side in sides for run in runs)
        for engine, opened in ENGINES.items():
            yield Contender(variant, engine, opened(folder), Shape(width, height, steps), grid)


async def measure(rounds: int) -> list[Contender]:
    """Warm every engine up, then let them take turns."""
    everyone = list(contenders())
    for contender in everyone:
        await contender.backend.warm_up()
        for shape in contender.grid:
            await contender.draw(shape)
        contender.times.clear()
    for _ in range(rounds):
        for turn in range(max(len(contender.grid) for contender in everyone)):
            for contender in everyone:
                if turn < len(contender.grid):
                    await contender.draw(contender.grid[turn])
    return everyone


async def judge(rounds: int) -> float:
    """Median CPU milliseconds of judging one 64 by 64 picture with a prompt never seen before."""
    head = ClipHead(WEIGHTS / "shapes-clip", WEIGHTS / "heads" / "schnell-vs-dev", threads=1)
    stream = io.BytesIO()
    Image.fromarray(np.arange(64 * 64 * 3, dtype=np.uint8).reshape(64, 64, 3)).save(stream, "PNG")
    artifact = Artifact(stream.getvalue(), 64, 64)
    times = []
    for _ in range(10 * rounds):
        begun = time.process_time()
        await head.score(GenerationRequest(f"a red circle {next(NUMBERS)}", 64, 64, 0), artifact)
        times.append((time.process_time() - begun) * 1000)
    return median(times)


def report(measured: list[Contender], judging_ms: float) -> dict[str, object]:
    """Everything as plain values."""
    rows = [
        {
            "variant": contender.variant,
            "engine": contender.engine,
            "steps": contender.shipped.steps,
            "picture_ms": round(median(contender.times[contender.shipped]), 2),
            "profile": asdict(contender.profile()),
        }
        for contender in measured
    ]
    return {"rows": rows, "discriminator_ms": round(judging_ms, 2)}


def show(measured: list[Contender], judging_ms: float) -> None:
    """Print the table for people."""
    table = Table(title="CPU milliseconds of one thread: a picture as shipped, and its duration profile")
    for name in ("variant", "engine"):
        table.add_column(name, no_wrap=True)
    for name in ("steps", "picture", "text", "eval", "token", "Mpx", "band"):
        table.add_column(name, justify="right", no_wrap=True)
    for contender in measured:
        profile = contender.profile()
        constants = (profile.text_ms, profile.evaluation_ms, profile.token_ms, profile.megapixel_ms, profile.band)
        taken = median(contender.times[contender.shipped])
        figures = (f"{taken:.1f}", *(f"{constant:.4g}" for constant in constants))
        table.add_row(contender.variant, contender.engine, str(contender.shipped.steps), *figures)
    console = Console()
    console.print(table)
    console.print(f"discriminator: {judging_ms:.2f} ms a picture, prompt included")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="pictures of each kind and engine")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    measured = asyncio.run(measure(options.rounds))
    judging_ms = asyncio.run(judge(options.rounds))
    if options.json:
        print(json.dumps(report(measured, judging_ms), indent=2))
    else:
        show(measured, judging_ms)


if __name__ == "__main__":
    main()
