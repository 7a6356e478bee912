"""The whole measurement: open, draw, read, compare. `maquette bench cascade` is this with a table around it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench.cascade.galleries import distribution_of
from bench.cascade.instruments import Baselines, Judge
from bench.cascade.kept import Kept
from bench.cascade.policies import below
from bench.cascade.prompts import Prompt, held_out, novel, reference
from bench.cascade.reporting import Measured
from bench.cascade.seeing import Seen, outcomes_of, see
from bench.cascade.studio import Drawn, Studio, open_studio
from bench.cascade.versions import machine, versions
from cascade.model_folder import ModelFolder
from cascade.plans import CascadePlan
from discriminators.training.pairs import MARGIN
from gateway.catalogue_file import load_configured
from gateway.settings import BUNDLED_WEIGHTS, Settings

_LADDER = 3
_NOVEL_SHARE = 0.1
"""Of the held-out prompts, and of each difficulty: so many prompts of novel pairs."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may choose.

    Attributes:
        prompts: how many held-out prompts.
        seed: of the prompts, the pictures and the resamples.
        keep: folder for drawn pictures; `None` keeps none.
    """

    prompts: int
    seed: int
    keep: Path | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """All prompts of a run."""

    seen: list[Prompt]
    novel: list[Prompt]
    reference: list[Prompt]

    @classmethod
    def of(cls, options: Options) -> _Plan:
        seen = held_out(options.seed, options.prompts)
        few = _LADDER * max(1, round(options.prompts * _NOVEL_SHARE))
        taken = frozenset(prompt.text for prompt in seen)
        return cls(seen, novel(options.seed, few), reference(options.seed, 2 * options.prompts, taken))


def measure(settings: Settings, options: Options, console: Console) -> Measured:
    """Draw every prompt with both models, read and judge the pictures.

    Args:
        settings: whose catalogue is measured.
        options: how much.
        console: for the progress bar.

    Raises:
        BenchError: something that is compared is missing; before anything is drawn.
        CascadeError: the catalogue's models can't be loaded or don't know the world's words.
        CatalogueError: the catalogue can't be used.
    """
    prompts = _Plan.of(options)
    weights = Path(settings.variables.get("MAQUETTE_WEIGHTS", BUNDLED_WEIGHTS))
    studio = open_studio(load_configured(settings), prompts.seen[0].text, options.seed)
    plan = studio.plan(prompts.seen[0].text)
    threshold, threads = plan.stages[0].threshold, studio.light.pool.threads
    baselines, judge = Baselines(studio.entry, weights, threads), Judge(weights, threads)
    found, here = versions(studio, plan, weights), machine(studio)
    kept = Kept(options.keep, _drawn_with(plan, found) | {"seed": options.seed, "machine": here})
    if kept.stale:
        console.print("What was kept was drawn with other weights, another seed or elsewhere: drawing anew.")
    with _progress(console) as progress:
        drawn = asyncio.run(_draw(studio, [*prompts.seen, *prompts.novel], prompts.reference[0], kept, progress))
        seen = list(_see(baselines, [*prompts.seen, *prompts.novel], drawn, progress))
    first, rest = seen[: len(prompts.seen)], seen[len(prompts.seen) :]
    climb = below(outcomes_of(first).score, threshold)
    calibration = ModelFolder(studio.entry.folders["head"]).settings("calibration.json")
    return Measured(
        model=plan.model,
        threshold=threshold,
        margin=calibration.number("margin", MARGIN),
        judge=calibration.text("judge", ""),
        seen=first,
        novel=rest,
        distribution=distribution_of(judge, first, climb, prompts.reference),
        seed=options.seed,
        versions=found,
        machine=here,
    )


def _drawn_with(plan: CascadePlan, found: Mapping[str, str]) -> dict[str, Any]:
    """What a kept picture and its score depend on, but for seed, prompt and machine."""
    stages = [[stage.weights, stage.steps, stage.guidance] for stage in plan.stages]
    return {"stages": stages, "clip": found["clip"], "head": found["head"]}


async def _draw(studio: Studio, prompts: Sequence[Prompt], warm: Prompt, kept: Kept, progress: Progress) -> list[Drawn]:
    """Draw what was not kept, one picture at a time."""
    missing = [prompt for prompt in prompts if prompt.text not in kept]
    if missing:
        await studio.warm_up(warm.text)
        for prompt in progress.track(missing, description="drawing"):
            kept.put(prompt.text, await studio.draw(prompt.text))
    return [kept.get(prompt.text) for prompt in prompts]


def _see(baselines: Baselines, prompts: Sequence[Prompt], drawn: Sequence[Drawn], progress: Progress) -> Iterator[Seen]:
    pairs = list(zip(prompts, drawn, strict=True))
    for prompt, pictures in progress.track(pairs, description="reading"):
        yield see(prompt, pictures, baselines.orders)


@contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    """A bar that moves between pictures, never while one is timed."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, auto_refresh=False) as progress:
        yield progress
