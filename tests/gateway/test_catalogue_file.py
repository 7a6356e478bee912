"""The catalogue's YAML: what is wrong is said with its line."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter

from cascade.licences import Use
from gateway.catalogue_file import CatalogueError, load
from gateway.catalogue_judges import DiscriminatorIn
from gateway.compose_engine import JUDGES

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
        ("clip", "open_clip_config.json", {}),
        ("pick", "config.json", {}),
        ("aesthetic", "README.md", {}),
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
        ("${MODELS}/light", "nowhere", "line 6: variants.light.folder: nowhere is not a model folder"),
        (
            "models/head",
            "models/clip",
            "line 16: discriminators.judge.head: clip is not a head folder (no calibration.json)",
        ),
        ("models/clip", "models/pick", "judge.clip: pick is not a clip folder (no open_clip_config.json)"),
        ("models/clip", "nowhere", "discriminators.judge.clip: nowhere is not a clip folder"),
        ("kind: clip_head", "kind: clip_heart", "line 16: discriminators.judge.kind: "),
        ("kind: clip_head, ", "", "line 16: discriminators.judge.kind: "),
        (", head: models/head", "", "line 16: discriminators.judge.head: Field required"),
        ("head: models/head", "heads: models/head", "line 16: discriminators.judge.heads: unknown key"),
        ("milliseconds: 2", "milliseconds: -2", "line 16: discriminators.judge.milliseconds"),
        (
            "discriminators:\n  judge:",
            "discriminators:\n  ju/dge:",
            "line 16: discriminators.ju/dge: String",
        ),
        ("discriminators:\n  judge: {", "discriminators:\n  - {", "line 15: discriminators: Input should be"),
        ("discriminator: judge", "discriminator: jury", "line 22: models.both.routes.auto.0.discriminator: jury is"),
        ("version: 1", "version: 1\nuse: profit", "line 2: use: "),
        ("    folder: $", '    license_override: " "\n    folder: $', "line 6: variants.light.license_override"),
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


SCORERS = {
    "clip_score": "{kind: clip_score, clip: models/clip, milliseconds: 2}",
    "open_clip": "{kind: open_clip, clip: models/clip, milliseconds: 2}",
    "pickscore": "{kind: pickscore, clip: models/pick, milliseconds: 2}",
    "aesthetic": "{kind: aesthetic, clip: models/clip, head: models/aesthetic, milliseconds: 2}",
}
JUDGE = "{kind: clip_head, clip: models/clip, head: models/head, milliseconds: 2}"


def test_every_kind_of_the_file_has_a_class_that_judges():
    kinds = set(TypeAdapter(DiscriminatorIn).json_schema()["discriminator"]["mapping"])

    assert kinds == set(JUDGES)
    assert kinds == {"clip_head", *SCORERS}


@pytest.mark.parametrize("kind", SCORERS)
def test_a_scorer_names_its_folders_by_the_part_they_play(folder, kind):
    text = GOOD.replace(JUDGE, SCORERS[kind]).replace("deferral_rate: 0.25", "threshold: 0.3")
    entry = loaded(folder, text).discriminators["judge"]

    assert (entry.kind, entry.milliseconds, entry.score_quantiles) == (kind, 2, ())
    parts = {part: path.name for part, path in entry.folders.items()}
    assert parts == {"clip": "pick" if kind == "pickscore" else "clip"} | (
        {"head": "aesthetic"} if kind == "aesthetic" else {}
    )


@pytest.mark.parametrize("kind", SCORERS)
def test_a_scorer_without_quantiles_cannot_have_a_deferral_rate(folder, kind):
    with pytest.raises(CatalogueError) as error:
        loaded(folder, GOOD.replace(JUDGE, SCORERS[kind]))

    assert "line 22: models.both.routes.auto.0.deferral_rate" in str(error.value)
    assert "give judge a calibration, or this rung a threshold" in str(error.value)


@pytest.mark.parametrize("kind", SCORERS)
def test_a_calibrated_scorer_can_have_a_deferral_rate(folder, kind):
    calibrated = SCORERS[kind].replace("milliseconds", "calibration: models/head, milliseconds")
    catalogue = loaded(folder, GOOD.replace(JUDGE, calibrated))

    assert catalogue.discriminators["judge"].folders["calibration"].name == "head"
    assert catalogue.models["both"].routes["auto"][0].threshold == 0.2


def test_quantiles_that_are_no_scores_are_said_where_they_are_used(folder):
    (folder / "models" / "head" / "calibration.json").write_text(json.dumps({"score_quantiles": [0.9, 0.1]}))

    with pytest.raises(CatalogueError, match=r"line 22: .*deferral_rate: judge: score quantiles must be"):
        loaded(folder)


DEV = "---\nlicense: other\nlicense_name: flux-1-dev-non-commercial-license\n---\n# A model\n"


def hub_folder(folder, readme, name="heavy"):
    """The model as a hub has it: without our manifest."""
    model = folder / "models" / name
    (model / "maquette.json").unlink(missing_ok=True)
    (model / "README.md").write_text(readme)
    return GOOD.replace(f"{name}\n    profile", f"{name}\n    steps: 28\n    profile")


@pytest.mark.parametrize(
    ("readme", "tag"),
    [
        ("---\nlicense: apache-2.0\nlicense_name: whatever\n---\n", "apache-2.0"),
        ("---\nlicense_name: my-own\n---\n", "my-own"),
        ("---\nlicense: other\n---\n", "other"),
        ("---\nlicense: [mit, apache-2.0]\ntags:\n- x\n---\n", "mit, apache-2.0"),
        ("---\r\nlicense: mit\r\n---\r\n# A model\r\n", "mit"),
        ("# A model\n---\nlicense: mit\n---\n", ""),
        ("---\nlicense: [mit\n---\n", ""),
        ("---\n- mit\n---\n", ""),
        ("", ""),
    ],
)
def test_a_folder_without_our_manifest_has_the_licence_of_its_model_card(folder, readme, tag):
    assert loaded(folder, hub_folder(folder, readme)).variants["heavy"].license == tag


def test_what_the_catalogue_says_of_a_licence_goes_before_the_card(folder):
    text = hub_folder(folder, DEV).replace("    steps: 28", "    steps: 28\n    license: MIT")

    assert loaded(folder, text).variants["heavy"].license == "MIT"


def test_a_judge_has_the_licences_of_all_its_parts(folder):
    (folder / "models" / "clip" / "README.md").write_text("---\nlicense: mit\n---\n")
    one = loaded(folder).discriminators["judge"].license
    (folder / "models" / "head" / "maquette.json").write_text(json.dumps({"license": "MIT"}))
    same = loaded(folder).discriminators["judge"].license

    assert (one, same) == ("mit, unknown", "MIT")


@pytest.mark.parametrize("use", ["", "use: commercial\n"])
def test_a_gateway_that_sells_refuses_what_may_not_be_sold(folder, use):
    with pytest.raises(CatalogueError) as error:
        loaded(folder, use + hub_folder(folder, DEV))

    for part in ("variant heavy", "flux-1-dev-non-commercial-license", "use: non-commercial", "license_override"):
        assert part in str(error.value)


def test_a_judge_that_may_not_be_sold_is_refused_too(folder):
    (folder / "models" / "clip" / "README.md").write_text("---\nlicense: apple-amlr\n---\n")

    with pytest.raises(CatalogueError, match=r"discriminator judge is licensed under apple-amlr"):
        loaded(folder)


def test_a_gateway_that_sells_nothing_takes_it(folder):
    catalogue = loaded(folder, "use: non-commercial\n" + hub_folder(folder, DEV))

    assert catalogue.use is Use.NON_COMMERCIAL
    assert not any("heavy" in said for said in catalogue.licence_remarks)


def test_an_override_takes_it_and_stays_visible(folder):
    text = hub_folder(folder, DEV).replace("    steps: 28", "    steps: 28\n    license_override: we bought one")
    catalogue = loaded(folder, text)

    assert catalogue.variants["heavy"].license_override == "we bought one"
    assert any("heavy" in said and "we bought one" in said for said in catalogue.licence_remarks)


def test_a_licence_that_nobody_knows_is_remarked_on(folder):
    said = loaded(folder).licence_remarks

    assert [remark.split(" has ")[0] for remark in said] == ["variant light", "variant heavy", "discriminator judge"]
