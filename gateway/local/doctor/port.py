"""The port that HTTP listens on: free, held by a running gateway, or by somebody else."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from gateway.local.doctor.findings import Finding, ok, problem, warning
from gateway.local.ports import fault_of_binding
from gateway.settings import Settings

_ASK_SECONDS = 3.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - asked about, not bound


@dataclass(frozen=True, slots=True)
class Port:
    """An address to listen on.

    Attributes:
        number: 0 takes any free one.
        errno: why it can't be bound; 0 when it can, `None` when the host has no address.
        idle_pools: pools without a worker, of the gateway that answers there; `None` when no gateway does.
    """

    number: int
    errno: int | None
    idle_pools: Sequence[str] | None = None


def look_at_port(settings: Settings) -> Port:
    """Bind the port for a moment; if that fails, ask who is there."""
    fault = fault_of_binding(settings.host, settings.port)
    taken = fault == errno.EADDRINUSE
    return Port(settings.port, fault, _idle_pools(settings.host, settings.port) if taken else None)


def _idle_pools(host: str, port: int) -> Sequence[str] | None:
    name = _EVERYWHERE.get(host, host)
    address = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
    try:
        answer = httpx.get(f"{address}/readyz", timeout=_ASK_SECONDS, trust_env=False).json()
        return [pool["name"] for pool in answer["pools"] if not pool["workers"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None


def judge_port(facts: Port) -> Sequence[Finding]:
    """Whether a gateway can listen there, or does."""
    return [_finding(facts)]


def _finding(facts: Port) -> Finding:
    choose = "Choose another with MAQUETTE_PORT."
    if facts.errno == 0:
        return ok("port", f"Port {facts.number} is free." if facts.number else "Any free port will do.")
    if facts.idle_pools:
        what = f"A gateway serves port {facts.number}, but no worker serves {', '.join(facts.idle_pools)}."
        return warning("port", what, "Look into its log, or start `maquette work --pool` for it.")
    if facts.idle_pools is not None:
        return ok("port", f"A gateway serves port {facts.number}, with workers in every pool.")
    if facts.errno == errno.EADDRINUSE:
        return problem("port", f"Port {facts.number} is taken by something that is no Maquette.", choose)
    if facts.errno == errno.EACCES:
        return problem("port", f"We may not listen on port {facts.number}.", f"Ports below 1024 are root's. {choose}")
    return problem("port", "MAQUETTE_HOST is no address of this machine.", "Use 127.0.0.1, or 0.0.0.0 for all of them.")
