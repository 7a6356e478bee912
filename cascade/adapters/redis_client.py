"""A Redis client as the adapters of both policy rooms expect it."""

from __future__ import annotations

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

CONNECTIONS = 32
"""Of one process. More callers than that wait their turn instead of opening more."""

CONNECT_SECONDS = 2.0


def open_client(url: str, *, connections: int = CONNECTIONS) -> Redis:
    """A client for `url` (`redis://…`, `rediss://…` or `unix://…`). Nothing is connected yet; close it with `aclose`.

    Replies are decoded to `str`. `protocol` stays unset: redis-py then answers in the shapes that the adapters read,
    an explicit `protocol=3` would change them. A broken connection is replaced once.

    There is no socket timeout, on purpose: with one, redis-py sends through `asyncio.wait_for`, which in Python 3.11
    loses a cancellation that arrives as the sending ends (python/cpython#86296), and the cancelled task runs on. The
    seams of both rooms bound every call with `asyncio.timeout` instead.

    Raises:
        ValueError: the URL cannot be read; the message does not repeat it.
    """
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=connections,
            timeout=CONNECT_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        )
    except ValueError:  # its words quote pieces of the password
        raise ValueError(
            "The server's URL can't be read: write redis://…, rediss://… or unix://…, and %XX for special characters "
            "in its password."
        ) from None
    pool.connection_kwargs.update(socket_timeout=None, decode_responses=True)  # whatever the URL says
    return Redis.from_pool(pool)
