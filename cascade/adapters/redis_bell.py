"""Wakes many waiting coroutines from one subscriber connection.

A ring is a hint, never the truth: messages may be lost while the connection is down, so whoever waits looks again
from time to time, and everyone is woken after each new subscription.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

SILENCE_SECONDS = 5.0
"""After so long without a message we ask whether the server still hears us; after as long again, reconnect."""

RECONNECT_SECONDS = 0.2
CONNECT_SECONDS = 2.0

_log = logging.getLogger(__name__)


class Bell:
    """One subscription to fixed channels; a message's payload is the word its waiters listen for."""

    def __init__(self, client: Redis, *channels: str) -> None:
        self._client = client
        self._channels = channels
        self._lost = False
        self._waiting: defaultdict[tuple[str, str], set[asyncio.Event]] = defaultdict(set)

    @contextmanager
    def hear(self, channel: str, word: str) -> Iterator[asyncio.Event]:
        """An event that is set whenever `word` may have been said on `channel`. Enter, then look, then wait."""
        event = asyncio.Event()
        self._waiting[channel, word].add(event)
        try:
            yield event
        finally:
            waiting = self._waiting[channel, word]
            waiting.discard(event)
            if not waiting:
                del self._waiting[channel, word]

    async def listen(self) -> None:
        """Listen until cancelled, reconnecting as often as it takes."""
        while True:
            try:
                await self._subscription()
            except (RedisError, OSError) as error:
                if not self._lost:  # once per outage, and no words of redis-py's: they quote addresses
                    _log.warning("The subscription to %s broke (%s).", self._channels, type(error).__name__)
                self._lost = True
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _subscription(self) -> None:
        async with self._client.pubsub() as pubsub:
            async with asyncio.timeout(CONNECT_SECONDS):
                await pubsub.subscribe(*self._channels)
            if self._lost:
                _log.info("Subscribed to %s again.", self._channels)
            self._lost = asked = False
            while True:
                message = await pubsub.get_message(timeout=SILENCE_SECONDS)
                if message is not None:
                    asked = False
                    self._pass_on(message["type"], message["channel"], message["data"])
                elif asked:
                    raise RedisConnectionError("the server has gone silent")
                else:
                    asked = True
                    await pubsub.ping()

    def words(self, channel: str) -> Sequence[str]:
        """What is being waited for on `channel`."""
        return tuple(word for its_channel, word in self._waiting if its_channel == channel)

    def ring(self, channel: str, word: str) -> None:
        """Wake those who wait for `word` on `channel`."""
        for event in self._waiting.get((channel, word), ()):
            event.set()

    def _pass_on(self, kind: str, channel: str, word: str) -> None:
        if kind == "message":
            self.ring(channel, word)
        elif kind == "subscribe":  # also by redis-py after a reconnect: what was said meanwhile is lost
            for events in self._waiting.values():
                for event in events:
                    event.set()
