"""`doctor`: is anything wrong with this installation, and what is to be done?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.console import AsJson, console, errors, print_json

if TYPE_CHECKING:
    from gateway.local.doctor.findings import Finding

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def doctor(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Import no package, hash no model, draw nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Examine the installation, models, server, disk, port and settings. Changes nothing; exit 1 on a problem."""
    from gateway.local.doctor.examination import examine
    from gateway.local.doctor.findings import healthy

    with errors.status("Looking …") as status:
        findings = examine(lambda name: status.update(f"Looking at: {name} …"), quick=quick)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        _show(findings)
    raise typer.Exit(0 if healthy(findings) else 1)


def _show(findings: Sequence[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="What the doctor found", title_justify="left")
    for column in ("", "about", "finding"):
        table.add_column(column)
    for finding in findings:
        text = Text(finding.what)
        if finding.remedy:
            text.append(f"\n→ {finding.remedy}", style="bold")
        table.add_row(Text(finding.verdict, style=_COLOURS[finding.verdict]), finding.about, text)
    console.print(table)
    counts = {verdict: sum(f.verdict == verdict for f in findings) for verdict in ("problem", "warning")}
    console.print(", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in counts.items() if n) or "All is well.")
