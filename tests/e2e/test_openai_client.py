"""The official client, unmodified, against a running gateway with the bundled models."""

from __future__ import annotations

import base64
import io

import httpx
import openai
import pytest
from PIL import Image

PROMPT = "a large red circle on a white background"


@pytest.fixture
def client(gateway):
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=gateway.key, max_retries=0) as client:
        yield client


def content_of(datum):
    return base64.b64decode(datum.b64_json)


def test_a_picture_comes_as_base64(client):
    answer = client.images.generate(prompt=PROMPT, size="64x64")

    with Image.open(io.BytesIO(content_of(answer.data[0]))) as picture:
        assert (picture.format, picture.size) == ("PNG", (64, 64))
    assert answer.usage.output_tokens == 16


def test_a_picture_comes_as_a_link(client):
    answer = client.images.generate(prompt=PROMPT, response_format="url", output_format="jpeg")

    picture = httpx.get(answer.data[0].url)
    assert picture.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(picture.content)).format == "JPEG"


def test_four_pictures_with_seed_s_are_the_single_ones_with_s_to_s_plus_3(client):
    together = client.images.generate(prompt=PROMPT, n=4, extra_body={"seed": 100, "cache": "never"})
    alone = [client.images.generate(prompt=PROMPT, extra_body={"seed": 100 + i, "cache": "never"}) for i in range(4)]

    assert [datum.b64_json for datum in together.data] == [answer.data[0].b64_json for answer in alone]
    assert len({datum.b64_json for datum in together.data}) == 4


def test_the_same_seed_twice_is_the_same_picture_and_the_second_is_free(client):
    first = client.images.with_raw_response.generate(prompt=PROMPT, extra_body={"seed": 2024})
    second = client.images.with_raw_response.generate(prompt=PROMPT, extra_body={"seed": 2024})

    assert first.parse().data[0].b64_json == second.parse().data[0].b64_json
    assert int(first.headers["x-maquette-gpu-ms-charged"]) > 0
    assert second.headers["x-maquette-gpu-ms-charged"] == "0"
    assert second.headers["cache-status"] == "maquette; hit"


def test_what_was_charged_is_below_what_was_held(client):
    answer = client.images.generate(prompt="three purple crosses on a white background", n=3).model_extra["maquette"]

    assert 0 < answer["gpu_ms"]["charged"] <= answer["gpu_ms"]["held"]


def test_models_are_listed(client):
    assert [model.id for model in client.models.list()] == ["shapes", "shapes-schnell", "shapes-dev"]


def test_bad_requests_raise_the_clients_own_errors(client, gateway):
    with pytest.raises(openai.BadRequestError) as bad:
        client.images.generate(prompt=PROMPT, size="65x64")
    assert (bad.value.param, bad.value.code) == ("size", "unsupported_size")
    with pytest.raises(openai.BadRequestError) as unknown:
        client.images.generate(prompt="a photo of an astronaut")
    assert unknown.value.code == "unknown_words"
    with pytest.raises(openai.NotFoundError):
        client.images.generate(prompt=PROMPT, model="dall-e-3")
    with (
        pytest.raises(openai.AuthenticationError),
        openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="sk-no") as other,
    ):
        other.images.generate(prompt=PROMPT)


def test_a_tenants_budget_is_kept(gateway):
    assert gateway.command("tenants", "create", "poor", "--gpu-ms", "1").returncode == 0
    key = gateway.command("keys", "create", "poor").stdout.strip()
    client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0)
    with client, pytest.raises(openai.UnprocessableEntityError) as refused:
        client.images.generate(prompt=PROMPT)
    assert refused.value.code == "request_exceeds_quota"


def test_neither_prompts_nor_keys_are_logged(client, gateway):
    client.images.generate(prompt="a small cyan heart on a navy background")
    with pytest.raises(openai.BadRequestError):
        client.images.generate(prompt="a small cyan heart on a mauve background")

    after_the_welcome = gateway.log.split("Serving. Ctrl-C stops everything.")[1]
    assert "cyan" not in after_the_welcome
    assert gateway.key not in after_the_welcome
