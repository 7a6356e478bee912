"""Whatever is wrong with a model folder is said by file, without the machine's paths."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from backends.flux_folder import NEGATIVE_SCALE, read_flux_folder
from cascade.errors import GenerationError, ModelFilesError
from cascade.requests import GenerationRequest
from tests.backends.drawing import KINDS, open_backend, stage

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]  # the first one waits for the exporter

CONFIGURATIONS = (
    "model_index.json",
    "scheduler/scheduler_config.json",
    "transformer/config.json",
    "vae/config.json",
    "maquette.json",
)
OWN = {
    "onnx": (
        "onnx/text_encoder.onnx",
        "onnx/text_encoder_2.onnx",
        "onnx/transformer.onnx",
        "onnx/vae_decoder.onnx",
        "tokenizer/tokenizer.json",
        "tokenizer_2/tokenizer.json",
    ),
    "diffusers": (
        "text_encoder/model.safetensors",
        "text_encoder_2/model.safetensors",
        "transformer/diffusion_pytorch_model.safetensors",
        "vae/diffusion_pytorch_model.safetensors",
    ),
}
USED = [(kind, name) for kind in KINDS for name in (*CONFIGURATIONS, *OWN[kind])]
REQUIRED = [(kind, name) for kind, name in USED if name != "maquette.json"]


@pytest.fixture
def copy(guided: Path, tmp_path: Path) -> Path:
    """A folder that a test may spoil."""
    return Path(shutil.copytree(guided, tmp_path / "spoilt"))


def complaint(kind: str, folder: Path) -> str:
    with pytest.raises(ModelFilesError) as caught:
        open_backend(kind, folder)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_folder_is_named(kind: str, tmp_path: Path) -> None:
    message = complaint(kind, tmp_path / "nowhere")

    assert "nowhere" in message
    assert str(tmp_path) not in message


@pytest.mark.parametrize(("kind", "name"), REQUIRED)
def test_a_missing_file_is_named(kind: str, name: str, copy: Path) -> None:
    (copy / name).unlink()

    message = complaint(kind, copy)

    assert f"{name} is missing" in message
    assert str(copy.parent) not in message


@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: b"\x7f" * 2000, lambda data: b""])
@pytest.mark.parametrize(("kind", "name"), USED)
def test_a_truncated_garbled_or_empty_file_is_named(kind: str, name: str, spoil, copy: Path) -> None:
    path = copy / name
    path.write_bytes(spoil(path.read_bytes()))

    message = complaint(kind, copy)

    assert name in message
    assert str(copy.parent) not in message


@pytest.mark.parametrize("kind", KINDS)
def test_the_folder_of_another_pipeline_is_refused(kind: str, copy: Path) -> None:
    index = json.loads((copy / "model_index.json").read_text())
    (copy / "model_index.json").write_text(json.dumps(index | {"_class_name": "StableDiffusionPipeline"}))

    assert "is of StableDiffusionPipeline, not of FluxPipeline" in complaint(kind, copy)


def test_weights_that_do_not_fit_their_configuration_are_refused(copy: Path) -> None:
    path = copy / "transformer" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"num_attention_heads": 3}))

    message = complaint("diffusers", copy)

    assert "spoilt" in message
    assert str(copy.parent) not in message


def test_a_graph_with_an_input_that_we_do_not_know_is_refused(copy: Path) -> None:
    shutil.copy(copy / "onnx" / "text_encoder.onnx", copy / "onnx" / "vae_decoder.onnx")

    assert "onnx/vae_decoder.onnx of model folder spoilt has unknown inputs: input_ids" in complaint("onnx", copy)


def test_a_tokenizer_that_does_not_pad_is_refused(copy: Path) -> None:
    path = copy / "tokenizer" / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"padding": None}))

    assert "tokenizer/tokenizer.json of model folder spoilt does not say how to pad" in complaint("onnx", copy)


def test_a_device_that_torch_does_not_have_is_refused(guided: Path) -> None:
    from backends.diffusers_flux import DiffusersFlux

    with pytest.raises(ModelFilesError, match="on nowhere"):
        DiffusersFlux(guided, threads=1, device="nowhere")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_failure_while_drawing_is_a_generation_error_that_keeps_its_details_to_itself(
    kind: str, copy: Path
) -> None:
    card = copy / "maquette.json"
    card.write_text(json.dumps({"max_sequence_length": 600}))  # more than FluxPipeline and the graph can take
    backend = open_backend(kind, copy)

    with pytest.raises(GenerationError) as caught:
        await backend.generate(GenerationRequest("a secret", 64, 64, 0), stage(), 0, lambda done, total: None)
    assert "secret" not in str(caught.value)
    assert str(copy.parent) not in str(caught.value)


def test_without_our_card_a_folder_is_read_as_flux_pipeline_reads_it(copy: Path) -> None:
    (copy / "maquette.json").unlink()

    folder = read_flux_folder(copy)

    assert (folder.sequence, folder.native) == (512, (1024, 1024))


def test_the_guidance_of_a_network_without_that_input_is_for_the_negative_prompt(guided: Path) -> None:
    folder = read_flux_folder(guided)

    assert folder.negative_scale(stage(guidance=2.0)) == NEGATIVE_SCALE
    assert replace(folder, guided=False).negative_scale(stage(guidance=2.0)) == 2.0


def test_without_torch_the_diffusers_backend_says_what_to_install(guided: Path) -> None:
    program = """
import sys
from dataclasses import replace
from pathlib import Path
from backends.diffusers_flux import DiffusersFlux
from cascade.errors import GenerationError, ModelFilesError
from cascade.requests import GenerationRequest

assert "torch" not in sys.modules and "diffusers" not in sys.modules
sys.modules["torch"] = None  # as if it were not installed
try:
    DiffusersFlux(Path(sys.argv[1]), threads=1)
except ModelFilesError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", program, guided], capture_output=True, text=True, check=True)

    assert "needs torch: install the `engine` extra" in run.stdout
