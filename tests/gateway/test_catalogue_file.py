"""The catalogue's YAML: what is wrong is said with its line."""

from __future__ import annotations

import json

import pytest

from gateway.catalogue_file import CatalogueError, load

GOOD = """\
version: 1
default_model: both
variants:
  light:
    backend: onnx
    folder: ${MODELS}/light
    profile: {text_ms: 1, evaluation_ms: 1, token_ms: 0, megapixel_ms: 0}
  heavy:
    backend: onnx
    folder: ${MODELS:-elsewhere}/heavy
    profile: {text_ms: 1, evaluation_ms: 1, token_ms: 0, megapixel_ms: 0}
pools:
  p1: {variant: light}
  p2: {variant: heavy}
discriminators:
  judge: {kind: clip_head, clip: models/clip, head: models/head, milliseconds: 2}
models:
  both:
    routes:
      preview: [{variant: light}]
      auto:
        - {variant: light, discriminator: judge, deferral_rate: 0.25}
        - {variant: heavy}
"""


@pytest.fixture
def folder(tmp_path):
    for name, steps in (("light", 2), ("heavy", 20)):
        model = tmp_path / "models" / name
        model.mkdir(parents=True)
        (model / "model_index.json").write_text("{}")
        (model / "maquette.json").write_text(json.dumps({"steps": steps, "digest": name, "native_size": [64, 64]}))
    for name, file, content in (
        ("clip", "maquette.json", {}),
        ("head", "calibration.json", {"score_quantiles": [0.0, 0.2, 0.4, 0.6, 1.0]}),
    ):
        (tmp_path / "models" / name).mkdir()
        (tmp_path / "models" / name / file).write_text(json.dumps(content))
    return tmp_path


def loaded(folder, text=GOOD):
    path = folder / "catalogue.yaml"
    path.write_text(text)
    return load(path, {"MODELS": "models"})


def test_a_model_folder_fills_what_the_file_leaves_out(folder):
    catalogue = loaded(folder)

    assert catalogue.variants["heavy"].steps == 20
    assert catalogue.variants["light"].weights == "onnx:light"
    assert catalogue.variants["light"].sizes.native == (64, 64)


def test_a_deferral_rate_becomes_the_threshold_of_the_calibration_data(folder):
    [light, heavy] = loaded(folder).models["both"].routes["auto"]

    assert (light.threshold, heavy.discriminator) == (0.2, None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("pools:", "pool:", "line 12: pool: unknown key"),
        (
            "    backend: onnx\n    folder: ${MODELS}",
            "    backend: onyx\n    folder: ${MODELS}",
            "line 5: variants.light.backend",
        ),
        ("${MODELS}", "${NOTHING}", "line 6: ${NOTHING} is not set"),
        ("version: 1", "version: 2", "line 1: version"),
        ("version: 1", "version: 1\nversion: 1", "line 2: version is said twice"),
        ("models:\n", "models: [\n", "line "),
        ("default_model: both", "default_model: none", "default model none is not among the models"),
        ("p2: {variant: heavy}", "p2: {variant: heavier}", "p2 serves heavier"),
        ("  p2: {variant: heavy}\n", "", "no pool serves heavy"),
        ("deferral_rate: 0.25", "deferral_rate: 1.5", "line 22: models.both.routes.auto.0.deferral_rate"),
        ("deferral_rate: 0.25", "deferral_rate: .nan", "deferral_rate"),
        (", deferral_rate: 0.25", "", "either threshold or deferral_rate"),
        ("discriminator: judge, deferral_rate: 0.25", "threshold: 0.5", "needs a discriminator"),
        (
            "- {variant: light, discriminator: judge, deferral_rate: 0.25}",
            "- {variant: light}",
            "needs a discriminator",
        ),
        ("${MODELS}/light", "nowhere", "nowhere is not a model folder"),
        ("models/head", "models/clip", "clip/calibration.json cannot be read"),
        ("text_ms: 1, evaluation_ms: 1", "text_ms: -1, evaluation_ms: 1", "line 7: variants.light.profile.text_ms"),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(folder, old, new, said):
    assert old in GOOD
    with pytest.raises(CatalogueError) as error:
        loaded(folder, GOOD.replace(old, new, 1))

    assert said in str(error.value)
    assert str(folder) not in str(error.value)


@pytest.mark.parametrize("content", ["not json", "[]", '{"steps": '])
def test_a_spoilt_card_is_said(folder, content):
    (folder / "models" / "light" / "maquette.json").write_text(content)

    with pytest.raises(CatalogueError, match=r"light/maquette\.json is not"):
        loaded(folder)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(CatalogueError, match=r"catalogue\.yaml: cannot be read"):
        load(tmp_path / "catalogue.yaml", {})
