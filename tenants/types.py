"""Tenants, their keys and their budgets. Money is `gpu_ms`: whole milliseconds of the reference GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

from cascade.jobs import TenantId

HoldId = NewType("HoldId", str)


@dataclass(frozen=True, slots=True)
class Tenant:
    """Who asks and pays.

    Attributes:
        suspended: may neither spend nor read what was cached.
    """

    id: TenantId
    name: str
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """An API key as it is kept: only a keyed hash, never the key.

    Attributes:
        hash: HMAC-SHA256 of the key, 64 hex digits.
        hint: the key's last four characters, for people.
    """

    hash: str
    tenant: TenantId
    hint: str
    label: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Balance:
    """A budget at one moment; `limit = used + held + free`, where `free` may be negative after a lowered limit.

    Attributes:
        overrun_gpu_ms: measured work above its holds, written off; not part of `used`.
    """

    limit_gpu_ms: int
    used_gpu_ms: int
    held_gpu_ms: int
    overrun_gpu_ms: int

    @property
    def free_gpu_ms(self) -> int:
        """What may still be held."""
        return self.limit_gpu_ms - self.used_gpu_ms - self.held_gpu_ms
