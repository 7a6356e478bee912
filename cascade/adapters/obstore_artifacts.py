"""Encoded pictures on a folder or an object store, content-addressed under their tenant.

An artifact's id and path are made of keyed hashes: neither tells the tenant's name, what is drawn, or whether another
tenant has the same picture.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, ObjectStore
from typing_extensions import override

from cascade.errors import ArtifactMissingError, StoreUnavailableError
from cascade.jobs import ArtifactId, TenantId
from cascade.ports import ArtifactStore

_ID = re.compile(r"img_([0-9a-f]{12})_([0-9a-f]{32})")


def open_folder(folder: Path, secret: bytes) -> ObstoreArtifacts:
    """Artifacts under `folder`, which is made if it does not exist."""
    return ObstoreArtifacts(LocalStore(folder, mkdir=True), secret)


class ObstoreArtifacts(ArtifactStore):
    """Artifacts at `<owner>/<digest>.png` of any store that obstore knows.

    Storing is atomic (a store shows an object whole or not at all) and repeating it writes the same bytes again.

    Args:
        secret: keys the hashes; with another one, earlier artifacts belong to nobody.
    """

    def __init__(self, store: ObjectStore, secret: bytes) -> None:
        self._store = store
        self._secret = secret

    @override
    async def put(self, tenant: TenantId, content: bytes) -> ArtifactId:
        owner = self._owner(tenant)
        digest = self._digest(owner, content)
        with _as_store_errors():
            await self._store.put_async(_path(owner, digest), content)
        return ArtifactId(f"img_{owner}_{digest}")

    @override
    async def get(self, artifact_id: ArtifactId) -> bytes:
        match = _ID.fullmatch(artifact_id)
        if match is None:
            raise _missing()
        with _as_store_errors():
            found = await self._store.get_async(_path(match[1], match[2]))
            content = bytes(await found.bytes_async())
        if not hmac.compare_digest(match[2], self._digest(match[1], content)):
            raise _missing()  # something wrote over it
        return content

    @override
    async def has(self, artifact_id: ArtifactId) -> bool:
        try:
            await self.get(artifact_id)
        except ArtifactMissingError:
            return False
        return True

    @override
    def owned_by(self, artifact_id: ArtifactId, tenant: TenantId) -> bool:
        match = _ID.fullmatch(artifact_id)
        return match is not None and hmac.compare_digest(match[1], self._owner(tenant))

    def _owner(self, tenant: TenantId) -> str:
        return self._keyed(f"owner:{tenant}")[:12]

    def _digest(self, owner: str, content: bytes) -> str:
        return self._keyed(f"art:{owner}:{hashlib.sha256(content).hexdigest()}")[:32]

    def _keyed(self, message: str) -> str:
        return hmac.new(self._secret, message.encode(), hashlib.sha256).hexdigest()


def _path(owner: str, digest: str) -> str:
    return f"{owner}/{digest}.png"


def _missing() -> ArtifactMissingError:
    return ArtifactMissingError("There is no such artifact.")


@contextmanager
def _as_store_errors() -> Iterator[None]:
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise _missing() from error
    except (BaseError, OSError) as error:
        raise StoreUnavailableError("The artifact store does not answer. Try again shortly.") from error
