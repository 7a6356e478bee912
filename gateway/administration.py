"""What an operator does to tenants, keys and budgets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cascade.jobs import TenantId
from gateway.failures import NotFoundError
from gateway.rooms import Rooms
from tenants import keys
from tenants.types import KeyRecord, Tenant

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


async def create_tenant(rooms: Rooms, tenant: str, name: str, gpu_ms: int) -> None:
    """Create a tenant with a budget.

    Raises:
        ValueError: the id is not lower-case letters, digits, `_` and `-`.
        TenantExistsError: the id is taken.
    """
    if not _ID.fullmatch(tenant):
        raise ValueError("A tenant's id is 1 to 63 lower-case letters, digits, '_' or '-'.")
    await rooms.directory.add_tenant(Tenant(TenantId(tenant), name or tenant))
    await rooms.quota.grant(TenantId(tenant), gpu_ms)


async def list_tenants(rooms: Rooms) -> Sequence[dict[str, Any]]:
    """Tenants with their budgets."""
    return [
        {"id": tenant.id, "name": tenant.name, "suspended": tenant.suspended, **await _budget(rooms, tenant.id)}
        for tenant in await rooms.directory.tenants()
    ]


async def create_key(rooms: Rooms, tenant: str, label: str) -> str:
    """Mint a key and keep its hash. Returns the key, which nobody can show again.

    Raises:
        UnknownTenantError: no such tenant.
    """
    key = keys.mint()
    record = KeyRecord(
        hash=keys.hash_key(rooms.secret, key),
        tenant=TenantId(tenant),
        hint=keys.hint(key),
        label=label,
        created_ms=rooms.clock.now_ms(),
    )
    await rooms.directory.add_key(record)
    return key


async def list_keys(rooms: Rooms, tenant: str) -> Sequence[dict[str, Any]]:
    """A tenant's keys, without their hashes."""
    await rooms.directory.tenant(TenantId(tenant))
    return [
        {"key": f"{keys.PREFIX}…{record.hint}", "label": record.label, "created_ms": record.created_ms}
        for record in await rooms.directory.keys(TenantId(tenant))
    ]


async def revoke_key(rooms: Rooms, tenant: str, hint: str) -> None:
    """Revoke the one key of the tenant that ends with `hint`.

    Raises:
        NotFoundError: there is none, or more than one.
    """
    found = [record for record in await rooms.directory.keys(TenantId(tenant)) if record.hint == hint[-4:]]
    if len(found) != 1:
        raise NotFoundError(f"key ({len(found)} of {tenant}'s keys end so)")
    await rooms.directory.revoke_key(found[0].hash)


async def show_quota(rooms: Rooms, tenant: str) -> dict[str, int]:
    """A budget."""
    await rooms.directory.tenant(TenantId(tenant))
    return await _budget(rooms, TenantId(tenant))


async def grant_quota(rooms: Rooms, tenant: str, gpu_ms: int) -> None:
    """Set a budget's limit."""
    await rooms.directory.tenant(TenantId(tenant))
    await rooms.quota.grant(TenantId(tenant), gpu_ms)


async def _budget(rooms: Rooms, tenant: TenantId) -> dict[str, int]:
    balance = await rooms.quota.balance(tenant)
    return {
        "limit_gpu_ms": balance.limit_gpu_ms,
        "used_gpu_ms": balance.used_gpu_ms,
        "held_gpu_ms": balance.held_gpu_ms,
        "free_gpu_ms": balance.free_gpu_ms,
        "overrun_gpu_ms": balance.overrun_gpu_ms,
    }
