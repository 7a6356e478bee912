"""`config check` and `config schema`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.console import AsJson, errors, print_json, show

config = typer.Typer(help="The catalogue.", no_args_is_help=True)


@config.command("check")
def check(
    catalogue: Annotated[Path | None, typer.Argument(help="A catalogue file; the configured one by default.")] = None,
    *,
    load: Annotated[bool, typer.Option("--load", help="Also load every model, as a worker would.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a catalogue, its folders and, with --load, its models."""
    from gateway.catalogue_file import load_configured
    from gateway.settings import Settings

    settings = Settings() if catalogue is None else Settings(catalogue=catalogue)
    checked = load_configured(settings)
    if load:
        from gateway.compose_engine import open_engine

        for pool in checked.pools.values():
            open_engine(checked, pool)
    rows = [
        {
            "model": model.name,
            "route": quality,
            "stages": " → ".join(
                f"{s.variant} (below {s.threshold:.3f} climbs)" if s.discriminator else s.variant for s in steps
            ),
        }
        for model in checked.models.values()
        for quality, steps in model.routes.items()
    ]
    for remark in checked.licence_remarks:
        errors.print(f"licence: {remark}", highlight=False, markup=False)
    show(rows, title=f"{settings.catalogue.name} is good", as_json=as_json)


@config.command("schema")
def schema() -> None:
    """Print the catalogue's JSON Schema."""
    from gateway.catalogue_file import CatalogueIn

    print_json(CatalogueIn.model_json_schema())
