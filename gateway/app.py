"""`create_app(rooms)`: the gateway as an ASGI application. Never imports a model."""

from __future__ import annotations

from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.types import ASGIApp

from gateway.http.errors import HANDLERS, HttpRequest
from gateway.http.metrics import Metrics
from gateway.http.outermost import with_head, with_request_ids
from gateway.http.presenting import Presenter
from gateway.http.routes.health import healthz, metrics_page, readyz
from gateway.http.routes.images import create_generation, image_content
from gateway.http.routes.models import get_model, list_models
from gateway.http.routes.page import page, static_file
from gateway.rooms import Rooms

_MOST_BODY_BYTES = 1_000_000


def create_app(rooms: Rooms, public_url: str | None = None) -> ASGIApp:
    """Serve `rooms` over HTTP. Links start with `public_url`, or with where the request was sent."""
    metrics = Metrics()

    def provide_rooms() -> Rooms:
        return rooms

    def provide_metrics() -> Metrics:
        return metrics

    def provide_presenter(request: HttpRequest) -> Presenter:
        return Presenter(rooms, (public_url or str(request.base_url)).rstrip("/"))

    app = Litestar(
        route_handlers=[
            create_generation,
            image_content,
            list_models,
            get_model,
            healthz,
            readyz,
            metrics_page,
            page,
            static_file,
        ],
        dependencies={
            "rooms": Provide(provide_rooms, sync_to_thread=False),
            "metrics": Provide(provide_metrics, sync_to_thread=False),
            "presenter": Provide(provide_presenter, sync_to_thread=False),
        },
        exception_handlers=HANDLERS,
        state=State({"metrics": metrics}),
        openapi_config=OpenAPIConfig(title="Maquette", version="0.1.0", render_plugins=[JsonRenderPlugin()]),
        request_max_body_size=_MOST_BODY_BYTES,
        logging_config=None,
    )
    return with_request_ids(with_head(app))
