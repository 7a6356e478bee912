"""The Redis or Valkey behind the gateway, as what it says of itself is judged. `ask_server` asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.local.doctor.findings import Finding, ok, problem, warning

OLDEST = 7
SOCKET_BYTES = 100
"""As `embedded_valkey` has it: the longest path of a socket."""

_SLOW_MS = 10.0
_SKEW_MS = 2000
_NEARLY_FULL = 0.9

_URL = "MAQUETTE_REDIS_URL"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server says of itself.

    Attributes:
        product: Redis or Valkey.
        version: of the product.
        replica: it only copies another.
        cluster: Redis Cluster.
        append_only: it writes what it is told to an append-only file.
        disk_fault: its last write to disk failed.
        eviction: `maxmemory-policy`.
        most_bytes: `maxmemory`; 0 is no limit.
        used_bytes: of memory.
        scripts: whether it runs Lua for us.
        round_trip_ms: median of some.
        ahead_ms: its clock less ours.
    """

    product: str
    version: str
    replica: bool
    cluster: bool
    append_only: bool
    disk_fault: bool
    eviction: str
    most_bytes: int
    used_bytes: int
    scripts: bool
    round_trip_ms: float
    ahead_ms: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """The server that `maquette up` brings along.

    Attributes:
        fault: why its binary does not run; "" when it does.
        socket_bytes: length of its socket's path.
        running: whether anything is at the socket.
    """

    fault: str
    socket_bytes: int
    running: bool


@dataclass(frozen=True, slots=True)
class Server:
    """The server of the settings.

    Attributes:
        embedded: `None` when MAQUETTE_REDIS_URL names another one.
        answer: what it says, or why it says nothing as the end of a sentence, or `None` when it was not asked.
    """

    embedded: Embedded | None
    answer: Answer | str | None


def judge_server(facts: Server) -> Sequence[Finding]:
    """Is it there, is it new enough, does it keep what it is told?"""
    embedded = [] if facts.embedded is None else _embedded(facts.embedded)
    if facts.answer is None:
        return embedded
    if isinstance(facts.answer, str):
        return [*embedded, _silent(facts.answer, embedded=facts.embedded is not None)]
    return [*embedded, *_answering(facts.answer)]


def _embedded(facts: Embedded) -> Sequence[Finding]:
    if facts.fault:
        what = f"The embedded server can't run here. {facts.fault}"
        return [problem("server", what, f"Install a Redis or Valkey, and say where it is with {_URL}.")]
    if facts.socket_bytes > SOCKET_BYTES:
        what = f"The data folder's path is too long for a socket: {facts.socket_bytes} bytes, {SOCKET_BYTES} at most."
        return [problem("server", what, "Choose another with MAQUETTE_DATA_DIR.")]
    if not facts.running:
        return [ok("server", "The embedded server is not running; `maquette up` starts it.")]
    return []


def _silent(reason: str, *, embedded: bool) -> Finding:
    if embedded:
        what, remedy = f"The embedded server {reason}", "Stop `maquette up`, look into valkey.log of the data folder."
    else:
        what, remedy = f"The server of {_URL} {reason}", f"Start it, or correct {_URL}; unset, it starts its own."
    return problem("server", what, remedy)


def _answering(answer: Answer) -> Sequence[Finding]:
    found = [_version(answer), *_role(answer), _keeping(answer), *_memory(answer), _speed(answer.round_trip_ms)]
    return [*found, _clock(answer.ahead_ms)]


def _version(answer: Answer) -> Finding:
    named = f"{answer.product} {answer.version}"
    major = answer.version.partition(".")[0]
    if major.isdigit() and int(major) < OLDEST:
        return problem("server", f"It is {named}, which is too old.", f"Use Redis or Valkey {OLDEST} or newer.")
    if not answer.scripts:
        return problem("server", f"{named} runs no Lua scripts for us.", "Permit EVAL and EVALSHA to this user.")
    return ok("server", f"{named} answers.")


def _role(answer: Answer) -> Sequence[Finding]:
    if answer.replica:
        return [problem("server", "It is a replica: nothing can be written to it.", f"Name its primary in {_URL}.")]
    if answer.cluster:
        return [warning("server", "It is a Redis Cluster, on which Maquette was never tried.", "Use a single server.")]
    return []


def _keeping(answer: Answer) -> Finding:
    if answer.disk_fault:
        what = "Its last write to disk failed: it may refuse writes, and would lose tenants and budgets on a restart."
        return problem("persistence", what, "Look into its log; its disk may be full.")
    if not answer.append_only:
        what = "It keeps no append-only file: a restart loses tenants, keys and budgets since its last snapshot."
        return warning("persistence", what, "Set `appendonly yes`; they are kept nowhere else.")
    return ok("persistence", "It keeps an append-only file.")


def _memory(answer: Answer) -> Sequence[Finding]:
    found = []
    if answer.eviction != "noeviction":
        remedy = "Set `maxmemory-policy noeviction`."
        if answer.most_bytes:
            what = f"It forgets keys when its memory is full ({answer.eviction}): budgets and jobs among them."
            found.append(problem("memory", what, remedy))
        else:
            what = f"Its policy is {answer.eviction}: once `maxmemory` is set, it forgets budgets and jobs."
            found.append(warning("memory", what, remedy))
    if answer.most_bytes and answer.used_bytes >= _NEARLY_FULL * answer.most_bytes:
        share = answer.used_bytes / answer.most_bytes
        what = f"Its memory is {share:.0%} full; when it is full, it refuses writes."
        found.append(warning("memory", what, "Raise `maxmemory`."))
    return found or [ok("memory", "It forgets nothing when its memory is full.")]


def _speed(round_trip_ms: float) -> Finding:
    if round_trip_ms > _SLOW_MS:
        what = f"An answer takes {round_trip_ms:.0f} ms, and each request asks it a dozen times."
        return warning("latency", what, "Bring the gateway nearer to it.")
    return ok("latency", f"It answers in {round_trip_ms:.1f} ms.")


def _clock(ahead_ms: int) -> Finding:
    if abs(ahead_ms) > _SKEW_MS:
        side = "ahead of" if ahead_ms > 0 else "behind"
        what = f"The server's clock is {abs(ahead_ms) / 1000:.0f} s {side} this machine's."
        return warning("clock", what, "Let both take their time from the network.")
    return ok("clock", "The server's clock agrees with this machine's.")
