"""The installation's secret: configured, or made once and kept beside the data."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from gateway.settings import Settings

_LEAST = 16


class WeakSecretError(ValueError):
    """The secret is too short to sign with."""

    def __init__(self, where: str) -> None:
        super().__init__(f"{where} holds fewer than {_LEAST} characters; use e.g. `openssl rand -hex 32`.")


def installation_secret(settings: Settings) -> bytes:
    """What links are signed and keys are hashed with.

    Raises:
        WeakSecretError: it is shorter than 16 characters.
    """
    if settings.secret is not None:
        return _checked(settings.secret.get_secret_value().encode(), "MAQUETTE_SECRET")
    path = settings.data_dir / "secret"
    _create_once(path)
    return _checked(path.read_bytes().strip(), str(path))


def _create_once(path: Path) -> None:
    """Make the file if it is missing; a process that comes second keeps the first one's."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".secret-{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)  # atomic, and fails when another process was first
    draft.unlink()


def _checked(secret: bytes, where: str) -> bytes:
    if len(secret) < _LEAST:
        raise WeakSecretError(where)
    return secret
