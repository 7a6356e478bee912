"""What an artifact store promises."""

from __future__ import annotations

import asyncio
import re

import pytest
from obstore.store import MemoryStore

from cascade.adapters.obstore_artifacts import ObstoreArtifacts, open_folder
from cascade.errors import ArtifactMissingError, StoreUnavailableError
from cascade.jobs import ArtifactId, TenantId
from tests.builders import ACME

SECRET = b"a secret of the operator"
GLOBEX = TenantId("globex")
PICTURE = b"\x89PNG\r\n\x1a\n not really" + bytes(range(256))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "artifacts"


@pytest.fixture(params=["folder", "memory"])
def artifacts(request, folder):
    return open_folder(folder, SECRET) if request.param == "folder" else ObstoreArtifacts(MemoryStore(), SECRET)


async def test_what_was_put_comes_back(artifacts):
    assert await artifacts.get(await artifacts.put(ACME, PICTURE)) == PICTURE
    assert await artifacts.get(await artifacts.put(ACME, b"")) == b""


async def test_it_is_known_what_is_there(artifacts):
    artifact = await artifacts.put(ACME, PICTURE)

    assert await artifacts.has(artifact)
    assert not await artifacts.has(ArtifactId(artifact[:-1] + ("0" if artifact[-1] != "0" else "1")))
    assert not await artifacts.has(ArtifactId("../../etc/passwd"))


async def test_what_was_written_over_is_missing(folder):
    artifacts = open_folder(folder, SECRET)
    artifact = await artifacts.put(ACME, PICTURE)
    [path] = folder.rglob("*.png")
    path.write_bytes(b"rubbish")

    assert not await artifacts.has(artifact)
    with pytest.raises(ArtifactMissingError):
        await artifacts.get(artifact)
    assert await artifacts.get(await artifacts.put(ACME, PICTURE)) == PICTURE


async def test_the_id_is_the_same_for_the_same_tenant_and_bytes_only(artifacts):
    first = await artifacts.put(ACME, PICTURE)

    assert await artifacts.put(ACME, PICTURE) == first
    assert await artifacts.put(ACME, PICTURE + b"x") != first
    assert (await artifacts.put(GLOBEX, PICTURE))[17:] != first[17:]


async def test_the_id_is_opaque(artifacts):
    artifact = await artifacts.put(ACME, PICTURE)

    assert re.fullmatch(r"img_[0-9a-f]{12}_[0-9a-f]{32}", artifact)
    assert await open_and_put(MemoryStore(), b"another secret") != artifact


async def open_and_put(store, secret):
    return await ObstoreArtifacts(store, secret).put(ACME, PICTURE)


async def test_an_artifact_is_its_tenants(artifacts):
    artifact = await artifacts.put(ACME, PICTURE)

    assert artifacts.owned_by(artifact, ACME)
    assert not artifacts.owned_by(artifact, GLOBEX)
    assert not artifacts.owned_by(ArtifactId("nonsense"), ACME)


@pytest.mark.parametrize(
    "artifact",
    [
        "img_0123456789ab_" + "0" * 32,
        "img_0123456789ab_" + "0" * 32 + "\n",
        "img_0123456789AB_" + "0" * 32,
        "img_../../../etc_" + "0" * 32,
        "../secret",
        "",
    ],
)
async def test_what_is_not_there_or_is_no_id_is_missing(artifacts, artifact):
    await artifacts.put(ACME, PICTURE)

    with pytest.raises(ArtifactMissingError):
        await artifacts.get(ArtifactId(artifact))


async def test_putting_the_same_at_the_same_time_leaves_one_whole_file(folder):
    artifacts = open_folder(folder, SECRET)
    content = PICTURE * 5_000

    ids = set(await asyncio.gather(*(artifacts.put(ACME, content) for _ in range(20))))

    (artifact,) = ids
    assert await artifacts.get(artifact) == content
    files = [path for path in folder.rglob("*") if path.is_file()]
    _, owner, digest = artifact.split("_")
    assert [path.relative_to(folder).as_posix() for path in files] == [f"{owner}/{digest}.png"]


async def test_no_path_tells_the_tenants_name(folder):
    await open_folder(folder, SECRET).put(ACME, PICTURE)

    assert not [path for path in folder.rglob("*") if "acme" in path.name]


async def test_a_store_that_cannot_write_is_unavailable(folder):
    artifacts = open_folder(folder, SECRET)
    folder.rmdir()
    folder.write_text("a file where the folder was")

    with pytest.raises(StoreUnavailableError):
        await artifacts.put(ACME, PICTURE)
