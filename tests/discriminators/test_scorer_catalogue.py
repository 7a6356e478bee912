"""A catalogue with every kind of judge: it is good, its engine opens, and every judge judges."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.catalogue_file import load
from gateway.compose_engine import JUDGES, open_engine
from tests.discriminators.judging import BUNDLED, picture, request
from tests.discriminators.tiny_scorers import aesthetic_head, build_pickscore, save_calibration, save_head, torch_only

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

CATALOGUE = """\
version: 1
default_model: clip_head
variants:
  light:
    backend: onnx
    folder: {weights}/shapes-schnell
    profile: {{text_ms: 1, evaluation_ms: 1, token_ms: 0, megapixel_ms: 0}}
    license: cc-by-nc-4.0
    license_override: the author sold us another one
pools:
  light: {{variant: light}}
discriminators:
  clip_head: {{kind: clip_head, clip: clip, head: head, milliseconds: 1}}
  clip_score: {{kind: clip_score, clip: clip, milliseconds: 1}}
  open_clip: {{kind: open_clip, clip: authors, calibration: calibration, milliseconds: 1}}
  pickscore: {{kind: pickscore, clip: pick, milliseconds: 1}}
  aesthetic: {{kind: aesthetic, clip: authors, head: laion, milliseconds: 1, license: MIT}}
models:
{models}
"""


@pytest.fixture
def path(patchy_clip: Path, clip: Path, head: Path, tmp_path: Path) -> Path:
    (tmp_path / "clip").symlink_to(clip)
    (tmp_path / "head").symlink_to(head)
    torch_only(patchy_clip, tmp_path / "authors")
    build_pickscore(tmp_path / "pick")
    save_head(tmp_path / "laion", aesthetic_head(2), ".pth")
    save_calibration(tmp_path / "calibration")
    judged = "  {0}: {{routes: {{auto: [{{variant: light, discriminator: {0}, threshold: 0.5}}]}}}}"
    models = "\n".join(judged.format(kind) for kind in JUDGES)
    file = tmp_path / "catalogue.yaml"
    file.write_text(CATALOGUE.format(weights=BUNDLED, models=models))
    return file


async def test_the_engine_of_a_catalogue_with_every_kind_opens_and_judges(path: Path) -> None:
    catalogue = load(path, {})
    engine = open_engine(catalogue, catalogue.pools["light"])

    scores = {
        name: (await judge.score(request("a red circle"), picture(1, 64, 64))).value
        for name, judge in engine.discriminators.items()
    }

    assert set(scores) == set(JUDGES)
    assert all(0 <= score <= 1 for score in scores.values())
    assert scores["open_clip"] in {0.2, 0.7}


def test_an_override_is_logged_once_by_the_worker_that_loads_it(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    catalogue = load(path, {})

    with caplog.at_level(logging.WARNING, "gateway"):
        open_engine(catalogue, catalogue.pools["light"])

    said = [record.getMessage() for record in caplog.records if "override" in record.getMessage()]
    assert said == ["light (cc-by-nc-4.0) is loaded under an override: the author sold us another one"]


def test_config_check_loads_every_kind(path: Path) -> None:
    command = [sys.executable, "-m", "gateway", "config", "check", str(path), "--load", "--json"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)

    assert checked.returncode == 0, checked.stderr
    assert {row["model"] for row in json.loads(checked.stdout)} == set(JUDGES)
