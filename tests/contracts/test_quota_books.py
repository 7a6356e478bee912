"""That the books always balance: under a race, and over any sequence of bookings."""

from __future__ import annotations

import asyncio
import random
import uuid
from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from cascade.adapters.redis_client import open_client
from cascade.jobs import TenantId
from tenants.adapters.redis_quota import RedisQuota
from tenants.errors import HeldBackError, NeverFitsError, QuotaExceededError
from tenants.types import Balance, HoldId
from tests.builders import ACME

LONG = 3_600.0
LIMIT = 10_000


async def test_a_race_overspends_nothing_and_leaks_nothing(redis_client):
    quota = RedisQuota(redis_client)
    await quota.grant(ACME, LIMIT)
    most_held = 0
    charged = 0

    async def spend(spender):
        nonlocal most_held, charged
        dice = random.Random(spender)
        for number in range(12):
            hold, amount = HoldId(f"{spender}-{number}"), dice.randrange(1, 1_000)
            try:
                seen = await quota.reserve(ACME, hold, amount, LONG)
            except QuotaExceededError as refusal:
                seen = refusal.balance
            else:
                ran = dice.randrange(0, 60)
                settled = await asyncio.gather(*(quota.settle(ACME, hold, ran) for _ in range(dice.choice([1, 2]))))
                charged += settled[0]
            assert seen.free_gpu_ms >= 0
            most_held = max(most_held, seen.held_gpu_ms)

    await asyncio.gather(*(spend(spender) for spender in range(64)))

    after = await quota.balance(ACME)
    assert (after.held_gpu_ms, after.used_gpu_ms) == (0, charged)
    assert after.used_gpu_ms <= LIMIT
    assert most_held > LIMIT / 2  # it was a race
    assert await quota.abandoned(1) == ()


class Books:
    """The budget as a few dictionaries: what the Lua scripts are held to."""

    def __init__(self):
        self.limit = self.used = self.overrun = 0
        self.open: dict[str, int] = {}
        self.charged: dict[str, int] = {}

    @property
    def balance(self):
        return Balance(self.limit, self.used, sum(self.open.values()), self.overrun)

    def reserve(self, hold, amount):
        if hold in self.open or hold in self.charged:
            return None
        if amount > self.limit:
            return NeverFitsError
        if amount > self.limit - self.used:
            return QuotaExceededError
        if amount > self.balance.free_gpu_ms:
            return HeldBackError
        self.open[hold] = amount
        return None

    def settle(self, hold, ran):
        if hold in self.open:
            amount = self.open.pop(hold)
            self.charged[hold] = min(ran, amount)
            self.used += min(ran, amount)
            self.overrun += max(0, ran - amount)
        return self.charged.get(hold, 0)


HOLDS = st.sampled_from([HoldId(f"job_{number}") for number in range(6)])
AMOUNTS = st.integers(0, 400) | st.just(2**53 - 1)


class Booking(RuleBasedStateMachine):
    """Books on the server at `url` and in `Books`, side by side, under a tenant of its own."""

    url: ClassVar[str]

    def __init__(self):
        super().__init__()
        self.loop = asyncio.Runner()
        self.client = open_client(self.url)
        self.quota = RedisQuota(self.client)
        self.tenant = TenantId(uuid.uuid4().hex)
        self.books = Books()

    @initialize(limit=st.integers(0, 1_000))
    def first_grant(self, limit):
        self.grant(limit)

    def grant(self, limit):
        self.loop.run(self.quota.grant(self.tenant, limit))
        self.books.limit = limit

    @rule(limit=st.integers(0, 1_000))
    def another_grant(self, limit):
        self.grant(limit)

    @rule(hold=HOLDS, amount=AMOUNTS)
    def reserve(self, hold, amount):
        refused = None
        try:
            self.loop.run(self.quota.reserve(self.tenant, hold, amount, LONG))
        except QuotaExceededError as refusal:
            refused = type(refusal)
        assert refused is self.books.reserve(hold, amount)

    @rule(hold=HOLDS, ran=AMOUNTS)
    def settle(self, hold, ran):
        assert self.loop.run(self.quota.settle(self.tenant, hold, ran)) == self.books.settle(hold, ran)

    @rule(hold=HOLDS)
    def extend(self, hold):
        assert self.loop.run(self.quota.extend(self.tenant, hold, LONG)) is (hold in self.books.open)

    @invariant()
    def the_books_agree_and_nothing_is_lost(self):
        balance = self.loop.run(self.quota.balance(self.tenant))
        assert balance == self.books.balance
        assert balance.limit_gpu_ms == balance.used_gpu_ms + balance.held_gpu_ms + balance.free_gpu_ms

    def teardown(self):
        self.loop.run(self.client.aclose())
        self.loop.close()


def test_any_sequence_of_bookings_agrees_with_the_model(redis_server):
    run_state_machine_as_test(
        type("BookingHere", (Booking,), {"url": redis_server.url}),
        settings=settings(max_examples=20, stateful_step_count=20, suppress_health_check=list(HealthCheck)),
    )
