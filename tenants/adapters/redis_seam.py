"""Where Redis ends and the tenants' books begin: errors, patience and scripts.

The same shape as the cascade's seam; the rooms share no adapter, so each translates to its own error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import (
    ClusterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tenants.errors import BudgetStoreUnavailableError

PATIENCE_SECONDS = 2.0
"""No call takes longer, whatever the client's own timeouts are."""

AWAY = (
    RedisConnectionError,  # refused, closed, loading its data, or we may not log in
    RedisTimeoutError,
    ReadOnlyError,
    OutOfMemoryError,
    ClusterDownError,
    TryAgainError,
    OSError,  # includes TimeoutError
)
AWAY_CODES = ("BUSY", "MISCONF", "NOREPLICAS", "UNKILLABLE")
"""Codes of the same meaning for which redis-py has no class."""


@asynccontextmanager
async def as_budget_errors() -> AsyncIterator[None]:
    """Translate "the server cannot serve us now" to the port's error; a wrong script or command stays what it is."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield
    except AWAY as error:
        raise BudgetStoreUnavailableError from error
    except ResponseError as error:
        if not str(error).startswith(AWAY_CODES):
            raise
        raise BudgetStoreUnavailableError from error


class Script:
    """A Lua file of this folder, run by its hash and sent again to a server that forgot it."""

    def __init__(self, client: Redis, name: str) -> None:
        if not client.connection_pool.connection_kwargs.get("decode_responses"):
            raise ValueError("the adapters read text: open the client with decode_responses=True")
        self._run = client.register_script((Path(__file__).parent / f"{name}.lua").read_text())

    async def __call__(self, keys: Sequence[str], *arguments: str | int) -> Any:
        """What the script returns.

        Raises:
            BudgetStoreUnavailableError: the server does not answer.
        """
        async with as_budget_errors():
            return await self._run(keys=keys, args=arguments)
