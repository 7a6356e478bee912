"""What a directory promises."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from cascade.jobs import TenantId
from tenants.adapters.redis_directory import RedisDirectory
from tenants.errors import TenantExistsError, UnknownTenantError
from tenants.types import KeyRecord, Tenant
from tests.builders import ACME

THE_ACME = Tenant(ACME, "Acme: Ünïcode & Söhne")


@pytest.fixture
def directory(redis_client: Redis):
    return RedisDirectory(redis_client)


def a_key(name="k", tenant=ACME, created_ms=1):
    return KeyRecord(hash=name * 64, tenant=tenant, hint="abcd", label=f"key {name}", created_ms=created_ms)


async def test_a_tenant_is_found_as_it_was_added(directory):
    suspended = Tenant(TenantId("globex"), "Globex", suspended=True)
    for tenant in (THE_ACME, suspended):
        await directory.add_tenant(tenant)

    assert await directory.tenant(ACME) == THE_ACME
    assert await directory.tenant(suspended.id) == suspended


async def test_a_taken_id_is_refused_and_nothing_changes(directory):
    await directory.add_tenant(THE_ACME)

    with pytest.raises(TenantExistsError):
        await directory.add_tenant(Tenant(ACME, "another"))

    assert await directory.tenant(ACME) == THE_ACME


async def test_of_two_who_want_the_same_id_one_gets_it(directory):
    tries = await asyncio.gather(
        *(directory.add_tenant(Tenant(ACME, str(number))) for number in range(8)), return_exceptions=True
    )

    assert sum(isinstance(result, TenantExistsError) for result in tries) == 7


async def test_an_unknown_tenant_is_an_error(directory):
    with pytest.raises(UnknownTenantError):
        await directory.tenant(ACME)
    with pytest.raises(UnknownTenantError):
        await directory.suspend(ACME, suspended=True)
    with pytest.raises(UnknownTenantError):
        await directory.tenant(ACME)  # suspending made none


async def test_tenants_are_listed_by_id(directory):
    for name in ("zeta", "alpha", "Beta"):
        await directory.add_tenant(Tenant(TenantId(name), name))

    assert [tenant.id for tenant in await directory.tenants()] == ["Beta", "alpha", "zeta"]


async def test_an_empty_directory_lists_nothing(directory):
    assert list(await directory.tenants()) == []
    assert list(await directory.keys(ACME)) == []


async def test_a_tenant_is_suspended_and_readmitted(directory):
    await directory.add_tenant(THE_ACME)

    await directory.suspend(ACME, suspended=True)
    assert (await directory.tenant(ACME)).suspended

    await directory.suspend(ACME, suspended=False)
    assert await directory.tenant(ACME) == THE_ACME


async def test_a_key_is_found_by_its_hash(directory):
    await directory.add_tenant(THE_ACME)
    await directory.add_key(a_key())

    assert await directory.key(a_key().hash) == a_key()
    assert await directory.key("0" * 64) is None


async def test_a_key_of_an_unknown_tenant_is_refused_and_not_kept(directory, redis_client):
    with pytest.raises(UnknownTenantError):
        await directory.add_key(a_key())

    assert await redis_client.dbsize() == 0


async def test_a_tenants_keys_are_listed_oldest_first(directory):
    await directory.add_tenant(THE_ACME)
    await directory.add_tenant(Tenant(TenantId("globex"), "Globex"))
    keys = [a_key("b", created_ms=1), a_key("a", created_ms=2), a_key("c", created_ms=3)]
    for record in [*reversed(keys), a_key("d", TenantId("globex"))]:
        await directory.add_key(record)

    assert list(await directory.keys(ACME)) == keys


async def test_a_revoked_key_is_forgotten_and_only_it(directory):
    await directory.add_tenant(THE_ACME)
    for name in ("a", "b"):
        await directory.add_key(a_key(name))

    assert await directory.revoke_key(a_key("a").hash)
    assert not await directory.revoke_key(a_key("a").hash)

    assert await directory.key(a_key("a").hash) is None
    assert list(await directory.keys(ACME)) == [a_key("b")]


async def test_all_keys_of_the_directory_lie_in_one_slot(directory, redis_client):
    await directory.add_tenant(THE_ACME)
    await directory.add_key(a_key())

    assert all([key.startswith("mq:{tenants}:") async for key in redis_client.scan_iter()])
