"""Tenants and their keys on Redis or Valkey. One hash tag, so that a key is never added to a tenant that is not there.

Small and rarely written: a look-up is one HGETALL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from redis.asyncio import Redis
from typing_extensions import override

from cascade.jobs import TenantId
from tenants.adapters.redis_seam import Script, as_budget_errors
from tenants.errors import TenantExistsError, UnknownTenantError
from tenants.ports import Directory
from tenants.types import KeyRecord, Tenant

_IDS = "mq:{tenants}:ids"


def _tenant_key(tenant_id: str) -> str:
    return f"mq:{{tenants}}:tenant:{tenant_id}"


def _key_key(key_hash: str) -> str:
    return f"mq:{{tenants}}:key:{key_hash}"


def _keys_key(tenant_id: str) -> str:
    return f"mq:{{tenants}}:keys:{tenant_id}"


class RedisDirectory(Directory):
    """Each tenant and each key is a hash; a tenant's keys are a sorted set by creation."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._add_tenant = Script(client, "add_tenant")
        self._suspend = Script(client, "suspend")
        self._add_key = Script(client, "add_key")
        self._revoke_key = Script(client, "revoke_key")

    @override
    async def add_tenant(self, tenant: Tenant) -> None:
        keys = [_tenant_key(tenant.id), _IDS]
        if not await self._add_tenant(keys, tenant.id, tenant.name, int(tenant.suspended)):
            raise TenantExistsError

    @override
    async def tenant(self, tenant_id: TenantId) -> Tenant:
        fields = await self._hash(_tenant_key(tenant_id))
        if not fields:
            raise UnknownTenantError
        return _to_tenant(tenant_id, fields)

    @override
    async def tenants(self) -> Sequence[Tenant]:
        ids, hashes = await self._listed(_IDS, _tenant_key)
        return tuple(_to_tenant(tenant_id, fields) for tenant_id, fields in zip(ids, hashes, strict=True) if fields)

    @override
    async def suspend(self, tenant_id: TenantId, *, suspended: bool) -> None:
        if not await self._suspend([_tenant_key(tenant_id)], int(suspended)):
            raise UnknownTenantError

    @override
    async def add_key(self, record: KeyRecord) -> None:
        keys = [_tenant_key(record.tenant), _key_key(record.hash), _keys_key(record.tenant)]
        if not await self._add_key(keys, record.hash, record.tenant, record.hint, record.label, record.created_ms):
            raise UnknownTenantError

    @override
    async def key(self, key_hash: str) -> KeyRecord | None:
        fields = await self._hash(_key_key(key_hash))
        return _to_record(key_hash, fields) if fields else None

    @override
    async def keys(self, tenant_id: TenantId) -> Sequence[KeyRecord]:
        hashes, found = await self._listed(_keys_key(tenant_id), _key_key)
        # one that is revoked between the two questions is found empty
        return tuple(_to_record(key_hash, fields) for key_hash, fields in zip(hashes, found, strict=True) if fields)

    @override
    async def revoke_key(self, key_hash: str) -> bool:
        record = await self.key(key_hash)
        if record is None:
            return False
        return bool(await self._revoke_key([_key_key(key_hash), _keys_key(record.tenant)], key_hash))

    async def _hash(self, key: str) -> Any:
        async with as_budget_errors():
            return await self._client.hgetall(key)

    async def _listed(self, index: str, key_of: Callable[[str], str]) -> tuple[Any, Any]:
        """The members of a sorted set, and the hash of each."""
        async with as_budget_errors():
            members: Any = await self._client.zrange(index, 0, -1)
            async with self._client.pipeline(transaction=False) as pipeline:
                for member in members:
                    pipeline.hgetall(key_of(member))
                return members, await pipeline.execute()


def _to_tenant(tenant_id: str, fields: Mapping[str, str]) -> Tenant:
    return Tenant(id=TenantId(tenant_id), name=fields["name"], suspended=fields["suspended"] == "1")


def _to_record(key_hash: str, fields: Mapping[str, str]) -> KeyRecord:
    return KeyRecord(
        hash=key_hash,
        tenant=TenantId(fields["tenant"]),
        hint=fields["hint"],
        label=fields["label"],
        created_ms=int(fields["created_ms"]),
    )
