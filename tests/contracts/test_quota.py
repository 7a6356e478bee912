"""What a quota promises, sentence by sentence."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from cascade.jobs import TenantId
from tenants.adapters.redis_quota import MOST_GPU_MS, RedisQuota
from tenants.errors import HeldBackError, NeverFitsError, QuotaExceededError
from tenants.types import Balance, HoldId
from tests.builders import ACME

HOLD = HoldId("job_1")
GLOBEX = TenantId("globex")
LONG = 3_600.0


@pytest.fixture
def quota(redis_client: Redis):
    return RedisQuota(redis_client)


def balance(limit, used=0, held=0, overrun=0):
    return Balance(limit, used, held, overrun)


async def test_a_tenant_that_was_never_granted_a_budget_has_zeros(quota):
    assert await quota.balance(ACME) == balance(0)


async def test_a_grant_sets_the_limit_and_leaves_what_is_used_and_held(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 300, LONG)
    await quota.settle(ACME, HOLD, 200)
    await quota.reserve(ACME, HoldId("job_2"), 100, LONG)

    await quota.grant(ACME, 250)

    assert await quota.balance(ACME) == balance(250, used=200, held=100)
    assert (await quota.balance(ACME)).free_gpu_ms == -50


async def test_a_reservation_sets_aside_and_says_what_is_left(quota):
    await quota.grant(ACME, 1_000)

    after = await quota.reserve(ACME, HOLD, 300, LONG)

    assert after == await quota.balance(ACME) == balance(1_000, held=300)


async def test_repeating_a_reservation_changes_nothing_before_or_after_settling(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 300, LONG)

    assert await quota.reserve(ACME, HOLD, 700, LONG) == balance(1_000, held=300)

    await quota.settle(ACME, HOLD, 100)
    assert await quota.reserve(ACME, HOLD, 300, LONG) == balance(1_000, used=100)


async def test_what_is_not_free_now_is_refused_with_the_books(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 700, LONG)

    with pytest.raises(HeldBackError) as refusal:
        await quota.reserve(ACME, HoldId("job_2"), 301, LONG)

    assert refusal.value.needed_gpu_ms == 301
    assert refusal.value.balance == await quota.balance(ACME) == balance(1_000, held=700)
    assert (await quota.reserve(ACME, HoldId("job_2"), 300, LONG)).free_gpu_ms == 0


async def test_what_was_used_up_is_another_refusal_than_what_is_held(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 700, LONG)
    await quota.settle(ACME, HOLD, 700)

    with pytest.raises(QuotaExceededError) as refusal:
        await quota.reserve(ACME, HoldId("job_2"), 301, LONG)

    assert not isinstance(refusal.value, HeldBackError | NeverFitsError)


async def test_more_than_the_whole_limit_never_fits(quota):
    await quota.grant(ACME, 1_000)

    with pytest.raises(NeverFitsError):
        await quota.reserve(ACME, HOLD, 1_001, LONG)

    with pytest.raises(NeverFitsError):
        await quota.reserve(GLOBEX, HOLD, 1, LONG)
    assert await quota.balance(GLOBEX) == balance(0)


async def test_nothing_may_be_held_for_nothing(quota):
    assert await quota.reserve(ACME, HOLD, 0, LONG) == balance(0)
    assert await quota.settle(ACME, HOLD, 0) == 0
    assert await quota.balance(ACME) == balance(0)


@pytest.mark.parametrize("amount", [-1, MOST_GPU_MS + 1])
async def test_amounts_out_of_range_are_refused_and_write_nothing(quota, redis_client, amount):
    for booking in (
        quota.grant(ACME, amount),
        quota.reserve(ACME, HOLD, amount, LONG),
        quota.settle(ACME, HOLD, amount),
    ):
        with pytest.raises(ValueError, match="not an amount"):
            await booking
    assert await redis_client.dbsize() == 0


async def test_amounts_that_are_not_whole_are_refused(quota):
    with pytest.raises(TypeError):
        await quota.grant(ACME, 1.5)


async def test_a_negative_lease_is_refused(quota):
    for booking in (quota.reserve(ACME, HOLD, 1, -1.0), quota.extend(ACME, HOLD, -1.0)):
        with pytest.raises(ValueError, match="negative"):
            await booking


async def test_the_largest_amount_is_booked_exactly(quota):
    await quota.grant(ACME, MOST_GPU_MS)
    await quota.reserve(ACME, HOLD, MOST_GPU_MS, LONG)

    assert await quota.settle(ACME, HOLD, MOST_GPU_MS - 1) == MOST_GPU_MS - 1
    assert await quota.balance(ACME) == balance(MOST_GPU_MS, used=MOST_GPU_MS - 1)


@pytest.mark.parametrize(
    ("ran", "charged", "overrun"), [(0, 0, 0), (120, 120, 0), (300, 300, 0), (301, 300, 1), (9_999, 300, 9_699)]
)
async def test_settling_charges_what_ran_up_to_the_hold_and_writes_off_the_rest(quota, ran, charged, overrun):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 300, LONG)

    assert await quota.settle(ACME, HOLD, ran) == charged

    assert await quota.balance(ACME) == balance(1_000, used=charged, overrun=overrun)


async def test_the_first_settlement_wins(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 300, LONG)

    charges = [await quota.settle(ACME, HOLD, ran) for ran in (120, 999, 0)]

    assert charges == [120, 120, 120]
    assert await quota.balance(ACME) == balance(1_000, used=120)


async def test_settlements_at_the_same_time_charge_once(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 300, LONG)

    charges = await asyncio.gather(*(quota.settle(ACME, HOLD, 100 + number) for number in range(20)))

    assert len(set(charges)) == 1
    assert await quota.balance(ACME) == balance(1_000, used=charges[0])


async def test_an_unknown_hold_costs_nothing(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(GLOBEX, HOLD, 0, LONG)

    assert await quota.settle(ACME, HOLD, 50) == 0
    assert await quota.balance(ACME) == balance(1_000)


async def test_a_hold_is_abandoned_when_its_lease_ran_out_and_stays_so_until_settled(quota):
    await quota.grant(ACME, 1_000)
    await quota.grant(GLOBEX, 1_000)
    await quota.reserve(ACME, HoldId("second"), 1, 0.04)
    await quota.reserve(GLOBEX, HoldId("first"), 1, 0.02)
    await quota.reserve(ACME, HoldId("third"), 1, 0.05)
    await quota.reserve(ACME, HoldId("alive"), 1, LONG)
    await asyncio.sleep(0.15)

    found = [(GLOBEX, "first"), (ACME, "second"), (ACME, "third")]
    assert list(await quota.abandoned(10)) == found
    assert list(await quota.abandoned(2)) == found[:2]
    assert list(await quota.abandoned(0)) == []
    assert (await quota.balance(ACME)).held_gpu_ms == 3

    await quota.settle(GLOBEX, HoldId("first"), 0)
    assert list(await quota.abandoned(10)) == found[1:]


async def test_extending_keeps_an_open_hold_and_never_shortens_its_lease(quota):
    await quota.grant(ACME, 1_000)
    for name in ("kept", "left"):
        await quota.reserve(ACME, HoldId(name), 1, 0.02)

    assert await quota.extend(ACME, HoldId("kept"), LONG)
    assert await quota.extend(ACME, HoldId("kept"), 0)

    await asyncio.sleep(0.05)
    assert list(await quota.abandoned(10)) == [(ACME, "left")]


async def test_an_abandoned_hold_that_is_extended_is_no_longer_abandoned(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 1, 0)

    assert await quota.extend(ACME, HOLD, LONG)
    assert list(await quota.abandoned(10)) == []


async def test_only_an_open_hold_can_be_extended(quota):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 1, LONG)
    await quota.settle(ACME, HOLD, 1)

    assert not await quota.extend(ACME, HOLD, LONG)
    assert not await quota.extend(ACME, HoldId("unknown"), LONG)


async def test_abandoned_holds_of_many_tenants_are_all_found(quota):
    tenants = [TenantId(f"tenant {number}") for number in range(210)]
    await asyncio.gather(*(quota.reserve(tenant, HOLD, 0, 0) for tenant in tenants))
    await asyncio.sleep(0.01)

    assert {tenant for tenant, _ in await quota.abandoned(1_000)} == set(tenants)


async def test_a_settled_hold_is_remembered_for_its_time_only(redis_client):
    quota = RedisQuota(redis_client, keep_seconds=0.05)
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 300, LONG)
    await quota.reserve(ACME, HoldId("open"), 300, LONG)
    await quota.settle(ACME, HOLD, 100)
    await asyncio.sleep(0.2)

    assert await quota.settle(ACME, HOLD, 100) == 0
    assert await quota.settle(ACME, HoldId("open"), 50) == 50
    assert await quota.balance(ACME) == balance(1_000, used=150)


async def test_no_tenants_name_reaches_anothers_books(quota):
    sly = TenantId("acme}:hold:x")
    await quota.grant(sly, 77)
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HoldId("x}:budget"), 300, LONG)

    assert await quota.balance(sly) == balance(77)


async def test_the_books_of_a_tenant_lie_in_one_slot(quota, redis_client):
    await quota.grant(ACME, 1_000)
    await quota.reserve(ACME, HOLD, 300, LONG)

    keys = {key async for key in redis_client.scan_iter()}

    assert keys == {"mq:{t:acme}:budget", "mq:{t:acme}:hold:job_1", "mq:{t:acme}:leases", "mq:{budgets}:tenants"}
