"""`maquette bench cascade` on a dozen prompts, with the bundled models."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from bench.cascade.report import Report
from bench.cascade.sheets import CASES
from bench.cascade.table import show

ROOT = Path(__file__).parents[2]


def command(*arguments, **extra):
    return subprocess.run(
        [sys.executable, "-m", "gateway", "bench", "cascade", "--prompts", "12", "--seed", "5", *arguments],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "120", "OMP_NUM_THREADS": "1"} | extra,  # noqa: TID251 - handed to a child
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def measured(folder):
    done = command(
        "--json", "--keep", str(folder), "--plot", str(folder / "curve.png"), "--sheets", str(folder / "sheets")
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def report(measured):
    return Report.model_validate(measured)


pytestmark = pytest.mark.timeout(300)


def test_the_report_has_every_policy_with_what_it_is_worth(measured):
    assert set(measured["policies"]) == {
        "light", "heavy", "cascade", "random", "oracle", "gain_oracle", "real_fake", "cosine", "router",
    }  # fmt: skip
    for row in measured["policies"].values():
        assert 0 <= row["accuracy_interval"][0] <= row["accuracy"] <= row["accuracy_interval"][1] <= 1
        assert 0 <= row["graded"] <= 1
        assert row["gpu_ms"] > 0
    assert {"oracle_gain_share", "ece", "curve", "paired", "per_difficulty", "novel"} <= set(measured)
    assert {"seeds", "versions", "machine", "discriminator_ms", "light_ms", "heavy_ms"} <= set(measured)


def test_costs_add_up(report):
    policies = report.policies
    rate = policies["cascade"].deferral_rate

    assert policies["light"].gpu_ms == pytest.approx(report.light_ms)
    assert policies["heavy"].gpu_ms == pytest.approx(report.heavy_ms)
    assert policies["random"].gpu_ms == pytest.approx(report.light_ms + rate * report.heavy_ms)
    assert report.light_ms + report.discriminator_ms < policies["cascade"].gpu_ms + 1e-6
    assert report.light_ms < report.heavy_ms


def test_all_but_light_and_heavy_climb_at_the_cascades_rate(report):
    rates = {name: row.deferral_rate for name, row in report.policies.items()}

    assert (rates.pop("light"), rates.pop("heavy")) == (0, 1)
    assert list(rates.values()) == pytest.approx([rates["cascade"]] * len(rates))


def test_the_curve_leads_from_light_to_heavy_through_the_cascade(report):
    first, last = report.curve[0], report.curve[-1]
    policies = report.policies

    assert (first.deferral_rate, last.deferral_rate) == (0, 1)
    assert first.accuracy == pytest.approx(policies["light"].accuracy)
    assert last.accuracy == pytest.approx(policies["heavy"].accuracy)
    above = next(point for point in report.curve if point.threshold >= report.shipped.threshold)
    assert above.accuracy == pytest.approx(policies["cascade"].accuracy)
    assert above.gpu_ms == pytest.approx(policies["cascade"].gpu_ms)


def test_thirds_and_novel_pairs_are_reported_apart(report):
    assert {str(level): group.prompts for level, group in report.per_difficulty.items()} == {
        "easy": 4, "medium": 4, "hard": 4,
    }  # fmt: skip
    assert report.novel.prompts == 3
    for name, row in report.policies.items():
        if name in {"light", "heavy", "cascade"}:
            groups = [group.policies[name].accuracy for group in report.per_difficulty.values()]
            assert row.accuracy == pytest.approx(sum(groups) / 3)


def test_true_pictures_are_nearer_to_true_ones_than_the_light_models(report):
    assert report.distribution.renders.cmmd_median < report.distribution.light.cmmd_median


def test_the_pictures_of_the_measurement_are_drawn(measured, folder):
    assert measured["shipped"]["prompts"] == 12
    for name in ("curve.png", *(f"sheets/{case}.png" for case in CASES)):
        with Image.open(folder / name) as picture:
            assert picture.width > 1000


def test_what_was_kept_is_not_drawn_again_and_gives_the_same_report(measured, folder):
    kept = (folder / "drawn.jsonl").read_bytes()

    again = command("--json", "--keep", str(folder))

    assert json.loads(again.stdout) == measured
    assert (folder / "drawn.jsonl").read_bytes() == kept
    assert "drawing anew" not in again.stderr


def test_people_get_one_screen(report):
    console = Console(file=io.StringIO(), width=80)
    show(report, console)
    said = console.file.getvalue()

    assert len(said.splitlines()) < 70
    assert "…" not in said
    for word in ("gain_oracle", "gain share", "deferral area", "calibration error", "seeds", "novel"):
        assert word in said
    assert report.machine["cpu"].split()[0] in said


def test_without_matplotlib_it_says_what_to_install_before_anything_is_drawn(tmp_path):
    absent = "import sys; sys.modules['matplotlib'] = None; sys.argv = ['maquette', *sys.argv[1:]]"
    done = subprocess.run(
        [sys.executable, "-c", f"{absent}; from gateway.__main__ import main; main()", "bench", "cascade", "--plot",
         str(tmp_path / "curve.png")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "needs matplotlib" in done.stderr
    assert "--extra bench" in done.stderr
    assert "Traceback" not in done.stderr


def test_weights_without_a_baseline_are_named_before_anything_is_drawn(tmp_path):
    bundled = ROOT / "shapes" / "weights"
    (tmp_path / "heads").mkdir()
    for path in bundled.iterdir():
        if path.name != "heads":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "heads" / "schnell-vs-dev").symlink_to(bundled / "heads" / "schnell-vs-dev")

    done = command(MAQUETTE_WEIGHTS=str(tmp_path))

    assert done.returncode == 2
    assert "heads/real-vs-generated" in done.stderr
    assert "Traceback" not in done.stderr
    assert "drawing" not in done.stderr
