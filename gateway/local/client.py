"""A small client of the gateway's own API, for the commands. Anyone else can use OpenAI's."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

import httpx

_LONGEST_SECONDS = 600.0


class RefusedError(RuntimeError):
    """The gateway answered with an error; the message is its own."""


class Client:
    """Speaks to one gateway with one key."""

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=_LONGEST_SECONDS, trust_env=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def generate(self, **fields: Any) -> dict[str, Any]:
        """`POST /v1/images/generations` with every field that is not `None`.

        Raises:
            RefusedError: the gateway refused, or does not answer.
        """
        body = {name: value for name, value in fields.items() if value is not None}
        try:
            response = await self._http.post("/v1/images/generations", json=body)
        except httpx.HTTPError as error:
            raise RefusedError(
                f"The gateway does not answer ({type(error).__name__}). Is `maquette up` running?"
            ) from error
        if response.is_error:
            raise RefusedError(_message(response))
        return dict(response.json())

    async def content(self, url: str) -> bytes:
        """The bytes behind a link.

        Raises:
            RefusedError: the link is not valid.
        """
        response = await self._http.get(url)
        if response.is_error:
            raise RefusedError(_message(response))
        return response.content

    async def wait_until_ready(self, seconds: float) -> bool:
        """Wait until every pool has a worker. Returns whether that came in time."""
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            try:
                if (await self._http.get("/readyz", timeout=2)).is_success:
                    return True
            except httpx.HTTPError:
                pass
            await asyncio.sleep(0.05)
        return False


def _message(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"The gateway answered {response.status_code}."
