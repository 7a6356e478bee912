"""`POST /v1/images/generations` and the pictures' content."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from cascade.jobs import ArtifactId
from gateway import flow
from gateway.failures import NotFoundError
from gateway.flow import Ask
from gateway.http import links, presenting, schemas
from gateway.http.auth import authenticate
from gateway.http.errors import HttpRequest
from gateway.http.formats import MEDIA_TYPES, deliver
from gateway.http.metrics import Metrics
from gateway.http.presenting import Presenter
from gateway.rooms import Rooms
from gateway.timings import Timings

_IMMUTABLE = {"Cache-Control": "private, max-age=3600, immutable", "X-Content-Type-Options": "nosniff"}


@post("/v1/images/generations", status_code=200, summary="Draw pictures")
async def create_generation(
    request: HttpRequest,
    data: JSONBody[schemas.GenerationIn],
    rooms: NamedDependency[Rooms],
    metrics: NamedDependency[Metrics],
    presenter: NamedDependency[Presenter],
) -> Response[schemas.ImagesOut]:
    """Draw pictures: light first, heavy when needed; priced before it runs, charged what ran."""
    started, timings = time.perf_counter(), Timings()
    with timings.measure("auth"):
        tenant = await authenticate(rooms, request.headers.get("authorization"))
    wanted = schemas.to_request(data, rooms.catalogue, rooms.secret, tenant)
    read, write = _cache_use(data, request.headers.get("cache-control", ""))
    model = data.model or rooms.catalogue.default_model
    answer = await flow.generate(rooms, Ask(tenant, model, data.route, wanted, read, write, timings))
    with timings.measure("render"):
        body = await presenter.body(data, answer)
    metrics.answered(answer.job, answer.charged_gpu_ms, time.perf_counter() - started)
    return Response(body, headers=presenting.headers(answer, timings, cached_use=read))


@get("/v1/images/{image_id:str}/content", summary="A picture's bytes", media_type="image/png")
async def image_content(
    request: HttpRequest,
    image_id: FromPath[str],
    rooms: NamedDependency[Rooms],
    picture_format: Annotated[schemas.Format, QueryParameter(name="format")] = "png",
    expires: Annotated[int | None, QueryParameter()] = None,
    signature: Annotated[str | None, QueryParameter()] = None,
) -> Response[bytes]:
    """A picture by its signed link, or by its id with a key of the tenant that owns it."""
    artifact_id = ArtifactId(image_id)
    if signature is not None:
        now = rooms.clock.now_ms() / 1000
        links.verify(rooms.secret, artifact_id, picture_format, expires or 0, signature, now=now)
    else:
        tenant = await authenticate(rooms, request.headers.get("authorization"))
        if not rooms.artifacts.owned_by(artifact_id, tenant.id):
            raise NotFoundError("image")
    png = await rooms.artifacts.get(artifact_id)
    content = await asyncio.to_thread(deliver, png, picture_format)
    return Response(content, media_type=MEDIA_TYPES[picture_format], headers=_IMMUTABLE)


def _cache_use(wire: schemas.GenerationIn, cache_control: str) -> tuple[bool, bool]:
    """Whether the cache may be read and written: seeded requests unless forbidden, others when asked."""
    directives = {directive.strip().lower() for directive in cache_control.split(",")}
    repeatable = wire.cache != "never" and (wire.seed is not None or wire.cache == "always")
    keep = repeatable and "no-store" not in directives
    return keep and "no-cache" not in directives, keep
