"""`X-Request-Id`: taken from the caller when it is harmless, else made; on every answer and in every log line."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar

from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

_HARMLESS = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_HEADER = b"x-request-id"

current_request_id: ContextVar[str] = ContextVar("current_request_id", default="-")
"""The request being handled, for logs."""


class RequestIds(ASGIMiddleware):
    """Gives every request an id and every answer the header."""

    @override
    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Handle one request."""
        given = next((value for name, value in scope["headers"] if name == _HEADER), b"")
        request_id = given.decode() if _HARMLESS.fullmatch(given) else f"req_{secrets.token_hex(12)}"
        scope.setdefault("state", {})["request_id"] = request_id
        current_request_id.set(request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (_HEADER, request_id.encode())]
            await send(message)

        await next_app(scope, receive, send_with_id)
