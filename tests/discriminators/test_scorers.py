"""The published scorers give what their authors' own code gives, and a score in 0..1 of it."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cascade.errors import DiscriminatorError, ModelFilesError
from cascade.jobs import Artifact
from discriminators.aesthetic import Aesthetic, share_of_scale
from discriminators.clip_score import ClipScore, weighted_cosine
from discriminators.open_clip_score import OpenClipScore, against_reference
from discriminators.pickscore import PickScore
from discriminators.scoring import RawScorer
from tests.discriminators.judging import SIZES, picture, request
from tests.discriminators.tiny_clip import DIGEST
from tests.discriminators.tiny_scorers import aesthetic_head, build_pickscore, save_calibration, save_head, torch_only

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

TOLERANCE = 1e-5
PROMPTS = ("a red circle", "a red circle above the blue square", "red " * 60)
CASES = [(prompt, picture(seed, *size)) for seed, (prompt, size) in enumerate(zip(PROMPTS, SIZES, strict=False))]


@pytest.fixture(scope="module")
def authors_clip(patchy_clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return torch_only(patchy_clip, tmp_path_factory.mktemp("authors") / "clip")


@pytest.fixture(scope="module")
def pick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_pickscore(tmp_path_factory.mktemp("pickscore"))


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGB")


def their_open_clip(folder: Path) -> Callable[[str, bytes], tuple[Any, Any]]:
    """(image features, text features), normalised, as HPS v2's `img_score.py` asks for them."""
    import open_clip
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}", output_dict=True)
        tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    model.eval()

    def features(prompt: str, content: bytes) -> tuple[Any, Any]:
        with torch.no_grad():
            outputs = model(preprocess(opened(content))[None], tokenizer([prompt]))
        return outputs["image_features"], outputs["text_features"]

    return features


@pytest.mark.parametrize("scorer", [ClipScore, OpenClipScore])
@pytest.mark.parametrize("graphs", [True, False])
def test_a_cosine_is_that_of_open_clips_own_features(
    scorer: type[ClipScore | OpenClipScore], authors_clip: Path, patchy_clip: Path, *, graphs: bool
) -> None:
    theirs = their_open_clip(authors_clip)
    ours = scorer(patchy_clip if graphs else authors_clip, None, threads=1)

    for prompt, artifact in CASES:
        image, text = theirs(prompt, artifact.content)
        assert ours.raw(prompt, artifact.content) == pytest.approx((image @ text.T).item(), abs=TOLERANCE)


def test_pickscore_is_transformers_own_logit(pick: Path) -> None:
    import torch
    from transformers import CLIPModel, CLIPProcessor

    model, processor = CLIPModel.from_pretrained(pick).eval(), CLIPProcessor.from_pretrained(pick)
    ours = PickScore(pick, None, threads=1)

    for prompt, artifact in CASES:
        inputs = processor(
            text=[prompt], images=[opened(artifact.content)], padding=True, truncation=True, max_length=77,
            return_tensors="pt",
        )  # fmt: skip
        with torch.no_grad():
            expected = model(**inputs).logits_per_image.item()
        assert abs(expected) > 0.01
        assert ours.raw(prompt, artifact.content) == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("suffix", [".safetensors", ".pth"])
def test_an_aesthetic_rating_is_that_of_laions_own_module(
    authors_clip: Path, version: int, suffix: str, tmp_path: Path
) -> None:
    import torch

    head, theirs = aesthetic_head(version), their_open_clip(authors_clip)
    ours = Aesthetic(authors_clip, save_head(tmp_path / "head", head, suffix), None, threads=1)

    for prompt, artifact in CASES:
        with torch.no_grad():
            expected = head(theirs(prompt, artifact.content)[0]).item()
        assert ours.raw(prompt, artifact.content) == pytest.approx(expected, abs=TOLERANCE)
        assert ours.raw("another prompt", artifact.content) == ours.raw(prompt, artifact.content)


@pytest.fixture(params=["clip_score", "open_clip", "pickscore", "aesthetic"])
def open_scorer(
    request: pytest.FixtureRequest, authors_clip: Path, pick: Path, tmp_path: Path
) -> Callable[[Path | None], RawScorer]:
    def of(calibration: Path | None) -> RawScorer:
        match request.param:
            case "clip_score":
                return ClipScore(authors_clip, calibration, threads=1)
            case "open_clip":
                return OpenClipScore(authors_clip, calibration, threads=1)
            case "pickscore":
                return PickScore(pick, calibration, threads=1)
        head = tmp_path / "head"
        return Aesthetic(
            authors_clip, head if head.exists() else save_head(head, aesthetic_head(2), ".pth"), calibration, threads=1
        )

    return of


async def test_without_a_calibration_the_score_rises_with_the_raw_score(
    open_scorer: Callable[[Path | None], RawScorer],
) -> None:
    scorer = open_scorer(None)
    contents = [picture(seed, 48, 48).content for seed in range(6)]
    ordered = sorted(contents, key=lambda content: scorer.raw("a red circle", content))

    scores = [(await scorer.score(request("a red circle"), Artifact(content, 48, 48))).value for content in ordered]

    assert all(low <= high for low, high in pairwise(scores))


async def test_a_calibration_says_what_a_raw_score_is_worth(
    open_scorer: Callable[[Path | None], RawScorer], tmp_path: Path
) -> None:
    scorer = open_scorer(save_calibration(tmp_path / "calibration"))

    for prompt, artifact in CASES:
        good = scorer.raw(prompt, artifact.content) > 0
        assert (await scorer.score(request(prompt), artifact)).value == (0.7 if good else 0.2)


def test_a_calibration_of_another_scorer_is_refused(
    open_scorer: Callable[[Path | None], RawScorer], tmp_path: Path
) -> None:
    with pytest.raises(ModelFilesError, match="Calibration other was made for another scorer"):
        open_scorer(save_calibration(tmp_path / "other", clip_digest="another"))


def test_a_calibration_of_the_same_scorer_is_taken(patchy_clip: Path, tmp_path: Path) -> None:
    calibration = save_calibration(tmp_path / "own", clip_digest=DIGEST)

    assert isinstance(ClipScore(patchy_clip, calibration, threads=1), ClipScore)


@pytest.mark.parametrize("knots", [{"x": [0, 1], "y": [0.9, 0.1]}, {"x": [0], "y": [2]}, None])
def test_a_calibration_that_makes_no_sense_is_refused(
    open_scorer: Callable[[Path | None], RawScorer], knots: object, tmp_path: Path
) -> None:
    with pytest.raises(ModelFilesError, match=r"calibration\.json of model folder odd must give knots"):
        open_scorer(save_calibration(tmp_path / "odd", knots=knots))


async def test_what_is_not_a_picture_cannot_be_judged(open_scorer: Callable[[Path | None], RawScorer]) -> None:
    with pytest.raises(DiscriminatorError, match="not a picture"):
        await open_scorer(None).score(request("a red circle"), Artifact(b"not a picture", 64, 64))


def test_pickscore_refuses_a_prompt_that_is_not_text(pick: Path) -> None:
    with pytest.raises(DiscriminatorError, match="not valid Unicode"):
        PickScore(pick, None, threads=1).raw("a \ud800", picture(1, 64, 64).content)


async def test_an_answer_that_is_not_a_number_is_no_score(authors_clip: Path, tmp_path: Path) -> None:
    head = aesthetic_head(1)
    head.bias.data.fill_(np.nan)
    scorer = Aesthetic(authors_clip, save_head(tmp_path / "head", head, ".safetensors"), None, threads=1)

    with pytest.raises(DiscriminatorError, match="not a number"):
        await scorer.score(request("a red circle"), picture(1, 64, 64))


@pytest.mark.parametrize(
    ("to_score", "known"),
    [
        (weighted_cosine, {-1.0: 0.0, 0.0: 0.0, 0.3: 0.75, 0.4: 1.0, 1.0: 1.0}),
        (against_reference, {-1.0: 0.0, 0.2617: 0.268941, 0.2717: 0.5, 0.2817: 0.731059, 1.0: 1.0}),
        (share_of_scale, {-3.0: 0.0, 1.0: 0.0, 5.5: 0.5, 10.0: 1.0, 12.0: 1.0}),
    ],
)
def test_a_default_map_is_the_published_one(to_score: Callable[[float], float], known: dict[float, float]) -> None:
    assert {raw: to_score(raw) for raw in known} == pytest.approx(known, abs=1e-6)


async def test_pickscores_default_is_the_cosines_place_between_minus_one_and_one(pick: Path) -> None:
    import torch
    from transformers import CLIPModel, CLIPProcessor

    prompt, artifact = CASES[0]
    inputs = CLIPProcessor.from_pretrained(pick)(
        text=[prompt], images=[opened(artifact.content)], padding=True, return_tensors="pt"
    )
    with torch.no_grad():
        outputs = CLIPModel.from_pretrained(pick).eval()(**inputs)
    cosine = torch.nn.functional.cosine_similarity(outputs.image_embeds, outputs.text_embeds).item()

    judged = await PickScore(pick, None, threads=1).score(request(prompt), artifact)

    assert judged.value == pytest.approx((cosine + 1) / 2, abs=TOLERANCE)
