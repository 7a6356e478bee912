"""`up`, `serve`, `work`: the commands that keep running."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from gateway.cli.console import log_to_stderr

Port = Annotated[int | None, typer.Option(help="TCP port; 8000 by default.")]
Host = Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 by default.")]


def up(
    port: Port = None,
    host: Host = None,
    *,
    demo: Annotated[bool, typer.Option("--demo", help="Draw a few pictures and show what happened.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Stop after the demo; exit 1 if anything in it failed.")] = False,
) -> None:
    """Run everything on this machine: embedded Valkey, HTTP and workers. Ctrl-C stops it all."""
    from gateway.local.everything import run_everything

    log_to_stderr("up")
    code = asyncio.run(run_everything(_settings(port=port, host=host), demo=demo or once, once=once))
    raise typer.Exit(code)


def serve(port: Port = None, host: Host = None) -> None:
    """Serve HTTP only."""
    from gateway.serve import serve as serve_http

    log_to_stderr("http")
    asyncio.run(serve_http(_settings(port=port, host=host)))


def work(pool: Annotated[str, typer.Option(help="The pool to serve, by its name in the catalogue.")]) -> None:
    """Serve one pool's queue with its models."""
    from gateway.work import work_until_stopped

    log_to_stderr(f"worker/{pool}")
    asyncio.run(work_until_stopped(_settings(), pool))


def _settings(**given: Any) -> Any:
    from gateway.settings import Settings

    return Settings(**{name: value for name, value in given.items() if value is not None})
