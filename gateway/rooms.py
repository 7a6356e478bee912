"""The wired ports: what the story of a request is told with."""

from __future__ import annotations

from dataclasses import dataclass, field

from cascade.catalogue import Catalogue
from cascade.clock import Clock
from cascade.ports import ArtifactStore, AttemptCache, JobQueue
from tenants.ports import Directory, Quota


@dataclass(frozen=True, slots=True)
class Limits:
    """Times the story needs, in seconds."""

    sync_seconds: float
    lease_seconds: float
    link_seconds: int


@dataclass(frozen=True, slots=True)
class Rooms:
    """Everything a process of the gateway works with."""

    catalogue: Catalogue
    queue: JobQueue
    attempts: AttemptCache
    artifacts: ArtifactStore
    directory: Directory
    quota: Quota
    clock: Clock
    secret: bytes = field(repr=False)
    limits: Limits
