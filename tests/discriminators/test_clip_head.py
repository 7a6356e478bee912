"""What `ClipHead` promises, on a tiny random CLIP."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cascade.errors import DiscriminatorError, ModelFilesError
from cascade.jobs import Artifact
from cascade.ports import Discriminator
from discriminators.clip_embeddings import ClipEmbeddings
from discriminators.clip_head import ClipHead
from tests.discriminators.judging import picture, request

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

CLIP_FILES = ("maquette.json", "open_clip_config.json", "tokenizer.json", "onnx/image.onnx", "onnx/text.onnx")
HEAD_FILES = ("head.onnx", "calibration.json")


@pytest.fixture
def judge(clip: Path, head: Path) -> Discriminator:
    return ClipHead(clip, head, threads=1)


@pytest.fixture
def copies(clip: Path, head: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Folders that a test may spoil."""
    return Path(shutil.copytree(clip, tmp_path / "clip")), Path(shutil.copytree(head, tmp_path / "head"))


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


async def test_the_same_picture_and_prompt_have_the_same_score(judge: Discriminator) -> None:
    scores = {(await judge.score(request("a red circle"), picture(1, 64, 64))).value for _ in range(3)}

    assert len(scores) == 1


async def test_picture_and_prompt_both_matter(judge: Discriminator) -> None:
    one = await judge.score(request("a red circle"), picture(1, 64, 64))
    another_picture = await judge.score(request("a red circle"), picture(2, 64, 64))
    another_prompt = await judge.score(request("a blue square on the white"), picture(1, 64, 64))

    assert len({one.value, another_picture.value, another_prompt.value}) == 3


async def test_scores_judged_at_once_are_those_judged_alone(judge: Discriminator) -> None:
    jobs = [(request(prompt), picture(seed, 64, 48)) for seed in range(4) for prompt in ("a red circle", "green")]
    alone = [await judge.score(*job) for job in jobs]

    assert await asyncio.gather(*(judge.score(*job) for job in jobs)) == alone


@pytest.mark.parametrize(("logit_of_knots", "score"), [(-1e6, 0.25), (1e6, 0.75)])
async def test_beyond_the_calibrations_knots_the_score_stays_flat(
    copies: tuple[Path, Path], logit_of_knots: float, score: float
) -> None:
    clip, head = copies
    x = [logit_of_knots, logit_of_knots + 1]
    change(head / "calibration.json", knots={"x": x, "y": [0.25, 0.75]})

    judged = await ClipHead(clip, head, threads=1).score(request("a red circle"), picture(1, 64, 64))

    assert judged.value == score


@pytest.mark.parametrize("content", [b"", b"not a picture", picture(1, 64, 64).content[:200]])
async def test_what_is_not_a_picture_cannot_be_judged(judge: Discriminator, content: bytes) -> None:
    with pytest.raises(DiscriminatorError, match="not a picture"):
        await judge.score(request("a red circle"), Artifact(content, 64, 64))


async def test_a_prompt_that_is_not_text_cannot_be_judged(judge: Discriminator) -> None:
    with pytest.raises(DiscriminatorError, match="not valid Unicode"):
        await judge.score(request("a \ud800"), picture(1, 64, 64))


def test_a_head_of_another_clip_is_refused(copies: tuple[Path, Path]) -> None:
    clip, head = copies
    change(clip / "maquette.json", digest="another")

    with pytest.raises(ModelFilesError, match="Head head was trained for another CLIP than clip"):
        ClipHead(clip, head, threads=1)


@pytest.mark.parametrize("which", [0, 1])
def test_a_missing_folder_is_named(copies: tuple[Path, Path], which: int, tmp_path: Path) -> None:
    shutil.rmtree(copies[which])

    with pytest.raises(ModelFilesError, match=f"no model folder {copies[which].name}") as caught:
        ClipHead(*copies, threads=1)
    assert str(tmp_path) not in str(caught.value)


SPOILS = {
    "missing": Path.unlink,
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "garbage": lambda path: path.write_bytes(b"\x7f" * 2000),
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
@pytest.mark.parametrize("name", [*CLIP_FILES, *HEAD_FILES])
def test_a_spoilt_file_is_named(
    copies: tuple[Path, Path], name: str, spoil: Callable[[Path], object], tmp_path: Path
) -> None:
    spoil(copies[name in HEAD_FILES] / name)

    with pytest.raises(ModelFilesError) as caught:
        ClipHead(*copies, threads=1)
    assert name in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("knots", "complaint"),
    [
        ({"x": [0, 1], "y": [0.1]}, "of the same length"),
        ({"x": [], "y": []}, "as rising x and y"),
        ({"x": [1, 0], "y": [0.1, 0.2]}, "as rising x and y"),
        ({"x": [0, 1], "y": [0.3, 0.2]}, "as rising x and y"),
        ({"x": [0, 1], "y": [0.3, 1.2]}, "y as probabilities"),
        ({"x": [0, 1]}, "must give y as a list of numbers"),
        (None, "must give knots as an object"),
    ],
)
def test_a_calibration_that_makes_no_sense_is_refused(copies: tuple[Path, Path], knots: object, complaint: str) -> None:
    clip, head = copies
    change(head / "calibration.json", knots=knots)

    with pytest.raises(ModelFilesError, match=complaint):
        ClipHead(clip, head, threads=1)


def test_a_graph_with_other_inputs_is_refused(copies: tuple[Path, Path]) -> None:
    clip, head = copies
    shutil.copy(clip / "onnx" / "text.onnx", clip / "onnx" / "image.onnx")

    with pytest.raises(ModelFilesError, match=r"onnx/image\.onnx .* must take exactly pixels"):
        ClipHead(clip, head, threads=1)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"mean": [0.5]}, "mean and std as three numbers"),
        ({"std": [0.5, 0.0, 0.5]}, "mean and std as three numbers"),
        ({"context_length": 11}, "must pad and truncate to the context length, 11"),
    ],
)
def test_a_card_that_does_not_fit_the_clip_is_refused(
    copies: tuple[Path, Path], values: dict[str, object], complaint: str
) -> None:
    change(copies[0] / "maquette.json", **values)

    with pytest.raises(ModelFilesError, match=complaint):
        ClipHead(*copies, threads=1)


def test_a_way_of_resizing_that_we_do_not_know_is_refused(copies: tuple[Path, Path]) -> None:
    change(copies[0] / "open_clip_config.json", preprocess_cfg={"resize_mode": "longest"})

    with pytest.raises(ModelFilesError, match="resize_mode as shortest or squash"):
        ClipHead(*copies, threads=1)


def test_a_squashing_clip_sees_the_edges_of_a_wide_picture(copies: tuple[Path, Path]) -> None:
    wide = picture(3, 128, 64).content
    cropped = ClipEmbeddings(copies[0], threads=1).image(wide)
    change(copies[0] / "open_clip_config.json", preprocess_cfg={"resize_mode": "squash"})

    squashed = ClipEmbeddings(copies[0], threads=1).image(wide)

    assert abs(cropped - squashed).max() > 1e-3
