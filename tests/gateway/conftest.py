"""Rooms on a real Valkey, with workers whose models are replaced by fakes that draw and judge by rule."""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from obstore.store import LocalStore
from PIL import Image

from cascade.adapters.obstore_artifacts import ObstoreArtifacts
from cascade.adapters.redis_attempts import RedisAttemptCache
from cascade.adapters.redis_queue import QueueRules, open_job_queue
from cascade.catalogue import Catalogue, DiscriminatorEntry, Model, Pool, Sizes, Step, Variant
from cascade.errors import GenerationError
from cascade.jobs import Artifact, Score, TenantId
from cascade.pricing import DurationProfile
from gateway.administration import create_key, create_tenant
from gateway.app import create_app
from gateway.rooms import Limits, Rooms
from gateway.system_clock import SystemClock
from gateway.worker import Engine, work
from tenants.adapters.redis_directory import RedisDirectory
from tenants.adapters.redis_quota import RedisQuota
from tests.conftest import running_server

SECRET = b"a secret of sixteen bytes or more"
LEASE_SECONDS = 0.6
PROFILE = DurationProfile(text_ms=50, evaluation_ms=10, token_ms=1, megapixel_ms=0, band=20)
SIZES = Sizes(multiple=16, least=32, most=256, native=(64, 64))


@pytest.fixture(scope="session")
def redis_server():
    """The hall is tested on one server; that both behave alike is the contracts' business."""
    with running_server("valkey") as server:
        yield server


def a_variant(name, **fields):
    defaults = {
        "backend": "onnx", "folder": Path(name), "weights": f"digest-{name}", "steps": 4, "most_steps": 50,
        "guidance": None, "negative_prompt": False, "sizes": SIZES, "profile": PROFILE,
        "vocabulary": frozenset(["a", "red", "blue", "circle", "square", "hard", "slow", "broken", "on", "white"]),
    }  # fmt: skip
    return Variant(name=name, **(defaults | fields))


@pytest.fixture
def catalogue():
    light, heavy = a_variant("light"), a_variant("heavy", steps=20)
    cascade = (Step("light", "judge", 0.5), Step("heavy", None, 0.0))
    return Catalogue(
        variants={"light": light, "heavy": heavy},
        pools={
            "light": Pool("light", "light", workers=1, threads=1, most_pixels=2**16),
            "heavy": Pool("heavy", "heavy", workers=1, threads=1, most_pixels=2**16),
        },
        discriminators={"judge": DiscriminatorEntry("judge", "clip_head", {}, 1.0, (0.0, 1.0))},
        models={
            "both": Model("both", {"preview": (cascade[1],), "auto": cascade, "final": (Step("heavy", None, 0.0),)}),
            "heavy": Model("heavy", {"auto": (Step("heavy", None, 0.0),)}),
        },
        default_model="both",
    )


class Painter:
    """Draws one colour, made of everything that identifies a picture. "slow" prompts block, "broken" ones fail."""

    def __init__(self, breaks=False):
        self.drawn = Counter()
        self.breaks = breaks
        self.gate = asyncio.Event()
        self.cancelled = 0

    async def generate(self, request, stage, seed, on_step):
        self.drawn[(request.prompt, seed)] += 1
        if "slow" in request.prompt:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if self.breaks and "broken" in request.prompt:
            raise GenerationError("The engine failed on this picture.")
        await asyncio.sleep(0.005)
        identity = f"{stage.variant} {request.prompt} {request.width}x{request.height} {seed}"
        colour = tuple(hashlib.sha256(identity.encode()).digest()[:3])
        out = io.BytesIO()
        Image.new("RGB", (request.width, request.height), colour).save(out, "PNG")
        return Artifact(out.getvalue(), request.width, request.height)

    async def warm_up(self):
        """Nothing to do."""


class Judge:
    """Finds everything good but "hard" prompts."""

    async def score(self, request, artifact):
        return Score(0.2 if "hard" in request.prompt else 0.9)


@pytest.fixture
async def rooms(redis_client, catalogue, tmp_path):
    async with open_job_queue(redis_client, QueueRules(lease_seconds=LEASE_SECONDS)) as queue:
        yield Rooms(
            catalogue=catalogue,
            queue=queue,
            attempts=RedisAttemptCache(redis_client),
            artifacts=ObstoreArtifacts(LocalStore(tmp_path), SECRET),
            directory=RedisDirectory(redis_client),
            quota=RedisQuota(redis_client),
            clock=SystemClock(),
            secret=SECRET,
            limits=Limits(sync_seconds=20, lease_seconds=LEASE_SECONDS, link_seconds=60),
        )


@pytest.fixture
def painters():
    return {"light": Painter(breaks=True), "heavy": Painter(breaks=True)}


@pytest.fixture
def start_workers(rooms, painters):
    """Run a worker for each of the named pools while inside."""

    @asynccontextmanager
    async def started(*pools):
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for pool in pools:
                engine = Engine(rooms.catalogue.pools[pool], painters[pool], {"judge": Judge()})
                group.create_task(work(rooms, engine, f"worker-{pool}", stop))
                await rooms.queue.beat(pool, f"worker-{pool}")
            try:
                yield
            finally:
                stop.set()

    return started


@pytest.fixture
async def workers(start_workers):
    async with start_workers("light", "heavy"):
        yield


@pytest.fixture
async def acme(rooms):
    """A tenant with ten GPU-minutes."""
    await create_tenant(rooms, "acme", "Acme", 600_000)
    return await rooms.directory.tenant(TenantId("acme"))


@pytest.fixture
async def zenith(rooms):
    """Another."""
    await create_tenant(rooms, "zenith", "Zenith", 600_000)
    return await rooms.directory.tenant(TenantId("zenith"))


@pytest.fixture
async def key(rooms, acme):
    return await create_key(rooms, acme.id, "test")


@pytest.fixture
async def http(rooms, key):
    """A client with acme's key, in the test's own loop."""
    app = create_app(rooms)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app, raise_app_exceptions=False),
        base_url="http://gateway.test",
        headers={"Authorization": f"Bearer {key}"},
        timeout=30,
    ) as client:
        yield client
