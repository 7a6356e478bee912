"""A folder that is not what its scorer needs is refused with a sentence that names the file."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cascade.errors import ModelFilesError
from discriminators.aesthetic import Aesthetic
from discriminators.pickscore import PickScore
from tests.discriminators.tiny_clip import DIMENSIONS
from tests.discriminators.tiny_scorers import Intruder, aesthetic_head, build_pickscore, save_head

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter


@pytest.fixture(scope="module")
def whole_pick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_pickscore(tmp_path_factory.mktemp("pickscore"))


@pytest.fixture
def pick(whole_pick: Path, tmp_path: Path) -> Path:
    """A folder that a test may spoil."""
    return Path(shutil.copytree(whole_pick, tmp_path / "pick"))


def change_tensors(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def reconfigure(folder: Path, **values: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


PICK_SPOILS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing"),
    "truncated weights": (
        lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:-9]),
        "model.safetensors of model folder pick is truncated",
    ),
    "a tensor less": (
        lambda f: change_tensors(f, lambda tensors: tensors.pop("visual_projection.weight")),
        "does not hold the weights that config.json describes",
    ),
    "a tensor more": (
        lambda f: change_tensors(f, lambda tensors: tensors.update(extra=tensors["logit_scale"].clone())),
        "does not hold the weights that config.json describes",
    ),
    "other architecture": (
        lambda f: reconfigure(f, projection_dim=DIMENSIONS + 8),
        "transformers cannot load model folder pick",
    ),
    "another model": (lambda f: reconfigure(f, model_type="siglip"), "must give model_type as clip"),
    "no configuration": (lambda f: (f / "config.json").unlink(), "config.json is missing"),
    "no processor": (
        lambda f: [path.unlink() for path in f.iterdir() if path.name not in {"config.json", "model.safetensors"}],
        "the files of its processor",
    ),
}


@pytest.mark.parametrize(("spoil", "complaint"), PICK_SPOILS.values(), ids=PICK_SPOILS.keys())
def test_what_is_not_pickscore_is_refused(
    pick: Path, spoil: Callable[[Path], object], complaint: str, tmp_path: Path
) -> None:
    spoil(pick)

    with pytest.raises(ModelFilesError, match=complaint) as caught:
        PickScore(pick, None, threads=1)
    assert str(tmp_path) not in str(caught.value)


def test_the_position_numbers_that_old_transformers_saved_are_no_fault(pick: Path) -> None:
    import torch

    name = "text_model.embeddings.position_ids"
    change_tensors(pick, lambda tensors: tensors.update({name: torch.arange(77)[None]}))

    assert isinstance(PickScore(pick, None, threads=1), PickScore)


def test_pickscore_on_a_device_that_torch_does_not_have_is_refused(pick: Path) -> None:
    with pytest.raises(ModelFilesError, match="on cuda:77"):
        PickScore(pick, None, threads=1, device="cuda:77")


def _renumbered(state: dict[str, Any]) -> dict[str, Any]:
    """Names as they are with activations between the layers."""
    return {name.replace("layers.2.", "layers.3."): value for name, value in state.items()}


HEADS: dict[str, tuple[Callable[[Path], object], str]] = {
    "none": (lambda f: f.mkdir(), "must be one file ending in .* there are 0"),
    "two": (
        lambda f: shutil.copy(save_head(f, aesthetic_head(1), ".pth") / "head.pth", f / "copy.bin"),
        "must be one file ending in .* there are 2",
    ),
    "of another CLIP": (
        lambda f: save_head(f, aesthetic_head(2, DIMENSIONS * 2), ".safetensors"),
        f"is not LAION's aesthetic head, v1 or v2, for a CLIP of {DIMENSIONS} dimensions",
    ),
    "garbage": (lambda f: (f.mkdir(), (f / "head.pth").write_bytes(b"\x7f" * 99)), "that torch can load safely"),
    "truncated": (
        lambda f: (
            path := save_head(f, aesthetic_head(1), ".safetensors") / "head.safetensors",
            path.write_bytes(path.read_bytes()[:-3]),
        ),
        "is truncated",
    ),
}


@pytest.mark.parametrize(("make", "complaint"), HEADS.values(), ids=HEADS.keys())
def test_what_is_not_an_aesthetic_head_is_refused(
    clip: Path, make: Callable[[Path], object], complaint: str, tmp_path: Path
) -> None:
    make(tmp_path / "head")

    with pytest.raises(ModelFilesError, match=complaint) as caught:
        Aesthetic(clip, tmp_path / "head", None, threads=1)
    assert str(tmp_path) not in str(caught.value)


def test_an_aesthetic_head_with_activations_is_refused(clip: Path, tmp_path: Path) -> None:
    import torch

    (tmp_path / "head").mkdir()
    torch.save(_renumbered(aesthetic_head(2).state_dict()), tmp_path / "head" / "relu.pth")

    with pytest.raises(ModelFilesError, match="is not LAION's aesthetic head"):
        Aesthetic(clip, tmp_path / "head", None, threads=1)


def test_a_pickled_head_runs_no_code(clip: Path, tmp_path: Path) -> None:
    intruder = Intruder(tmp_path / "taken")
    (tmp_path / "head").mkdir()
    (tmp_path / "head" / "head.pth").write_bytes(pickle.dumps({"weight": intruder}, protocol=2))

    with pytest.raises(ModelFilesError, match="that torch can load safely"):
        Aesthetic(clip, tmp_path / "head", None, threads=1)
    assert not intruder.place.exists()
