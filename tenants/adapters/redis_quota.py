"""Budgets on Redis or Valkey: every booking is one Lua script in the tenant's slot, leases go by the server's clock.

How an abandoned hold is never missed. A tenant's open holds are in a sorted set in the tenant's own slot, written in
the same step as the hold. Which tenants to look at is in one set in another slot, so it cannot be written in that step;
instead it is written *before* a tenant's first hold (`reserve.lua` refuses a tenant whose budget is not marked
`indexed`, and the mark is set after the set was written) and nobody ever removes a tenant from it. It may name tenants
without holds, never miss one with. It grows with the number of tenants, not of holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any
from urllib.parse import quote

from redis.asyncio import Redis
from typing_extensions import override

from cascade.jobs import TenantId
from tenants.adapters.redis_seam import Script, as_budget_errors
from tenants.errors import refusal
from tenants.ports import Quota
from tenants.types import Balance, HoldId

MOST_GPU_MS = 2**53 - 1
"""Lua's numbers are doubles: whole up to here (285,000 years of GPU time)."""

_TENANTS = "mq:{budgets}:tenants"
_AT_ONCE = 200


def _key(tenant_id: TenantId, name: str) -> str:
    """A key in the tenant's slot. Quoted, so that no name of a tenant can reach another's keys."""
    return f"mq:{{t:{quote(tenant_id, safe='')}}}:{name}"


class RedisQuota(Quota):
    """A budget is a hash, each hold a hash, each tenant's open holds a sorted set by lease expiry.

    Args:
        keep_seconds: how long a settled hold is remembered, so that settling or reserving again changes nothing.
    """

    def __init__(self, client: Redis, *, keep_seconds: float = 86_400.0) -> None:
        self._client = client
        self._keep_ms = round(keep_seconds * 1000)
        self._reserve = Script(client, "reserve")
        self._extend = Script(client, "extend")
        self._settle = Script(client, "settle")

    @override
    async def grant(self, tenant_id: TenantId, limit_gpu_ms: int) -> None:
        _check(limit_gpu_ms)
        async with as_budget_errors():
            await self._client.hset(_key(tenant_id, "budget"), "limit", limit_gpu_ms)

    @override
    async def balance(self, tenant_id: TenantId) -> Balance:
        async with as_budget_errors():
            books = await self._client.hmget(_key(tenant_id, "budget"), ["limit", "used", "held", "overrun"])
        return _to_balance(books)

    @override
    async def reserve(self, tenant_id: TenantId, hold_id: HoldId, gpu_ms: int, lease_seconds: float) -> Balance:
        _check(gpu_ms)
        arguments = (hold_id, gpu_ms, _lease_ms(lease_seconds))
        verdict, *books = await self._reserve(_booked(tenant_id, hold_id), *arguments)
        if verdict == "unindexed":
            await self._index(tenant_id)
            verdict, *books = await self._reserve(_booked(tenant_id, hold_id), *arguments)
        balance = _to_balance(books)
        if verdict == "refused":
            raise refusal(gpu_ms, balance)
        return balance

    @override
    async def extend(self, tenant_id: TenantId, hold_id: HoldId, lease_seconds: float) -> bool:
        return bool(await self._extend([_key(tenant_id, "leases")], hold_id, _lease_ms(lease_seconds)))

    @override
    async def settle(self, tenant_id: TenantId, hold_id: HoldId, gpu_ms: int) -> int:
        _check(gpu_ms)
        return int(await self._settle(_booked(tenant_id, hold_id), hold_id, gpu_ms, self._keep_ms))

    @override
    async def abandoned(self, limit: int) -> Sequence[tuple[TenantId, HoldId]]:
        if limit < 1:
            return ()
        async with as_budget_errors():
            seconds, microseconds = await self._client.time()
            tenants = [TenantId(str(tenant)) for tenant in await self._client.smembers(_TENANTS)]
        expired: list[tuple[float, TenantId, HoldId]] = []
        for start in range(0, len(tenants), _AT_ONCE):
            now_ms = seconds * 1000 + microseconds // 1000
            expired += await self._expired(tenants[start : start + _AT_ONCE], now_ms, limit)
        return tuple((tenant, hold) for _, tenant, hold in sorted(expired)[:limit])

    async def _expired(
        self, tenants: Sequence[TenantId], now_ms: int, limit: int
    ) -> list[tuple[float, TenantId, HoldId]]:
        async with as_budget_errors(), self._client.pipeline(transaction=False) as pipeline:
            for tenant in tenants:
                pipeline.zrangebyscore(_key(tenant, "leases"), "-inf", now_ms, start=0, num=limit, withscores=True)
            found = await pipeline.execute()
        return [
            (expiry, tenant, HoldId(hold))
            for tenant, holds in zip(tenants, found, strict=True)
            for hold, expiry in holds
        ]

    async def _index(self, tenant_id: TenantId) -> None:
        """Make the tenant's holds findable: first the set of tenants, then the mark that says so."""
        async with as_budget_errors():
            await self._client.sadd(_TENANTS, tenant_id)
            await self._client.hset(_key(tenant_id, "budget"), "indexed", 1)


def _booked(tenant_id: TenantId, hold_id: HoldId) -> list[str]:
    return [_key(tenant_id, "budget"), _key(tenant_id, f"hold:{hold_id}"), _key(tenant_id, "leases")]


def _to_balance(books: Sequence[Any]) -> Balance:
    limit, used, held, overrun = (int(amount or 0) for amount in books)
    return Balance(limit_gpu_ms=limit, used_gpu_ms=used, held_gpu_ms=held, overrun_gpu_ms=overrun)


def _check(gpu_ms: int) -> None:
    if not 0 <= index(gpu_ms) <= MOST_GPU_MS:  # `index` refuses what is not whole
        raise ValueError(f"{gpu_ms} GPU-ms is not an amount: it must lie in 0 to {MOST_GPU_MS}")


def _lease_ms(seconds: float) -> int:
    if seconds < 0:
        raise ValueError(f"a lease of {seconds} seconds is negative")
    return round(seconds * 1000)
