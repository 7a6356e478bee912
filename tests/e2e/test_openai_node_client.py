"""The official Node client, unmodified, against a running gateway: what it goes through stands in `node/flow.mjs`."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

NODE = Path(__file__).parent / "node"
INSTALL_SECONDS, FLOW_SECONDS = 90, 60


def run(*command, folder, seconds, **variables):
    assert shutil.which(command[0]), f"{command[0]} is missing: `make test` installs it, or asks for it"
    done = subprocess.run(
        command,
        cwd=folder,
        env=dict(os.environ) | variables,  # noqa: TID251 - node and npm are found by it
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def client_folder(tmp_path_factory):
    """The client as its lock file pins it, and the flow beside it."""
    folder = tmp_path_factory.mktemp("node")
    for name in ("package.json", "package-lock.json", "flow.mjs"):
        shutil.copy(NODE / name, folder)
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=folder, seconds=INSTALL_SECONDS)
    return folder


@pytest.fixture(scope="session")
def met(client_folder, gateway):
    """What the client met on its way."""
    address = {"OPENAI_BASE_URL": f"{gateway.url}/v1", "OPENAI_API_KEY": gateway.key}
    return json.loads(run("node", "flow.mjs", folder=client_folder, seconds=FLOW_SECONDS, **address))


def picture_in(text):
    return Image.open(io.BytesIO(base64.b64decode(text)))


def test_node_lists_the_models(met):
    assert met["models"] == ["shapes", "shapes-schnell", "shapes-dev"]


def test_node_gets_a_picture_as_base64(met):
    with picture_in(met["plain"]["picture"]) as picture:
        assert (picture.format, picture.size) == ("PNG", (64, 64))
    assert met["plain"]["tokens"] == 16


def test_node_sees_what_was_charged(met):
    assert 0 < met["plain"]["gpuMs"]["charged"] <= met["plain"]["gpuMs"]["held"]


def test_node_gets_a_picture_as_a_link(met):
    with picture_in(met["link"]["picture"]) as picture:
        assert (picture.format, picture.size) == ("JPEG", (64, 64))
    assert met["link"]["type"] == "image/jpeg"


def test_node_gets_three_pictures_with_seed_s_that_are_the_single_ones_with_s_to_s_plus_2(met):
    assert met["together"] == met["alone"]
    assert len(set(met["together"])) == 3


def test_node_gets_the_same_picture_for_the_same_seed_and_the_second_is_free(met):
    assert met["first"]["picture"] == met["second"]["picture"]
    assert int(met["first"]["charged"]) > 0
    assert (met["second"]["charged"], met["second"]["cache"]) == ("0", "maquette; hit")


@pytest.mark.parametrize(
    ("what", "kind", "status", "code", "param"),
    [
        ("key", "AuthenticationError", 401, "invalid_api_key", None),
        ("model", "NotFoundError", 404, "model_not_found", "model"),
        ("size", "BadRequestError", 400, "unsupported_size", "size"),
        ("words", "BadRequestError", 400, "unknown_words", "prompt"),
    ],
)
def test_bad_requests_raise_the_node_clients_own_errors(met, what, kind, status, code, param):
    assert met["refusals"][what] == {"kind": kind, "status": status, "code": code, "param": param}
