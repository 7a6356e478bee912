"""The demo tenant of an embedded gateway, so that the first request needs no set-up."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from cascade.jobs import TenantId
from gateway.administration import create_key, create_tenant
from gateway.rooms import Rooms
from tenants.errors import TenantExistsError
from tenants.keys import hash_key

DEMO = TenantId("demo")
DEMO_GPU_MS = 3_600_000
"""An hour of the reference GPU."""


def demo_key_file(data_dir: Path) -> Path:
    """Where the demo tenant's key lies, readable by its owner only."""
    return data_dir / "demo.key"


async def ensure_demo(rooms: Rooms, data_dir: Path) -> str:
    """The demo tenant's key; tenant, budget and key are made when they are missing."""
    with contextlib.suppress(TenantExistsError):
        await create_tenant(rooms, DEMO, "Demo", DEMO_GPU_MS)
    path = demo_key_file(data_dir)
    if path.exists():
        key = path.read_text().strip()
        record = await rooms.directory.key(hash_key(rooms.secret, key))
        if record is not None and record.tenant == DEMO:
            return key
    key = await create_key(rooms, DEMO, "demo")
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(key + "\n")
    return key
