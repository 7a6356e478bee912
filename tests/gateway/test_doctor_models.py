"""What the doctor finds in the catalogue and the model files, on the bundled ones."""

from __future__ import annotations

import hashlib
import os
import shutil

import pytest

from cascade.errors import ModelFilesError
from cascade.model_folder import ModelFolder
from gateway.local.doctor.catalogue import (
    Folder,
    Models,
    judge_catalogue,
    judge_folders,
    look_at_catalogue,
    look_at_folders,
)
from gateway.local.doctor.drawing import Drawing, judge_drawing, look_at_drawing
from gateway.local.doctor.findings import Verdict
from gateway.settings import BUNDLED_WEIGHTS, Settings
from tests.gateway.doctoring import faults, only_fault


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A copy of the bundled models that the bundled catalogue names."""
    copy = tmp_path / "weights"
    shutil.copytree(BUNDLED_WEIGHTS, copy)
    monkeypatch.setenv("MAQUETTE_WEIGHTS", str(copy))
    return copy


def test_the_digest_is_of_names_and_bytes_in_the_order_of_paths(tmp_path):
    for name in ("b.onnx", "a/z.safetensors", "a.onnx", "notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.upper().encode() * 300_000)

    expected = hashlib.sha256()
    for name in ("a/z.safetensors", "a.onnx", "b.onnx"):
        expected.update(name.encode() + name.upper().encode() * 300_000)
    assert ModelFolder(tmp_path).digest() == expected.hexdigest()


def test_a_weight_file_that_is_no_file_has_no_digest(tmp_path):
    (tmp_path / "a.onnx").mkdir()

    with pytest.raises(ModelFilesError, match=r"a\.onnx"):
        ModelFolder(tmp_path).digest()


def test_the_bundled_models_are_those_of_their_cards_until_a_byte_is_changed(weights):
    assert faults(judge_folders(look_at_folders(Settings()))) == []
    graph = weights / "shapes-dev" / "onnx" / "vae_decoder.onnx"
    content = bytearray(graph.read_bytes())
    content[-1] ^= 1
    graph.write_bytes(content)

    verdict, text = only_fault(judge_folders(look_at_folders(Settings())))

    assert verdict is Verdict.PROBLEM
    assert "The weights of shapes-dev are not those" in text


def test_weights_that_are_cut_off_or_gone_are_named(weights):
    cut = weights / "shapes-dev" / "transformer" / "diffusion_pytorch_model.safetensors"
    os.truncate(cut, cut.stat().st_size - 1)
    (weights / "shapes-schnell" / "vae" / "diffusion_pytorch_model.safetensors").unlink()

    said = [text for _, text in faults(judge_folders(look_at_folders(Settings())))]

    assert len(said) == 2
    assert any("transformer/diffusion_pytorch_model.safetensors of model folder shapes-dev is trunc" in s for s in said)
    assert any("vae of model folder shapes-schnell has no weights" in s for s in said)
    assert str(weights) not in "".join(said)


def test_a_folder_without_a_card_is_well_if_it_is_whole():
    assert faults(judge_folders([Folder("hub", "")])) == []


def test_a_model_that_can_t_draw_is_named_and_the_other_draws(weights):
    (weights / "shapes-dev" / "onnx" / "transformer.onnx").write_bytes(b"rubbish")

    drawings = look_at_drawing(Settings())

    assert "shapes-dev does not draw. onnx/transformer.onnx" in only_fault(judge_drawing(drawings))[1]
    assert Drawing("shapes-schnell", tried=True) in drawings


def test_a_diffusers_variant_is_left_alone_and_said_to_be():
    [finding] = judge_drawing([Drawing("flux-dev", tried=False)])

    assert finding.verdict is Verdict.OK
    assert "config check --load" in finding.what


def test_a_catalogue_that_can_t_be_used_is_said_line_by_line_and_its_models_are_left_out(tmp_path):
    path = tmp_path / "catalogue.yaml"
    path.write_text("version: 2\nmodels: {}\n")
    settings = Settings(catalogue=path)

    findings = judge_catalogue(look_at_catalogue(settings))

    assert len(faults(findings)) > 1
    assert any("line 1: version" in text for _, text in faults(findings))
    assert look_at_folders(settings) == look_at_drawing(settings) == []


def test_the_bundled_catalogue_is_well():
    assert faults(judge_catalogue(look_at_catalogue(Settings()))) == []


def test_a_diffusers_variant_without_the_engine_extra_is_a_problem():
    facts = Models("", ("flux",), ("gpu",), engineless=("flux-dev",))

    assert "Variant flux-dev needs the engine extra" in only_fault(judge_catalogue(facts))[1]


def test_a_licence_that_somebody_should_read_is_a_warning():
    facts = Models("", ("flux",), ("gpu",), remarks=("variant flux has no licence that is known.",))

    assert only_fault(judge_catalogue(facts))[0] is Verdict.WARNING
