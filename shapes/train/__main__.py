"""`python -m shapes.train <what>`: train, export and measure the tiny world's models.

Everything lands in the run folder (default `shapes/.runs`); only `export` writes to `shapes/weights`. Start a trainer
with `torchrun --nproc-per-node 2 -m shapes.train <what>` to use two cores well.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from shapes.train import autoencoder, clip, dev, evaluate, export, guide, heads, latents, pairs, schnell, team, verdicts
from shapes.train.course import Course
from shapes.train.latents import load_autoencoder

_HERE = Path(__file__).resolve().parent.parent
_DEFAULT_STEPS = {
    "vae": 3500,
    "decoder": 1200,
    "latents": 150,
    "dev": 6000,
    "guided": 300,
    "bank": 165,
    "schnell": 2500,
    "clip": 850,
    "judge": 500,
    "verdicts": 250,
    "tuned": 700,
    "pairs": 210,
}
_ORDER = (
    "vae",
    "latents",
    "dev",
    "guide",
    "schnell",
    "clip",
    "judge",
    "verdicts",
    "pairs",
    "export",
    "heads",
    "evaluate",
)


@dataclass(frozen=True, slots=True)
class Order:
    """What the command line asks for."""

    out: Path
    weights: Path
    steps: int | None
    images: int | None
    seed: int
    resume: bool
    console: Console


def main() -> None:
    """Run one stage, or all of them in order."""
    parser = argparse.ArgumentParser(prog="python -m shapes.train", description=__doc__)
    parser.add_argument("what", choices=[*_STAGES, "all"])
    parser.add_argument("--steps", type=int, help="optimiser steps, or batches of a data stage")
    parser.add_argument("--images", type=int, help="pictures per optimiser step, over the whole team")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=_HERE / ".runs", help="the run folder")
    parser.add_argument("--weights", type=Path, default=_HERE / "weights", help="where export puts what is shipped")
    parser.add_argument("--resume", action=argparse.BooleanOptionalAction, default=True, help="go on from a checkpoint")
    given = vars(parser.parse_args())
    what = given.pop("what")
    team.join()
    order = Order(**given, console=Console())
    for stage in _ORDER if what == "all" else (what,):
        _STAGES[stage](order)


def _course(order: Order, name: str) -> Course:
    steps = order.steps or _DEFAULT_STEPS[name]
    return Course(name, steps, order.out, seed=order.seed, resume=order.resume, console=order.console)


def _heavy(order: Order) -> str:
    """Name the course whose weights are shapes-dev."""
    return "guided" if _course(order, "guided").checkpoint.exists() else "dev"


def _vae(order: Order) -> None:
    autoencoder.train(_course(order, "vae"), order.images or autoencoder.BATCH)


def _decoder(order: Order) -> None:
    """Sharpen the decoder alone; encoded pictures and what was trained on them stay valid."""
    frozen = load_autoencoder(order.out)
    autoencoder.train(_course(order, "decoder"), order.images or autoencoder.BATCH, frozen=frozen)


def _latents(order: Order) -> None:
    latents.build(_course(order, "latents"))


def _clip(order: Order) -> None:
    clip.train(_course(order, "clip"), order.images or clip.BATCH)


def _dev(order: Order) -> None:
    dev.train(_course(order, "dev"), batch=order.images or dev.BATCH)


def _guide(order: Order) -> None:
    """Distil guidance into shapes-dev; what comes after takes the outcome once it is there."""
    guide.train(_course(order, "guided"), _course(order, "dev"), order.images or guide.BATCH)


def _schnell(order: Order) -> None:
    teacher = _course(order, _heavy(order))
    schnell.build_bank(replace(_course(order, "bank"), steps=_DEFAULT_STEPS["bank"]), teacher)
    schnell.train(_course(order, "schnell"), teacher, order.images or schnell.BATCH)


def _judge(order: Order) -> None:
    clip.train(_course(order, "judge"), order.images or clip.BATCH)


def _verdicts(order: Order) -> None:
    """Have shapes-schnell draw what shapes-clip should learn to judge, then teach it."""
    verdicts.build(replace(_course(order, "verdicts"), steps=_DEFAULT_STEPS["verdicts"]), _course(order, "schnell"))
    verdicts.tune(_course(order, "tuned"), _course(order, "clip"), order.images or verdicts.BATCH)


def _pairs(order: Order) -> None:
    pairs.build(_course(order, "pairs"), _course(order, _heavy(order)), _course(order, "schnell"))


def _export(order: Order) -> None:
    shipped = {
        export.DEV: lambda: export.ship_variant(_course(order, _heavy(order)), order.weights, export.DEV),
        export.SCHNELL: lambda: export.ship_variant(_course(order, "schnell"), order.weights, export.SCHNELL),
        export.CLIP: lambda: export.ship_clip(_course(order, "tuned"), order.weights, export.CLIP),
        export.JUDGE: lambda: export.ship_clip(_course(order, "judge"), order.weights, export.JUDGE),
    }
    for name, ship in shipped.items():
        worst = "  ".join(f"{graph} {difference:.1e}" for graph, difference in ship().items())
        order.console.print(f"{name}: torch and onnxruntime differ by at most {worst}")


def _heads(order: Order) -> None:
    """Fit the heads on what the exported CLIP sees of the pairs; member 0 alone."""
    if team.rank() == 0:
        drawn = pairs.Drawn.load(order.out)
        for name, difference in heads.ship_heads(drawn, order.weights, order.seed).items():
            order.console.print(f"{name}: torch and onnxruntime differ by at most {difference:.1e}")


def _evaluate(order: Order) -> None:
    evaluate.evaluate(order.weights, order.console, order.images or 200)


_STAGES: dict[str, Callable[[Order], None]] = {
    "vae": _vae,
    "decoder": _decoder,
    "latents": _latents,
    "clip": _clip,
    "judge": _judge,
    "verdicts": _verdicts,
    "dev": _dev,
    "schnell": _schnell,
    "guide": _guide,
    "pairs": _pairs,
    "export": _export,
    "heads": _heads,
    "evaluate": _evaluate,
}

if __name__ == "__main__":
    main()
