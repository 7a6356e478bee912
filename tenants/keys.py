"""API keys: `mq-` + 32 random characters + 6 of checksum. Pure; only a keyed hash is ever kept.

The checksum lets a typo be told from an unknown key without a look-up, and secret scanners recognise the shape.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
import zlib

PREFIX = "mq-"
_ALPHABET = string.ascii_letters + string.digits
_BODY = 32
_CHECK = 6


def mint() -> str:
    """A new key. Shown once, never stored."""
    body = "".join(secrets.choice(_ALPHABET) for _ in range(_BODY))
    return PREFIX + body + _checksum(body)


def well_formed(key: str) -> bool:
    """Whether `key` has a key's shape and checksum."""
    body = key[len(PREFIX) : -_CHECK]
    return (
        key.startswith(PREFIX)
        and len(body) == _BODY
        and key.isascii()
        and body.isalnum()
        and hmac.compare_digest(key[-_CHECK:], _checksum(body))
    )


def hash_key(secret: bytes, key: str) -> str:
    """HMAC-SHA256 of `key`: 64 hex digits. Without `secret` a stolen table can't be tried offline."""
    return hmac.new(secret, b"key:" + key.encode(), hashlib.sha256).hexdigest()


def hint(key: str) -> str:
    """The last four characters, enough for a person to recognise a key."""
    return key[-4:]


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = []
    for _ in range(_CHECK):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)
