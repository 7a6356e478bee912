"""`/healthz`, `/readyz`, `/metrics`: for whoever runs the gateway."""

from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency
from pydantic import BaseModel

from gateway.http.metrics import Metrics
from gateway.rooms import Rooms


class PoolOut(BaseModel):
    """A pool as it is now."""

    name: str
    workers: int
    queued: int
    running: int


class ReadyOut(BaseModel):
    """Whether every pool is served."""

    ready: bool
    pools: list[PoolOut]


@get("/healthz", summary="Alive?")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@get("/readyz", summary="Ready?")
async def readyz(rooms: NamedDependency[Rooms]) -> Response[ReadyOut]:
    """200 when the queue answers and every pool has a worker, else 503."""
    states = await rooms.queue.census(tuple(rooms.catalogue.pools))
    pools = [PoolOut(name=s.name, workers=len(s.workers), queued=s.queued, running=s.running) for s in states]
    ready = all(pool.workers for pool in pools)
    return Response(ReadyOut(ready=ready, pools=pools), status_code=200 if ready else 503)


@get("/metrics", summary="Prometheus metrics", media_type="text/plain; version=0.0.4")
async def metrics_page(rooms: NamedDependency[Rooms], metrics: NamedDependency[Metrics]) -> bytes:
    """Prometheus' text format."""
    return metrics.expose(await rooms.queue.census(tuple(rooms.catalogue.pools)))
