"""What the commands share in talking to a person, or to a program."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

console = Console()
errors = Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


def show(rows: Sequence[Mapping[str, Any]], *, title: str, as_json: bool) -> None:
    """Print rows as a table, or as a JSON list."""
    if as_json:
        print_json(list(rows))
        return
    table = Table(title=title, title_justify="left")
    for column in rows[0] if rows else ():
        table.add_column(column.replace("_", " "))
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    console.print(table if rows else f"{title}: none")


def print_json(value: Any) -> None:
    """Print JSON and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def fail(message: str, *, as_json: bool = False) -> NoReturn:
    """End the command with exit code 2 and a sentence."""
    if as_json:
        print_json({"error": message})
    else:
        errors.print(f"[bold red]error:[/] {escape(message)}", highlight=False, markup=True)
    raise SystemExit(2)


def log_nothing() -> None:
    """Keep log lines off the terminal: a command that is soon over says itself what went wrong."""
    logging.getLogger().addHandler(logging.NullHandler())


def log_to_stderr(name: str) -> None:
    """Send log lines to standard error, each with the process' name."""
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {name} %(levelname)s %(message)s", stream=sys.stderr)
    for chatty in ("httpx", "httpcore"):  # they log addresses, and a signed link is a secret
        logging.getLogger(chatty).setLevel(logging.WARNING)
