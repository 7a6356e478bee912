"""What every request gets before the framework sees it, found or not: an id, and HEAD answered as GET would be."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar

from litestar.enums import HttpMethod, ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

_HARMLESS = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_HEADER = b"x-request-id"

current_request_id: ContextVar[str] = ContextVar("current_request_id", default="-")
"""The request being handled, for logs."""


def with_request_ids(app: ASGIApp) -> ASGIApp:
    """`X-Request-Id` on every answer and in every log line: the caller's when it is harmless, else made."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == _HEADER), b"")
        request_id = given.decode() if _HARMLESS.fullmatch(given) else f"req_{secrets.token_hex(12)}"
        scope.setdefault("state", {})["request_id"] = request_id
        current_request_id.set(request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (_HEADER, request_id.encode())]
            await send(message)

        await app(scope, receive, send_with_id)

    return handle


def with_head(app: ASGIApp) -> ASGIApp:
    """HEAD is GET without the body (RFC 9110, section 9.3.2): load balancers ask so."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] != HttpMethod.HEAD:
            await app(scope, receive, send)
            return

        async def send_start(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)  # its headers, the body's length among them, are those of GET
            elif message["type"] == "http.response.body" and not message.get("more_body"):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        await app({**scope, "method": HttpMethod.GET}, receive, send_start)

    return handle
