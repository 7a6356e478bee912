"""Attempts by fingerprint on Redis or Valkey. Never raises: what cannot be reached or read is a counted miss."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from redis.asyncio import Redis
from typing_extensions import override

from cascade.adapters.redis_seam import Script, as_store_errors
from cascade.errors import StoreUnavailableError
from cascade.jobs import JobId
from cascade.ports import AttemptCache, CachedAttempt

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(CachedAttempt).decode


def _attempt_key(fingerprint: str) -> str:
    return f"mq:{{{fingerprint}}}:attempt"


def _flight_key(fingerprint: str) -> str:
    return f"mq:{{{fingerprint}}}:flight"


class RedisAttemptCache(AttemptCache):
    """Each fingerprint is a hash tag of its own, so a cluster spreads the cache.

    Args:
        keep_seconds: an attempt is forgotten after this.
        flight_seconds: a flight whose leader never lands ends after this; must outlast drawing one request.

    Attributes:
        errors: how often the store could not be used, for the metrics.
    """

    def __init__(self, client: Redis, *, keep_seconds: float = 86_400.0, flight_seconds: float = 60.0) -> None:
        self._client = client
        self._keep_ms = round(keep_seconds * 1000)
        self._flight_ms = round(flight_seconds * 1000)
        self._lead = Script(client, "lead")
        self._land = Script(client, "land")
        self.errors = 0

    @override
    async def get(self, fingerprint: str) -> CachedAttempt | None:
        with self._counting_errors():
            async with as_store_errors():
                kept = await self._client.get(_attempt_key(fingerprint))
            return _decode(kept) if kept is not None else None
        return None

    @override
    async def put(self, fingerprint: str, attempt: CachedAttempt) -> None:
        with self._counting_errors():
            async with as_store_errors():
                await self._client.set(_attempt_key(fingerprint), _encode(attempt), px=self._keep_ms)

    @override
    async def lead(self, fingerprint: str, job_id: JobId) -> JobId:
        with self._counting_errors():
            return JobId(await self._lead([_flight_key(fingerprint)], job_id, self._flight_ms))
        return job_id

    @override
    async def land(self, fingerprint: str, job_id: JobId) -> None:
        with self._counting_errors():
            await self._land([_flight_key(fingerprint)], job_id)

    @contextmanager
    def _counting_errors(self) -> Iterator[None]:
        try:
            yield
        except (StoreUnavailableError, msgspec.DecodeError):
            self.errors += 1
