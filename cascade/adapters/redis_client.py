"""A Redis client as the adapters of both policy rooms expect it."""

from __future__ import annotations

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

CONNECTIONS = 32
"""Of one process. More callers than that wait their turn instead of opening more."""

TIMEOUT_SECONDS = 2.0


def open_client(url: str, *, connections: int = CONNECTIONS) -> Redis:
    """A client for `url` (`redis://…`, `rediss://…` or `unix://…`). Nothing is connected yet; close it with `aclose`.

    Replies are decoded to `str`. `protocol` stays unset: redis-py then answers in the shapes that the adapters read,
    an explicit `protocol=3` would change them. A broken connection is replaced once; a silent one is not asked again.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=TIMEOUT_SECONDS,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        decode_responses=True,
        retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
    )
    return Redis.from_pool(pool)
