"""`maquette discriminator`: from pictures and opinions to a head in service, and back."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from discriminators.training.pairs_folder import append_pair, read_pairs
from tests.discriminators import tiny_clip
from tests.live_gateway import ROOT

pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(600),
]  # each command loads torch; the first test waits for the exporter

PROMPT = "a large red circle on a white background"


def maquette(*arguments: object) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAQUETTE_")}  # noqa: TID251
    return subprocess.run(
        [sys.executable, "-m", "gateway", "discriminator", *map(str, arguments)],
        cwd=ROOT,
        env=kept | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def answer(*arguments: object) -> dict:
    done = maquette(*arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def refusal(*arguments: object) -> str:
    done = maquette(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def clip(tmp_path_factory) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny_clip.build_clip(tmp_path_factory.mktemp("clip"))


def grey(level: float) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (32, 32), (round(level * 255),) * 3).save(stream, "PNG")
    return stream.getvalue()


def write_pairs(folder: Path, prompts: range, *, right: bool = True) -> Path:
    """Grey pictures. The right judge likes bright ones, and every heavy one is half bright; another likes dark ones."""
    folder.mkdir()
    rng = np.random.default_rng([len(prompts), prompts.start])
    (folder / "heavy.png").write_bytes(grey(0.5))
    for prompt in prompts:
        light = float(rng.random())
        (folder / f"{prompt}.png").write_bytes(grey(light))
        line = {"prompt": f"a red circle {prompt}", "light": f"{prompt}.png", "heavy": ["heavy.png"]}
        if right:
            append_pair(folder, line | {"light_utility": light, "heavy_utilities": [0.5], "judge": "a light meter"})
        else:
            append_pair(folder, line | {"preferred": ["heavy" if light > 0.5 else "light"], "judge": "a mole"})
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Path:
    """Three folders: `learn`, `mistake`, and the unseen prompts of `check`."""
    folder = tmp_path_factory.mktemp("pairs")
    write_pairs(folder / "learn", range(200))
    write_pairs(folder / "mistake", range(200, 400), right=False)
    write_pairs(folder / "check", range(1000, 1080))
    return folder


@pytest.fixture(scope="module")
def heads(clip, pairs, tmp_path_factory) -> Path:
    """Two heads: `meter`, which was taught right, and `mole`, which was taught wrong."""
    folder = tmp_path_factory.mktemp("heads")
    for name, taught in (("meter", "learn"), ("mole", "mistake")):
        told = answer("train", "--pairs", pairs / taught, "--clip", clip, "--out", folder / name, "--light", "l-1")
        assert told["splits"] == {"train": 120, "calibrate": 40, "threshold": 20, "test": 20}
    return folder


def test_a_trained_head_comes_with_a_card(heads):
    card = " ".join((heads / "meter" / "README.md").read_text().split())

    assert "l-1" in card
    assert "Utilities by: a light meter." in card
    assert json.loads((heads / "meter" / "calibration.json").read_text())["clip_digest"] == tiny_clip.DIGEST


def test_a_head_is_measured_on_prompts_that_are_new_to_it(clip, pairs, heads):
    new = answer("evaluate", "--pairs", pairs / "check", "--clip", clip, "--head", heads / "meter")
    own = answer("evaluate", "--pairs", pairs / "learn", "--clip", clip, "--head", heads / "meter")

    assert new["heads"]["meter"]["prompts"] == 80
    assert new["heads"]["meter"]["auroc"]["low"] > 0.9
    assert own["heads"]["meter"]["prompts"] == 40


def test_two_heads_are_compared_on_the_same_pairs(clip, pairs, heads):
    told = ("--pairs", pairs / "check", "--clip", clip, "--head", heads / "meter", "--against", heads / "mole")

    apart = answer("evaluate", *told)["difference"]["deferral_area"]
    table = maquette("evaluate", *told).stdout

    assert 0 < apart["low"] <= apart["estimate"] <= apart["high"]
    assert "On 80 pairs of 80 prompts that are new to them" in table
    assert "difference" in table


def test_only_a_better_head_is_promoted_and_it_can_be_taken_back(clip, pairs, heads, tmp_path):
    service = tmp_path / "service"
    to = ("--to", service, "--pairs", pairs / "check", "--clip", clip)

    assert "not shown to be better than escalating at random" in refusal("promote", heads / "mole", *to)
    assert not service.exists()
    assert answer("promote", heads / "mole", *to, "--force")["promoted"]

    better = answer("promote", heads / "meter", *to)
    assert better["difference"]["low"] > 0
    assert (service / "head.onnx").read_bytes() == (heads / "meter" / "head.onnx").read_bytes()

    refused = refusal("promote", heads / "mole", *to)
    assert "not shown to be better than the head in service: deferral area -" in refused
    assert "on 80 prompts that neither was made from" in refused
    assert (service / "head.onnx").read_bytes() == (heads / "meter" / "head.onnx").read_bytes()

    assert maquette("promote", "--to", service, "--rollback").returncode == 0
    assert (service / "head.onnx").read_bytes() == (heads / "mole" / "head.onnx").read_bytes()


def test_a_head_of_another_clip_is_not_promoted_even_by_force(clip, pairs, heads, tmp_path):
    other = tmp_path / "clip"
    subprocess.run(["cp", "-r", clip, other], check=True)
    card = other / "maquette.json"
    card.write_text(json.dumps(json.loads(card.read_text()) | {"digest": "another"}))

    told = ("--to", tmp_path / "service", "--pairs", pairs / "check", "--clip", other, "--force")

    assert "was trained for another CLIP" in refusal("promote", heads / "meter", *told)
    assert not (tmp_path / "service").exists()


def test_pairs_a_head_was_made_from_do_not_speak_for_it(clip, pairs, heads, tmp_path):
    few = write_pairs(tmp_path / "few", range(1000, 1010))

    told = ("--pairs", few, "--clip", clip, "--head", heads / "meter")

    assert "Only 10 prompts are new to every head compared; 30 are needed" in refusal("evaluate", *told)


@pytest.mark.parametrize("kind", ["router", "real-fake"])
def test_the_other_kinds_are_trained_and_measured_alike(clip, pairs, heads, tmp_path, kind):
    out = tmp_path / "head"

    told = answer("train", "--pairs", pairs / "learn", "--clip", clip, "--out", out, "--kind", kind)
    measured = answer("evaluate", "--pairs", pairs / "check", "--clip", clip, "--head", out)

    assert told["kind"] == kind
    assert measured["heads"]["head"]["auroc"]["estimate"] <= 1
    if kind == "router":  # it sees no picture, and so takes no judge's place
        to = ("--to", heads / "meter", "--pairs", pairs / "check", "--clip", clip, "--force")
        assert "Head head is a router head and meter a pair head" in refusal("promote", out, *to)


def test_a_wrong_line_is_named(clip, pairs, tmp_path):
    folder = write_pairs(tmp_path / "pairs", range(3))
    append_pair(folder, {"prompt": "a red circle", "light": "0.png", "heavy": ["heavy.png"]})

    told = refusal("train", "--pairs", folder, "--clip", clip, "--out", tmp_path / "head")

    assert "Line 4 of pairs.jsonl is not judged yet" in told
    assert not (tmp_path / "head").exists()


def test_too_few_pairs_are_refused(clip, tmp_path):
    folder = write_pairs(tmp_path / "pairs", range(3))

    told = refusal("train", "--pairs", folder, "--clip", clip, "--out", tmp_path / "head")

    assert "Collect more." in told


def test_promote_says_what_it_needs(heads, tmp_path):
    assert "give a CANDIDATE, --pairs and --clip" in refusal("promote", heads / "meter", "--to", tmp_path / "service")
    assert "No head was kept before service" in refusal("promote", "--to", tmp_path / "service", "--rollback")


def test_pairs_are_collected_judged_and_gone_on_with(gateway, tmp_path):
    prompts, out = tmp_path / "prompts.txt", tmp_path / "pairs"
    prompts.write_text(f"{PROMPT}\n\n{PROMPT}\na small blue square on a grey background\n")
    judge = ROOT / "shapes" / "weights" / "shapes-clip"
    told = ("collect", "--prompts", str(prompts), "--out", str(out), "--judge", str(judge), "--json")

    first = gateway.command("discriminator", *told)
    assert first.returncode == 0, first.stdout + first.stderr
    assert json.loads(first.stdout) == {"drawn": 2, "known_before": 0}

    lines = read_pairs(out)
    assert [len(line.heavy) for line in lines] == [2, 2]
    assert all(0 < utility < 1 for line in lines for utility in (line.light_utility, *line.heavy_utilities))
    assert len({path.read_bytes() for line in lines for path in (line.light, *line.heavy)}) == 6
    with Image.open(lines[0].light) as picture:
        assert picture.size == (64, 64)

    prompts.write_text(prompts.read_text() + "a small green heart on a white background\n")
    again = gateway.command("discriminator", *told)
    assert json.loads(again.stdout) == {"drawn": 1, "known_before": 2}
    assert read_pairs(out)[:2] == lines


def test_what_a_judge_has_not_filled_in_cannot_be_trained_on(gateway, clip, tmp_path):
    prompts, out = tmp_path / "prompts.txt", tmp_path / "pairs"
    prompts.write_text(PROMPT)
    told = ("collect", "--prompts", str(prompts), "--out", str(out), "--heavy", "1")

    done = gateway.command("discriminator", *told)

    assert "Now fill in light_utility and heavy_utilities, or preferred" in " ".join(done.stdout.split())
    told = ("train", "--pairs", out, "--clip", clip, "--out", tmp_path / "head")
    assert "Line 1 of pairs.jsonl is not judged yet" in refusal(*told)


def test_a_refused_prompt_is_named_by_its_line_and_not_repeated(gateway, tmp_path):
    prompts, out = tmp_path / "prompts.txt", tmp_path / "pairs"
    prompts.write_text(f"{PROMPT}\nan astronaut\n")

    done = gateway.command("discriminator", "collect", "--prompts", str(prompts), "--out", str(out))

    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "Line 2 of the prompts:" in said
    assert "astronaut" not in said
    assert len((out / "pairs.jsonl").read_text().splitlines()) == 1
