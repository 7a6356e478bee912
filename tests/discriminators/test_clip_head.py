"""What `ClipHead` promises, on a tiny random CLIP."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cascade.errors import DiscriminatorError, ModelFilesError
from cascade.jobs import Artifact
from cascade.ports import Discriminator
from discriminators.calibrated_head import Kind
from discriminators.clip_embeddings import ClipEmbeddings
from discriminators.clip_head import ClipHead
from discriminators.training.fitting import Recipe, TruePictures
from discriminators.training.head_folder import Names, write_head
from discriminators.training.pairs import uniform
from discriminators.training.trained import train
from tests.discriminators.judging import picture
from tests.discriminators.judging import request as drawing_of

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
    scores = {(await judge.score(drawing_of("a red circle"), picture(1, 64, 64))).value for _ in range(3)}

    assert len(scores) == 1


async def test_picture_and_prompt_both_matter(judge: Discriminator) -> None:
    one = await judge.score(drawing_of("a red circle"), picture(1, 64, 64))
    another_picture = await judge.score(drawing_of("a red circle"), picture(2, 64, 64))
    another_prompt = await judge.score(drawing_of("a blue square on the white"), picture(1, 64, 64))

    assert len({one.value, another_picture.value, another_prompt.value}) == 3


async def test_scores_judged_at_once_are_those_judged_alone(judge: Discriminator) -> None:
    jobs = [(drawing_of(prompt), picture(seed, 64, 48)) for seed in range(4) for prompt in ("a red circle", "green")]
    alone = [await judge.score(*job) for job in jobs]

    assert await asyncio.gather(*(judge.score(*job) for job in jobs)) == alone


def train_on_brightness(clip: Path, place: Path, kind: Kind) -> Path:
    """A head that was taught that the heavy tier beats dark pictures and never bright ones."""
    eyes = ClipEmbeddings(clip, threads=1)
    contents = [grey(number * 255 // 199) for number in range(200)]
    image = np.concatenate([eyes.image(content) for content in contents])
    light = np.linspace(0, 1, 200).astype(np.float32)
    pairs = uniform(image, np.repeat(eyes.text("a red circle"), 200, axis=0), light, np.full((200, 1), 0.5, np.float32))
    bright = TruePictures(image[100:], np.full(100, -1))
    names = Names("bright", "light", "heavy", eyes.digest, "a light meter")
    write_head(place, train(pairs, Recipe(kind=kind), bright), names)
    return place


def grey(level: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (32, 32), (level, level, level)).save(stream, "PNG")
    return stream.getvalue()


@pytest.mark.parametrize("kind", [Kind.PAIR, Kind.REAL_FAKE])
@pytest.mark.parametrize("eyes", ["clip", "patchy_clip"])
async def test_a_trained_head_keeps_what_the_heavy_tier_would_not_beat(
    eyes: str, kind: Kind, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    clip = request.getfixturevalue(eyes)
    judge = ClipHead(clip, train_on_brightness(clip, tmp_path / "bright", kind), threads=1)

    dark, bright = [
        (await judge.score(drawing_of("a red circle"), Artifact(grey(level), 32, 32))).value for level in (20, 235)
    ]

    assert dark < 0.3
    assert bright > 0.7


def test_a_head_trained_without_patches_is_refused_by_a_clip_that_shows_them(
    clip: Path, patchy_clip: Path, tmp_path: Path
) -> None:
    """The digests of both are the same, for the test; the widths are not."""
    head = train_on_brightness(clip, tmp_path / "bright", Kind.PAIR)

    with pytest.raises(
        ModelFilesError, match="trained on 16 features of a picture and 16 of a prompt; this CLIP gives 80"
    ):
        ClipHead(patchy_clip, head, threads=1)


@pytest.mark.parametrize(("logit_of_knots", "score"), [(-1e6, 0.25), (1e6, 0.75)])
async def test_beyond_the_calibrations_knots_the_score_stays_flat(
    copies: tuple[Path, Path], logit_of_knots: float, score: float
) -> None:
    clip, head = copies
    x = [logit_of_knots, logit_of_knots + 1]
    change(head / "calibration.json", knots={"x": x, "y": [0.25, 0.75]})

    judged = await ClipHead(clip, head, threads=1).score(drawing_of("a red circle"), picture(1, 64, 64))

    assert judged.value == score


@pytest.mark.parametrize("content", [b"", b"not a picture", picture(1, 64, 64).content[:200]])
async def test_what_is_not_a_picture_cannot_be_judged(judge: Discriminator, content: bytes) -> None:
    with pytest.raises(DiscriminatorError, match="not a picture"):
        await judge.score(drawing_of("a red circle"), Artifact(content, 64, 64))


async def test_a_prompt_that_is_not_text_cannot_be_judged(judge: Discriminator) -> None:
    with pytest.raises(DiscriminatorError, match="not valid Unicode"):
        await judge.score(drawing_of("a \ud800"), picture(1, 64, 64))


def test_a_head_of_another_clip_is_refused(copies: tuple[Path, Path]) -> None:
    clip, head = copies
    change(clip / "maquette.json", digest="another")

    with pytest.raises(ModelFilesError, match="Head head was trained for another CLIP"):
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
