"""`discriminator`: collect pairs, train a head on them, evaluate it, put it in service."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.console import AsJson, console, errors, fail, print_json, show
from gateway.cli.generation import Key, Url, ask

discriminator = typer.Typer(help="Heads: collect pairs, train, evaluate, promote.", no_args_is_help=True)

Pairs = Annotated[Path, typer.Option(help="Folder with pairs.jsonl.")]
Clip = Annotated[Path, typer.Option(help="Folder of the CLIP that the head stands on.")]

_PATIENCE_SECONDS = 2.0


class HeadKind(StrEnum):
    """What a head looks at: picture and prompt, the prompt alone, or the picture alone."""

    PAIR = "pair"
    ROUTER = "router"
    REAL_FAKE = "real-fake"


@discriminator.command("train")
def train(
    pairs: Pairs,
    clip: Clip,
    out: Annotated[Path, typer.Option(help="The head's folder; what is there is replaced when the new one is whole.")],
    kind: Annotated[HeadKind, typer.Option(help="What the head looks at.")] = HeadKind.PAIR,
    light: Annotated[str, typer.Option(help="Name of the light tier, for the model card.")] = "the light tier",
    heavy: Annotated[str, typer.Option(help="Name of the heavy tier.")] = "the heavy tier",
    true: Annotated[
        Path | None, typer.Option(help="For real-fake: a folder of true pictures; the heavy pictures by default.")
    ] = None,
    license_tag: Annotated[str, typer.Option("--license", help="Of the head, such as Apache-2.0.")] = "",
    seed: Annotated[int, typer.Option(help="Same seed and pairs, same head.")] = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Train a head on judged pairs: split by prompt, fit, calibrate, measure, write its folder."""
    from discriminators.calibrated_head import Kind
    from discriminators.clip_folder import open_embeddings
    from discriminators.engine_extra import needed_for
    from discriminators.training.embedding import embed_pairs
    from discriminators.training.pairs_folder import judges_of, read_pairs

    with needed_for("Training a head"):
        from discriminators.training.fitting import Recipe
        from discriminators.training.head_folder import Names, write_head
        from discriminators.training.trained import train as fit

    lines, eyes = read_pairs(pairs), open_embeddings(clip, 1)
    with _progress("Embedding pictures") as on_step:
        embedded = embed_pairs(lines, eyes, on_step)
    shown = _true_pictures(lines, eyes, true) if kind is HeadKind.REAL_FAKE else None
    with errors.status("Fitting, calibrating and measuring"):
        made = fit(embedded, Recipe(kind=Kind(kind), seed=seed), shown)
        write_head(out, made, Names(out.name, light, heavy, eyes.digest, judges_of(lines), license_tag))
    facts = {name: value for name, value in made.facts.items() if name not in {"knots", "score_quantiles"}}
    if as_json:
        print_json({"head": out.name, **facts})
        return
    show(_rows({out.name: facts["measures"]}), title=f"{out.name} on its test part", as_json=False)
    console.print(f"Wrote {out.name}: {facts['form']}, {facts['method']} calibration, {facts['n_pairs']} pairs.")


@discriminator.command("evaluate")
def evaluate(
    pairs: Pairs,
    clip: Clip,
    head: Annotated[Path, typer.Option(help="The head's folder.")],
    against: Annotated[Path | None, typer.Option(help="Another head, to compare with on the same pairs.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Measure a head, or two, on those of the pairs that they were not made from."""
    from discriminators.training.report import differences

    heads = [head] if against is None else [head, against]
    judged = _judge(pairs, clip, heads)
    facts = {each.name: one.facts() for each, one in zip(heads, judged, strict=True)}
    apart = {name: asdict(value) for name, value in differences(*judged).items()} if against else {}
    if as_json:
        print_json({"heads": facts, "difference": apart})
        return
    count = facts[head.name]
    title = f"On {count['pairs']} pairs of {count['prompts']} prompts that are new to them"
    show(_rows(facts | ({"difference": apart} if apart else {})), title=title, as_json=False)


@discriminator.command("promote")
def promote(
    to: Annotated[Path, typer.Option("--to", help="Folder of the head in service.")],
    candidate: Annotated[Path | None, typer.Argument(help="Folder of the head that shall take its place.")] = None,
    pairs: Annotated[Path | None, typer.Option(help="Folder with pairs.jsonl to compare on.")] = None,
    clip: Annotated[Path | None, typer.Option(help="Folder of the CLIP that both stand on.")] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Even if it is not shown to be better.")] = False,
    rollback: Annotated[bool, typer.Option("--rollback", help="Take the last promotion back instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a head in service if it is better than the one there on pairs that neither was made from."""
    from discriminators.training import promoting

    if rollback:
        promoting.roll_back(to)
        _say({"promoted": False, "rolled_back": True}, f"{to.name} is the head it was before.", as_json=as_json)
        return
    if candidate is None or pairs is None or clip is None:
        fail("give a CANDIDATE, --pairs and --clip, or --rollback", as_json=as_json)
    decision, record = _decide(candidate, to, pairs, clip)
    if not (decision.better or force):
        fail(f"{decision.reason} {to.name} stays. Promote it all the same with --force.", as_json=as_json)
    promoting.promote(candidate, to, record | {"reason": decision.reason, "forced": not decision.better})
    _say(
        {"promoted": True, "reason": decision.reason, **record},
        f"{decision.reason} It is {to.name} now: workers take it at their next start. Back with --rollback.",
        as_json=as_json,
    )


@discriminator.command("collect")
def collect(
    prompts: Annotated[Path, typer.Option(help="A text file with one prompt per line.")],
    out: Annotated[Path, typer.Option(help="Folder for pictures and pairs.jsonl; what is there is gone on with.")],
    judge: Annotated[
        Path | None, typer.Option(help="An open_clip folder whose cosine gives utilities; by default you fill them in.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="A model with the routes preview and final.")] = None,
    size: Annotated[str | None, typer.Option(help="WIDTHxHEIGHT.")] = None,
    heavy: Annotated[int, typer.Option(min=1, max=10, help="Heavy pictures per prompt.")] = 2,
    seed: Annotated[int, typer.Option(help="Same seed, same pictures.")] = 0,
    url: Url = None,
    key: Key = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Draw each prompt on the light and on the heavy route of a running gateway, for a judge to compare."""
    from discriminators.training.pairs_folder import FILE, collected_prompts
    from gateway.cli import collecting

    out.mkdir(parents=True, exist_ok=True)
    known = collected_prompts(out)
    wanted = collecting.Wanted(model, size, heavy, seed)
    missing = [prompt for prompt in collecting.read_prompts(prompts) if prompt.text not in known]
    keep = _keeper(out, judge)
    with _progress("Drawing prompts") as on_step:
        ask(url, key, lambda client: collecting.collect(client, missing, wanted, keep, on_step))
    todo = "" if judge else f" Now fill in light_utility and heavy_utilities, or preferred, in {FILE}."
    counts = {"drawn": len(missing), "known_before": len(known)}
    _say(counts, f"Drew {len(missing)} prompts; {len(known)} were there before.{todo}", as_json=as_json)


def _true_pictures(lines: Any, eyes: Any, folder: Path | None) -> Any:
    """What a real-fake head tells the light pictures from."""
    import numpy as np

    from discriminators.training.embedding import embed_pictures
    from discriminators.training.fitting import TruePictures

    if folder is None:
        shown = [(path, line.group) for line in lines for path in line.heavy]
    else:
        shown = [(path, -1) for path in sorted(folder.iterdir()) if path.is_file()]
    if not shown:
        fail(f"there are no pictures in {folder.name if folder else 'the pairs'}")
    with _progress("Embedding true pictures") as on_step:
        features = embed_pictures([path for path, _ in shown], eyes, on_step)
    return TruePictures(features, np.array([group for _, group in shown], np.int64))


def _judge(pairs: Path, clip: Path, heads: list[Path]) -> list[Any]:
    """Each head's answers for the pairs that none of them was made from, with the first one's margin.

    Raises:
        TooFewPairsError: there are too few of those.
    """
    import numpy as np

    from discriminators.clip_folder import open_embeddings
    from discriminators.training.embedding import embed_pairs
    from discriminators.training.evaluating import judge_pairs, margin_of, require_enough
    from discriminators.training.pairs_folder import read_pairs
    from discriminators.training.seen import unseen_rows

    lines, eyes = read_pairs(pairs), open_embeddings(clip, 1)
    rows = unseen_rows(np.array([line.group for line in lines]), heads)
    fresh = [lines[row] for row in rows]
    require_enough(len({line.group for line in fresh}))
    with _progress("Embedding pictures") as on_step:
        embedded = embed_pairs(fresh, eyes, on_step)
    return [judge_pairs(head, eyes, embedded, margin_of(heads[0])) for head in heads]


def _decide(candidate: Path, to: Path, pairs: Path, clip: Path) -> tuple[Any, dict[str, Any]]:
    """The decision, and the numbers behind it."""
    from discriminators.measures import bootstrap
    from discriminators.training.evaluating import require_exchangeable
    from discriminators.training.promoting import DECISIVE, decide
    from discriminators.training.report import differences

    if to.exists():
        require_exchangeable(candidate, to)
        judged = _judge(pairs, clip, [candidate, to])
        apart, against = differences(*judged)[DECISIVE], f"the head in {to.name}"
    else:
        judged = _judge(pairs, clip, [candidate])
        apart, against = bootstrap(judged[0].statistic(DECISIVE), judged[0].group), "escalating at random"
    prompts = len(set(judged[0].group.tolist()))
    record = {"measure": DECISIVE, "difference": asdict(apart), "prompts": prompts}
    return decide(apart, prompts, against=against), record


def _keeper(out: Path, judge: Path | None) -> Callable[[Any], None]:
    """What stores a drawn prompt: pictures first, then its line."""
    from discriminators.clip_folder import open_embeddings
    from discriminators.training.embedding import cosine_utility
    from discriminators.training.pairs_folder import append_pair
    from gateway.cli.collecting import file_names

    eyes = open_embeddings(judge, 1) if judge else None
    (out / "pictures").mkdir(exist_ok=True)

    def keep(drawn: Any) -> None:
        light, heavy = file_names(drawn.prompt, len(drawn.heavy))
        for name, content in zip((light, *heavy), (drawn.light, *drawn.heavy), strict=True):
            (out / name).write_bytes(content)
        line = {"prompt": drawn.prompt, "light": light, "heavy": heavy, "light_utility": None, "heavy_utilities": None}
        if eyes is not None and judge is not None:
            line["light_utility"] = cosine_utility(eyes, drawn.prompt, drawn.light)
            line["heavy_utilities"] = [cosine_utility(eyes, drawn.prompt, content) for content in drawn.heavy]
            line["judge"] = f"cosine of {judge.name} {eyes.digest[:12]}"
        append_pair(out, line)

    return keep


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, once it takes longer than two seconds."""
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    bar = Progress(*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn(), console=errors)
    task, started = bar.add_task(what, total=None), time.monotonic()

    def on_step(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if not bar.live.is_started and time.monotonic() - started > _PATIENCE_SECONDS:
            bar.start()

    try:
        yield on_step
    finally:
        bar.stop()


def _rows(measured: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """A table's rows: each measure of each head with its interval."""
    return [
        {"head": name, "measure": measure, **{part: f"{value[part]:.3f}" for part in ("estimate", "low", "high")}}
        for name, facts in measured.items()
        for measure, value in facts.items()
        if isinstance(value, Mapping) and "low" in value
    ]


def _say(facts: Mapping[str, Any], sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json(dict(facts))
    else:
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
