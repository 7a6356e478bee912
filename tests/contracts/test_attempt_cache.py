"""What an attempt cache promises: to remember for a while, one leader per flight, and never to raise."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from cascade.adapters.redis_attempts import RedisAttemptCache
from cascade.adapters.redis_client import open_client
from cascade.jobs import ArtifactId, JobId, Score
from cascade.ports import CachedAttempt

PRINT = "f" * 64
A, B = JobId("job_a"), JobId("job_b")
ATTEMPT = CachedAttempt(ArtifactId("img_1"), Score(0.1234567890123456))


@pytest.fixture
def cache(redis_client: Redis):
    return RedisAttemptCache(redis_client)


@pytest.mark.parametrize("attempt", [ATTEMPT, CachedAttempt(ArtifactId("img_1"), None)])
async def test_an_attempt_is_found_as_it_was_put(cache, attempt):
    await cache.put(PRINT, attempt)

    assert await cache.get(PRINT) == attempt
    assert cache.errors == 0


async def test_another_fingerprint_is_a_miss(cache):
    await cache.put(PRINT, ATTEMPT)

    assert await cache.get("0" * 64) is None
    assert cache.errors == 0


async def test_an_attempt_is_forgotten_after_its_time(redis_client):
    cache = RedisAttemptCache(redis_client, keep_seconds=0.02)
    await cache.put(PRINT, ATTEMPT)
    await asyncio.sleep(0.1)

    assert await cache.get(PRINT) is None


async def test_the_first_of_many_leads_and_the_rest_learn_who(cache):
    leaders = await asyncio.gather(*(cache.lead(PRINT, JobId(f"job_{number}")) for number in range(20)))

    assert len(set(leaders)) == 1


async def test_a_leader_that_asks_again_still_leads(cache):
    assert await cache.lead(PRINT, A) == A
    assert await cache.lead(PRINT, A) == A
    assert await cache.lead(PRINT, B) == A


async def test_after_landing_the_next_one_leads(cache):
    await cache.lead(PRINT, A)
    await cache.land(PRINT, A)

    assert await cache.lead(PRINT, B) == B


async def test_only_the_leader_lands_its_flight(cache):
    await cache.lead(PRINT, A)
    await cache.land(PRINT, B)

    assert await cache.lead(PRINT, B) == A


async def test_a_flight_whose_leader_vanished_ends(redis_client):
    cache = RedisAttemptCache(redis_client, flight_seconds=0.02)
    await cache.lead(PRINT, A)
    await asyncio.sleep(0.1)

    assert await cache.lead(PRINT, B) == B


async def test_what_cannot_be_read_is_a_counted_miss(cache, redis_client):
    for spoilt in ("", "not JSON", '{"artifact": "img_1"}', '{"artifact": "img_1", "score": {"value": 7}}'):
        await redis_client.set(f"mq:{{{PRINT}}}:attempt", spoilt)
        assert await cache.get(PRINT) is None

    assert cache.errors == 4


async def test_a_cache_that_is_away_is_a_miss_and_everyone_leads(tmp_path):
    client = open_client(f"unix://{tmp_path}/nobody.sock")
    cache = RedisAttemptCache(client)

    await cache.put(PRINT, ATTEMPT)
    assert await cache.get(PRINT) is None
    assert await cache.lead(PRINT, A) == A
    await cache.land(PRINT, A)

    assert cache.errors == 4
    await client.aclose()
