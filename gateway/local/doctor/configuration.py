"""The settings: are they valid, is each of them read, do they contradict one another?"""

from __future__ import annotations

import difflib
import hmac
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import ValidationError

from gateway.local.doctor.findings import Finding, ok, problem, warning
from gateway.settings import Settings

_PREFIX = "MAQUETTE_"
_READ_ELSEWHERE = ("MAQUETTE_API_KEY", "MAQUETTE_WEIGHTS")
_LEAST_SECRET = 16
_IN_CATALOGUE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Secret:
    """What links are signed and keys are hashed with; never the secret itself.

    Attributes:
        variable: whether MAQUETTE_SECRET is set, and so is what counts.
        length: bytes of the one that counts; `None` when there is none yet.
        differs: whether the data folder keeps another one.
    """

    variable: bool
    length: int | None
    differs: bool


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """What MAQUETTE_REDIS_URL says of the way to the server.

    Attributes:
        near: this machine.
        password: the URL holds one.
        encrypted: TLS.
    """

    near: bool
    password: bool
    encrypted: bool


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings, as far as they can be wrong.

    Attributes:
        variables: names of the environment's `MAQUETTE_…` variables, in capitals.
        read: names that something reads.
        redis: `None` when there is no URL, or none that can be read.
    """

    variables: frozenset[str]
    read: frozenset[str]
    sync_seconds: float
    lease_seconds: float
    public_url: str | None
    secret: Secret
    redis: RedisAddress | None


def judge_validation(error: ValidationError) -> Sequence[Finding]:
    """A finding for each variable that can't be used. The values are not repeated."""
    return [
        problem(
            "settings",
            f"{_PREFIX}{'_'.join(map(str, fault['loc'])).upper()} can't be used: {fault['msg']}.",
            "Correct or unset it; what depends on the settings was not examined.",
        )
        for fault in error.errors()
    ]


def look_at_configuration(settings: Settings) -> Configuration:
    """The settings' names and relations."""
    try:
        catalogue = settings.catalogue.read_text()
    except (OSError, ValueError):
        catalogue = ""
    ours = {f"{_PREFIX}{name.upper()}" for name in Settings.model_fields}
    variables = {name.upper() for name in settings.variables}
    return Configuration(
        variables=frozenset(name for name in variables if name.startswith(_PREFIX)),
        read=frozenset({*ours, *_READ_ELSEWHERE, *_IN_CATALOGUE.findall(catalogue)}),
        sync_seconds=settings.sync_seconds,
        lease_seconds=settings.lease_seconds,
        public_url=settings.public_url,
        secret=_secret(settings),
        redis=None if settings.redis_url is None else _address(settings.redis_address),
    )


def _secret(settings: Settings) -> Secret:
    """Reads the file of `gateway.secret` without making it."""
    try:
        kept = (settings.data_dir / "secret").read_bytes().strip()
    except OSError:
        kept = None
    if settings.secret is None:
        return Secret(variable=False, length=None if kept is None else len(kept), differs=False)
    given = settings.secret.get_secret_value().encode()
    differs = kept is not None and not hmac.compare_digest(kept, given)
    return Secret(variable=True, length=len(given), differs=differs)


def _address(url: str) -> RedisAddress | None:
    try:
        parts = urlsplit(url)
        host, password = parts.hostname, parts.password is not None
    except ValueError:
        return None
    near = parts.scheme == "unix" or _is_loopback(host or "localhost")
    return RedisAddress(near=near, password=password, encrypted=parts.scheme == "rediss")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def judge_configuration(facts: Configuration) -> Sequence[Finding]:
    """What nobody reads, what can't be used, what contradicts."""
    faults = [*_unread(facts), *_times(facts), *_links(facts), *_secrets(facts), *_redis(facts)]
    return faults or [ok("settings", "They are valid and do not contradict one another.")]


def _unread(facts: Configuration) -> Sequence[Finding]:
    return [
        warning("settings", f"{name} is set, but nothing reads it.", _did_you_mean(name, facts.read))
        for name in sorted(facts.variables - facts.read)
    ]


def _did_you_mean(name: str, known: frozenset[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"Did you mean {close[0]}?" if close else "Unset it; the README lists what is read."


def _times(facts: Configuration) -> Sequence[Finding]:
    if facts.lease_seconds < facts.sync_seconds:
        return []
    return [
        warning(
            "settings",
            "MAQUETTE_LEASE_SECONDS is not below MAQUETTE_SYNC_SECONDS: "
            "when a worker dies, the request is cancelled before another one may draw its picture.",
            "Make the lease a small part of the request's time; the defaults are 10 and 120.",
        )
    ]


def _links(facts: Configuration) -> Sequence[Finding]:
    if facts.public_url is None or re.match(r"https?://[^/\s]", facts.public_url):
        return []
    what = "MAQUETTE_PUBLIC_URL does not start with http:// or https:// and a host, so no link will work."
    return [problem("settings", what, "Write it as callers reach the gateway, e.g. https://images.example.")]


def _secrets(facts: Configuration) -> Sequence[Finding]:
    secret, found = facts.secret, []
    place = "MAQUETTE_SECRET" if secret.variable else "The file `secret` of the data folder"
    if secret.length is not None and secret.length < _LEAST_SECRET:
        what = f"{place} holds fewer than {_LEAST_SECRET} characters; the gateway will not start."
        found.append(problem("secret", what, "Use e.g. `openssl rand -hex 32`."))
    if secret.differs:
        found.append(
            warning(
                "secret",
                "MAQUETTE_SECRET is not the secret that the data folder keeps: keys and links made with that one fail.",
                "Unset MAQUETTE_SECRET to go back, or delete the file `secret` of the data folder to go on.",
            )
        )
    if facts.redis is not None and not facts.redis.near and not secret.variable:
        found.append(
            warning(
                "secret",
                "The server is on another machine, but the secret is this machine's own: "
                "keys made here will not work on gateways elsewhere.",
                "Set MAQUETTE_SECRET to one value on all of them.",
            )
        )
    return found


def _redis(facts: Configuration) -> Sequence[Finding]:
    redis = facts.redis
    if redis is None or redis.near or redis.encrypted or not redis.password:
        return []
    what = "MAQUETTE_REDIS_URL sends its password over the network unencrypted."
    return [warning("settings", what, "Use rediss://, or make sure that nobody can listen on that network.")]
