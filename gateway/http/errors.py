"""From what went wrong to OpenAI's error object, in one table. Never a key, never a prompt, never a stack trace."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException, ValidationException

from cascade import errors as cascade_errors
from gateway import failures
from tenants import errors as tenant_errors

logger = logging.getLogger(__name__)

HttpRequest = Request[Any, Any, Any]

_INVALID, _NOT_FOUND, _AUTH = "invalid_request_error", "not_found_error", "authentication_error"
_PERMISSION, _QUOTA, _SERVER = "permission_error", "insufficient_quota", "server_error"


@dataclass(frozen=True, slots=True)
class Shape:
    """How an exception looks to a caller.

    Attributes:
        retry_after: seconds, when waiting helps; `None` leaves the header out.
        retry: whether OpenAI's SDKs should try again by themselves.
    """

    status: int
    type: str
    code: str
    param: str | None = None
    retry_after: int | None = None
    retry: bool = False


SHAPES: Mapping[type[Exception], Shape] = {
    cascade_errors.UnknownModelError: Shape(404, _NOT_FOUND, "model_not_found", "model"),
    cascade_errors.UnservedSizeError: Shape(400, _INVALID, "unsupported_size", "size"),
    cascade_errors.UnsupportedFieldError: Shape(400, _INVALID, "unsupported_value"),
    cascade_errors.UnknownWordsError: Shape(400, _INVALID, "unknown_words", "prompt"),
    cascade_errors.PromptTooLongError: Shape(400, _INVALID, "prompt_too_long", "prompt"),
    cascade_errors.ModelFilesError: Shape(503, _SERVER, "model_unavailable"),
    cascade_errors.GenerationError: Shape(502, _SERVER, "generation_failed"),
    cascade_errors.DiscriminatorError: Shape(502, _SERVER, "discriminator_failed"),
    cascade_errors.StaleLeaseError: Shape(503, _SERVER, "lease_lost", retry_after=1, retry=True),
    cascade_errors.ArtifactMissingError: Shape(404, _NOT_FOUND, "image_not_found"),
    cascade_errors.StoreUnavailableError: Shape(503, _SERVER, "store_unavailable", retry_after=2, retry=True),
    tenant_errors.InvalidKeyError: Shape(401, _AUTH, "invalid_api_key"),
    tenant_errors.SuspendedError: Shape(403, _PERMISSION, "account_suspended"),
    tenant_errors.UnknownTenantError: Shape(401, _AUTH, "invalid_api_key"),
    tenant_errors.TenantExistsError: Shape(409, _INVALID, "tenant_exists"),
    tenant_errors.QuotaExceededError: Shape(402, _QUOTA, "insufficient_quota"),
    tenant_errors.HeldBackError: Shape(429, "rate_limit_error", "quota_held", retry_after=2, retry=True),
    tenant_errors.NeverFitsError: Shape(422, _QUOTA, "request_exceeds_quota"),
    tenant_errors.BudgetStoreUnavailableError: Shape(
        503, _SERVER, "budget_store_unavailable", retry_after=2, retry=True
    ),
    failures.MissingKeyError: Shape(401, _AUTH, "missing_api_key"),
    failures.LinkError: Shape(403, _PERMISSION, "invalid_link"),
    failures.NotFoundError: Shape(404, _NOT_FOUND, "not_found"),
    failures.NoWorkerError: Shape(503, _SERVER, "no_worker", retry_after=5, retry=True),
    failures.DeadlineExceededError: Shape(504, _SERVER, "deadline_exceeded"),
    failures.GenerationFailedError: Shape(502, _SERVER, "generation_failed"),
}
"""Every exception that a caller may meet."""


def known_error(request: HttpRequest, error: Exception) -> Response[dict[str, Any]]:
    """Render an exception from the table."""
    shape = next(SHAPES[kind] for kind in type(error).__mro__ if kind in SHAPES)
    param = getattr(error, "field", shape.param)
    return _render(request, shape, str(error), param)


def invalid_body(request: HttpRequest, error: ValidationException) -> Response[dict[str, Any]]:
    """Render what is wrong with a body or a query, naming the first field at fault."""
    faults = error.extra if isinstance(error.extra, list) else []
    fault = faults[0] if faults and isinstance(faults[0], dict) else {}
    param = {"data": None, "picture_format": "format"}.get(fault.get("key", ""), fault.get("key")) or None
    message = str(fault.get("message") or "").removeprefix("Value error, ")
    if param is None:
        message = "Send a JSON object with at least a prompt."
    text = f"{param}: {message}" if param else message
    return _render(request, Shape(400, _INVALID, "invalid_value"), text, param)


def http_error(request: HttpRequest, error: HTTPException) -> Response[dict[str, Any]]:
    """Render what the framework refused: unknown paths, wrong methods, bad JSON, bodies that are too large."""
    messages = {
        400: "The body is not valid JSON for this endpoint.",
        404: "There is nothing at this path.",
        405: "This path does not take that method.",
        413: "The body is too large.",
        415: "Send the body as application/json.",
    }
    kind = _NOT_FOUND if error.status_code == 404 else _INVALID if error.status_code < 500 else _SERVER  # noqa: PLR2004
    message = messages.get(error.status_code, "The request could not be handled.")
    return _render(request, Shape(error.status_code, kind, f"http_{error.status_code}"), message, None)


def nested_too_deeply(request: HttpRequest, _: RecursionError) -> Response[dict[str, Any]]:
    """Render the refusal of JSON that no decoder can follow."""
    return _render(request, Shape(400, _INVALID, "http_400"), "The body is nested too deeply.", None)


def unforeseen(request: HttpRequest, error: Exception) -> Response[dict[str, Any]]:
    """A fault of ours: logged, and told apart by nothing but the request's id."""
    logger.error("unforeseen error on %s", request.scope["path"], exc_info=error)
    return _render(request, Shape(500, _SERVER, "internal_error"), "Something went wrong on our side.", None)


HANDLERS: dict[type[Exception] | int, Any] = {
    **dict.fromkeys(SHAPES, known_error),
    ValidationException: invalid_body,
    HTTPException: http_error,
    RecursionError: nested_too_deeply,
    Exception: unforeseen,
}


def _render(request: HttpRequest, shape: Shape, message: str, param: str | None) -> Response[dict[str, Any]]:
    request.app.state.metrics.refused(shape.code)
    headers = {"x-should-retry": "true" if shape.retry else "false"}
    if shape.retry_after is not None:
        headers["Retry-After"] = str(shape.retry_after)
    if shape.status == 401:  # noqa: PLR2004
        headers["WWW-Authenticate"] = "Bearer"
    body = {
        "error": {"message": message, "type": shape.type, "param": param, "code": shape.code},
        "request_id": request.scope.get("state", {}).get("request_id"),
    }
    return Response(body, status_code=shape.status, headers=headers, media_type=MediaType.JSON)
