"""What is wrong with a model folder is said by file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cascade.errors import ModelFilesError
from cascade.model_folder import ModelFolder, Settings

TENSORS = b"\x00" * 12
HEADER = {"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [3], "data_offsets": [0, len(TENSORS)]}}


def safetensors(header: object = HEADER, tensors: bytes = TENSORS) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + tensors


def settings(folder: Path, text: str) -> Settings:
    (folder / "card.json").write_text(text)
    return ModelFolder(folder).settings("card.json")


def test_a_folder_that_is_not_there_is_named_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="There is no model folder away") as caught:
        ModelFolder(tmp_path / "away")

    assert str(tmp_path) not in str(caught.value)


def test_a_file_that_is_not_there_is_named_relative_to_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match=r"vae/config\.json is missing") as caught:
        ModelFolder(tmp_path).settings("vae/config.json")

    assert str(tmp_path.parent) not in str(caught.value)


@pytest.mark.parametrize(("text", "fault"), [("{", "is not JSON"), ("[]", "is not a JSON object"), ("", "is not JSON")])
def test_settings_that_are_no_json_object_are_refused(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(ModelFilesError, match=rf"card\.json .* {fault}"):
        settings(tmp_path, text)


def test_settings_that_are_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_bytes(b"\xff\xfe\xff")

    with pytest.raises(ModelFilesError, match="is not JSON"):
        ModelFolder(tmp_path).settings("card.json")


def test_values_are_given_as_what_they_are(tmp_path: Path) -> None:
    card = settings(tmp_path, '{"n": 2.5, "w": 3, "f": true, "t": "x", "l": [1, 2.5], "o": {"w": 4}, "none": null}')

    assert (card.number("n"), card.number("w"), card.whole("w")) == (2.5, 3.0, 3)
    assert (card.flag("f", default=False), card.text("t"), card.numbers("l")) == (True, "x", (1.0, 2.5))
    assert card.inner("o").whole("w") == 4
    assert (card.number("none", 1.5), card.whole("absent", 7), card.flag("absent", default=True)) == (1.5, 7, True)


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda card: card.number("v"), "a number"),
        (lambda card: card.whole("v"), "a whole number"),
        (lambda card: card.flag("absent", default=None), "true or false"),
        (lambda card: card.text("v"), "a string"),
        (lambda card: card.numbers("v"), "a list of numbers"),
        (lambda card: card.inner("v"), "an object"),
        (lambda card: card.number("absent"), "a number"),
    ],
)
def test_a_value_of_another_kind_is_named(tmp_path: Path, read, expected: str) -> None:
    card = settings(tmp_path, '{"v": true}')

    with pytest.raises(ModelFilesError, match=f"must give (v|absent) as {expected}"):
        read(card)


def test_whole_safetensors_pass(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(safetensors())

    ModelFolder(tmp_path).check_weights("model")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (safetensors()[:-1], "is truncated"),
        (safetensors() + b"more", "is truncated or has been changed"),
        (safetensors()[:20], "is not a safetensors file"),
        (b"", "is not a safetensors file"),
        (b"\xff" * 100, "is not a safetensors file"),
        (safetensors([1]), "is not a safetensors file"),
        (safetensors({"w": {}}), "is not a safetensors file"),
        (safetensors({"w": {"data_offsets": ["a", "b"]}}), "is not a safetensors file"),
    ],
)
def test_spoilt_safetensors_are_refused(tmp_path: Path, content: bytes, fault: str) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)

    with pytest.raises(ModelFilesError, match=rf"model\.safetensors .* {fault}"):
        ModelFolder(tmp_path).check_weights("model")


def test_every_shard_of_large_weights_is_checked(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    shards = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    (tmp_path / "t" / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    (tmp_path / "t" / "model-1.safetensors").write_bytes(safetensors())

    with pytest.raises(ModelFilesError, match=r"t/model-2\.safetensors is missing"):
        ModelFolder(tmp_path).check_weights("t/model")
    (tmp_path / "t" / "model-2.safetensors").write_bytes(safetensors())
    ModelFolder(tmp_path).check_weights("t/model")


def test_an_index_of_no_shards_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text("{}")

    with pytest.raises(ModelFilesError, match="lists no files"):
        ModelFolder(tmp_path).check_weights("model")


def test_weights_that_are_not_there_at_all_are_named_in_one_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match=r"model\.safetensors is missing"):
        ModelFolder(tmp_path).check_weights("model")
