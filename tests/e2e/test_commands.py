"""The command line, as a person or a script uses it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

from gateway.settings import Settings
from tests.live_gateway import ROOT, Gateway

PROMPT = "a large red circle on a white background"
WEIGHTS = ROOT / "shapes" / "weights"


def size_of(path):
    with Image.open(path) as picture:
        return picture.size


def test_generate_saves_pictures_and_says_what_they_cost(gateway, tmp_path):
    done = gateway.command("generate", PROMPT, "--seed", "3", "--n", "2", "--out", str(tmp_path), "--json")

    answer = json.loads(done.stdout)
    assert [Path(row["file"]).name for row in answer["pictures"]] == ["maquette-3.png", "maquette-4.png"]
    assert size_of(tmp_path / "maquette-4.png") == (64, 64)
    assert answer["gpu_ms"]["charged"] == sum(row["gpu_ms"] for row in answer["pictures"])


def test_the_demo_draws_shows_and_stops(tmp_path):
    demo = Gateway(tmp_path)

    done = demo.command("up", "--demo", "--once")

    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" ≥ ") + done.stdout.count(" < ") == 10
    assert "from the cache, 0 GPU-ms" in done.stdout
    assert "signature" not in done.stderr
    assert size_of(tmp_path / "demo.png")[0] > 1000
    assert demo.children() == []


def test_generate_says_what_was_refused(gateway):
    done = gateway.command("generate", "an astronaut")

    assert done.returncode == 2
    assert "does not know word" in " ".join(done.stderr.split())


def test_the_strip_shows_ten_prompts(gateway, tmp_path):
    assert gateway.command("strip", str(tmp_path / "strip.png")).returncode == 0

    assert size_of(tmp_path / "strip.png")[0] > 1000


def test_tenants_and_keys_are_made_listed_and_revoked(gateway):
    assert gateway.command("tenants", "create", "acme", "--gpu-ms", "5000").returncode == 0
    key = json.loads(gateway.command("keys", "create", "acme", "--label", "ci", "--json").stdout)["key"]

    listed = gateway.command("keys", "list", "acme", "--json").stdout
    assert key not in listed
    assert json.loads(listed)[0]["label"] == "ci"
    assert gateway.command("keys", "revoke", "acme", key[-4:]).returncode == 0
    assert gateway.command("generate", PROMPT, "--key", key).returncode == 2
    assert gateway.command("tenants", "create", "acme", "--gpu-ms", "1").returncode == 2
    assert gateway.command("keys", "create", "nobody").returncode == 2


def test_the_bundled_catalogue_is_good_and_loads(gateway):
    done = gateway.command("config", "check", "--load", "--json")

    assert done.returncode == 0
    assert {row["model"] for row in json.loads(done.stdout)} == {"shapes", "shapes-schnell", "shapes-dev"}


@pytest.fixture
def spoilt(gateway, tmp_path):
    """Check a copy of the bundled models after `spoil` has had its way with it."""

    def check(spoil):
        weights = tmp_path / "weights"
        shutil.copytree(WEIGHTS, weights)
        spoil(weights)
        gateway_environment = gateway.extra.copy()
        gateway.extra["MAQUETTE_WEIGHTS"] = str(weights)
        try:
            return gateway.command("config", "check", "--load")
        finally:
            gateway.extra.clear()
            gateway.extra.update(gateway_environment)

    return check


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda weights: shutil.rmtree(weights / "shapes-dev"), "shapes-dev is not a model folder"),
        (lambda weights: (weights / "shapes-dev/onnx/transformer.onnx").unlink(), "transformer.onnx"),
        (lambda weights: (weights / "shapes-dev/onnx/transformer.onnx").write_bytes(b"rubbish"), "transformer.onnx"),
        (lambda weights: (weights / "shapes-schnell/tokenizer/tokenizer.json").write_text("{"), "tokenizer.json"),
        (lambda weights: (weights / "heads/schnell-vs-dev/head.onnx").write_bytes(b""), "head.onnx"),
    ],
)
def test_spoilt_models_are_named(spoilt, spoil, said):
    done = spoilt(spoil)

    message = "".join(done.stderr.split())
    assert done.returncode == 2
    assert "error:" in message
    assert said.replace(" ", "") in message
    assert "Traceback" not in message


def test_every_setting_stands_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    assert [name for name in Settings.model_fields if f"MAQUETTE_{name.upper()}" not in readme] == []


def test_every_command_of_the_readme_exists(gateway):
    readme = (ROOT / "README.md").read_text()
    for command in set(re.findall(r"^maquette (\w+)", readme, re.MULTILINE)):
        assert gateway.command(command, "--help").returncode == 0, command
