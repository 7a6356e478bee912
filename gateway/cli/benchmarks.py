"""`bench`: measurements of this machine and these models."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.console import AsJson, console, errors, print_json

bench = typer.Typer(help="Measurements.", no_args_is_help=True)

_FEWEST = 12
_PACKAGES = ("scipy", "matplotlib")


@bench.command("cascade")
def cascade(
    prompts: Annotated[int, typer.Option(min=_FEWEST, help="How many held-out prompts.")] = 1002,
    seed: Annotated[int, typer.Option(min=0, help="Of the prompts, the pictures and the resamples.")] = 7,
    keep: Annotated[Path | None, typer.Option(help="Folder to keep drawn pictures in, and to go on from.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw accuracy against cost: the PNG or SVG to write.")] = None,
    sheets: Annotated[Path | None, typer.Option(help="Also draw contact sheets: the folder to write to.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Measure whether the cascade beats its alternatives, on prompts nobody was trained on. Takes minutes."""
    from bench.cascade.errors import MissingPackageError

    for package in _PACKAGES if plot else _PACKAGES[:1]:
        if find_spec(package) is None:
            raise MissingPackageError(package)

    from bench.cascade.reporting import report_of
    from bench.cascade.run import Options, measure
    from bench.cascade.table import show
    from gateway.settings import Settings

    measured = measure(Settings(), Options(prompts, seed, keep), errors)
    report = report_of(measured)
    if plot:
        from bench.cascade.plot import draw_plot

        draw_plot(measured, report, plot)
    if sheets:
        from bench.cascade.sheets import draw_sheets

        draw_sheets(measured, sheets)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        show(report, console)
