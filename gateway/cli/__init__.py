"""The command line. Each command imports what it runs: `--help` stays quick, and `serve` never sees a model."""

from __future__ import annotations

import sys

import typer

from gateway.cli import admin, benchmarks, checks, discriminator, doctor, generation, processes
from gateway.cli.console import fail

app = typer.Typer(
    name="maquette",
    help="A multi-tenant gateway for diffusion models: priced before it runs, drawn light first.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(processes.up)
app.command()(processes.serve)
app.command()(processes.work)
app.command()(generation.generate)
app.command()(generation.strip)
app.command()(doctor.doctor)
app.add_typer(admin.tenants, name="tenants")
app.add_typer(admin.keys, name="keys")
app.add_typer(admin.quota, name="quota")
app.add_typer(checks.config, name="config")
app.add_typer(benchmarks.bench, name="bench")
app.add_typer(discriminator.discriminator, name="discriminator")


def main() -> None:
    """Run a command; what is wrong is said in a sentence, not in a traceback."""
    from cascade.errors import CascadeError
    from gateway.failures import HallError
    from tenants.errors import TenantError

    try:
        app()
    except (CascadeError, HallError, TenantError, ValueError, RuntimeError, OSError) as error:
        fail(str(error), as_json="--json" in sys.argv)
