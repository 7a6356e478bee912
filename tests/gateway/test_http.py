"""The wire: OpenAI's shapes, honest headers, and refusals that say what to do and change nothing."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image

from cascade import errors as cascade_errors
from gateway import failures
from gateway.administration import create_key
from gateway.http.errors import SHAPES
from tenants import errors as tenant_errors

PATH = "/v1/images/generations"


async def draw(http, prompt="a red circle", **fields):
    return await http.post(PATH, json={"prompt": prompt, **fields})


def picture_of(datum):
    return Image.open(io.BytesIO(base64.b64decode(datum["b64_json"])))


async def test_a_generation_has_openais_shape_and_our_trace(http, workers):
    response = await draw(http, "a hard circle", seed=7)

    body = response.json()
    assert response.status_code == 200
    assert {"created", "data", "output_format", "quality", "size", "background", "usage"} <= body.keys()
    assert picture_of(body["data"][0]).size == (64, 64)
    [picture] = body["maquette"]["pictures"]
    assert [a["variant"] for a in picture["attempts"]] == ["light", "heavy"]
    assert picture["attempts"][0] | {"url": "", "gpu_ms": 0} == {
        "variant": "light", "steps": 4, "score": 0.2, "threshold": 0.5, "verdict": "escalate", "gpu_ms": 0,
        "cached": False, "url": "",
    }  # fmt: skip
    assert body["maquette"]["gpu_ms"]["charged"] == int(response.headers["x-maquette-gpu-ms-charged"]) > 0


async def test_every_answer_says_what_it_cost_and_where_it_came_from(http, workers):
    first, second = await draw(http, seed=7), await draw(http, seed=7)
    unseeded = await draw(http)

    assert first.headers["cache-status"] == "maquette; fwd=miss"
    assert second.headers["cache-status"] == "maquette; hit"
    assert unseeded.headers["cache-status"] == "maquette; fwd=bypass"
    assert second.headers["x-maquette-gpu-ms-charged"] == "0"
    assert first.json()["data"] == second.json()["data"]
    steps = [part.split(";")[0] for part in first.headers["server-timing"].split(", ")]
    assert steps == ["auth", "cache", "hold", "draw", "settle", "render"]


async def test_a_request_id_is_taken_over_when_harmless_and_made_otherwise(http):
    kept = await http.get("/healthz", headers={"X-Request-Id": "abc-1.2_3"})
    made = await http.get("/healthz", headers={"X-Request-Id": "bad id\x7f"})
    failed = await http.post(PATH, json={}, headers={"X-Request-Id": "abc"})

    assert kept.headers["x-request-id"] == "abc-1.2_3"
    assert made.headers["x-request-id"].startswith("req_")
    assert failed.json()["request_id"] == failed.headers["x-request-id"] == "abc"


@pytest.mark.parametrize(("picture_format", "magic"), [("png", "PNG"), ("jpeg", "JPEG"), ("webp", "WEBP")])
async def test_pictures_come_in_the_format_asked_for(http, workers, picture_format, magic):
    response = await draw(http, seed=1, output_format=picture_format)

    assert picture_of(response.json()["data"][0]).format == magic
    assert response.json()["output_format"] == picture_format


async def test_a_link_works_without_a_key_until_it_expires(http, workers, rooms):
    url = (await draw(http, seed=1, response_format="url", output_format="webp")).json()["data"][0]["url"]
    http.headers.pop("Authorization")

    picture = await http.get(url)

    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/webp")
    assert Image.open(io.BytesIO(picture.content)).format == "WEBP"
    for spoilt in (
        url.replace("format=webp", "format=png"),
        url[:-1] + ("0" if url[-1] != "0" else "1"),
        url.replace("expires=", "expires=9"),
    ):
        refused = await http.get(spoilt)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "invalid_link")


async def test_a_picture_by_its_id_is_its_owners_alone(http, workers, rooms, zenith):
    url = (await draw(http, seed=1, response_format="url")).json()["data"][0]["url"]
    path = url.split("?")[0]
    other = await create_key(rooms, zenith.id, "other")

    assert (await http.get(path)).status_code == 200
    assert (await http.get(path, headers={"Authorization": f"Bearer {other}"})).status_code == 404
    assert (await http.get("/v1/images/img_none/content")).status_code == 404


BAD_BODIES = [
    ({}, "prompt"),
    ({"prompt": ""}, "prompt"),
    ({"prompt": "   "}, "prompt"),
    ({"prompt": 3}, "prompt"),
    ({"prompt": "a " * 50_000}, "prompt"),
    ({"prompt": "a circle", "n": 0}, "n"),
    ({"prompt": "a circle", "n": 11}, "n"),
    ({"prompt": "a circle", "n": "2"}, "n"),
    ({"prompt": "a circle", "n": True}, "n"),
    ({"prompt": "a circle", "size": "64"}, "size"),
    ({"prompt": "a circle", "size": "65x64"}, "size"),
    ({"prompt": "a circle", "size": "0x64"}, "size"),
    ({"prompt": "a circle", "size": "٦٤x٦٤"}, "size"),
    ({"prompt": "a circle", "size": "4096x4096"}, "size"),
    ({"prompt": "a circle", "seed": -1}, "seed"),
    ({"prompt": "a circle", "seed": 2**32}, "seed"),
    ({"prompt": "a circle", "seed": 1.5}, "seed"),
    ({"prompt": "a circle", "quality": "best"}, "quality"),
    ({"prompt": "a circle", "output_format": "gif"}, "output_format"),
    ({"prompt": "a circle", "background": "transparent"}, "background"),
    ({"prompt": "a circle", "stream": True}, "stream"),
    ({"prompt": "a circle", "num_inference_steps": 3}, "num_inference_steps"),
    ({"prompt": "a circle", "model": "heavy", "num_inference_steps": 51}, "num_inference_steps"),
    ({"prompt": "a circle", "guidance_scale": 3}, "guidance_scale"),
    ({"prompt": "a circle", "negative_prompt": "blue"}, "negative_prompt"),
    ({"prompt": "a circle", "colour": "red"}, "colour"),
    ({"prompt": "a purple circle"}, "prompt"),
    ({"prompt": "a red " * 300}, "prompt"),
]


@pytest.mark.parametrize(("body", "param"), BAD_BODIES)
async def test_a_bad_field_is_named_and_nothing_is_charged(http, rooms, workers, acme, body, param):
    response = await http.post(PATH, json=body)

    error = response.json()["error"]
    assert (response.status_code, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert error["message"]
    assert error["code"]
    assert response.headers["x-should-retry"] == "false"
    balance = await rooms.quota.balance(acme.id)
    assert (balance.used_gpu_ms, balance.held_gpu_ms) == (0, 0)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'"a"', b"null", b"\xff\xfe", b'{"prompt": "a", "prompt": 1}', b"[" * 100_000]
)
async def test_what_is_not_a_json_object_is_refused(http, content):
    response = await http.post(PATH, content=content, headers={"Content-Type": "application/json"})

    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


async def test_nan_is_not_a_guidance_scale(http):
    content = b'{"prompt": "a circle", "guidance_scale": NaN}'
    response = await http.post(PATH, content=content, headers={"Content-Type": "application/json"})

    assert response.status_code == 400


async def test_a_prompt_is_never_repeated_in_an_error(http):
    secret = "zanzibar"
    for body in ({"prompt": f"a {secret}"}, {"prompt": [secret]}, {"prompt": "a circle", "user": {"x": secret}}):
        assert secret not in (await http.post(PATH, json=body)).text


async def test_a_body_of_two_megabytes_is_refused(http):
    response = await http.post(PATH, json={"prompt": "a" * 2_000_000})

    assert (response.status_code, response.json()["error"]["type"]) == (413, "invalid_request_error")


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "missing_api_key"),
        ("", "missing_api_key"),
        ("Basic abc", "missing_api_key"),
        ("Bearer ", "missing_api_key"),
        ("Bearer mq-nonsense", "invalid_api_key"),
        ("Bearer mq-ünïcode", "invalid_api_key"),
        ("Bearer mq-VQZRZM0bjThcZxeyCXiNsGSvwr7MdInzlJ1aFa", "invalid_api_key"),
    ],
)
async def test_without_a_good_key_nothing_is_told(http, header, code):
    http.headers.pop("Authorization")
    headers = {} if header is None else {"Authorization": header.encode()}
    for response in (
        await http.post(PATH, json={"prompt": "a"}, headers=headers),
        await http.get("/v1/models", headers=headers),
    ):
        assert (response.status_code, response.json()["error"]["code"]) == (401, code)
        assert response.headers["www-authenticate"] == "Bearer"


async def test_a_suspended_tenant_gets_nothing_not_even_from_the_cache(http, workers, rooms, acme):
    await draw(http, seed=1)
    await rooms.directory.suspend(acme.id, suspended=True)

    response = await draw(http, seed=1)

    assert (response.status_code, response.json()["error"]["code"]) == (403, "account_suspended")


async def test_a_revoked_key_stops_at_once(http, rooms, acme):
    [record] = await rooms.directory.keys(acme.id)
    await rooms.directory.revoke_key(record.hash)

    assert (await http.get("/v1/models")).status_code == 401


async def test_an_exhausted_quota_says_so(http, workers, rooms, acme):
    await rooms.quota.grant(acme.id, 20_000)
    await rooms.quota.reserve(acme.id, "spent", 19_000, 60)
    held = await draw(http)
    await rooms.quota.settle(acme.id, "spent", 19_000)
    spent = await draw(http)
    await rooms.quota.grant(acme.id, 100)
    never = await draw(http)

    assert [r.status_code for r in (held, spent, never)] == [429, 402, 422]
    assert held.headers["retry-after"]
    assert [r.headers["x-should-retry"] for r in (held, spent, never)] == ["true", "false", "false"]


async def test_a_pool_without_workers_is_said(http):
    response = await draw(http)

    assert (response.status_code, response.json()["error"]["code"]) == (503, "no_worker")
    assert response.headers["retry-after"]
    assert (await http.get("/readyz")).status_code == 503
    assert (await http.get("/healthz")).status_code == 200


async def test_an_unknown_model_lists_the_known_ones(http):
    response = await draw(http, model="dall-e-9")

    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (404, "model_not_found", "model")
    assert "both, heavy" in error["message"]


async def test_unknown_paths_and_methods_have_openais_error_shape_and_an_id(http):
    for response in (await http.get("/v1/nothing"), await http.put(PATH, json={})):
        assert response.json()["error"].keys() == {"message", "type", "param", "code"}
        assert response.status_code in {404, 405}
        assert response.headers["x-request-id"] == response.json()["request_id"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/", "/v1/nothing"])
async def test_head_is_get_without_the_body(http, path):
    got, headed = await http.get(path), await http.head(path)

    assert (headed.status_code, headed.content) == (got.status_code, b"")
    assert headed.headers["content-type"] == got.headers["content-type"]
    assert int(headed.headers["content-length"]) > 0


async def test_models_say_what_they_draw(http):
    listed = (await http.get("/v1/models")).json()["data"]
    one = (await http.get("/v1/models/both")).json()

    assert [model["id"] for model in listed] == ["both", "heavy"]
    assert one["maquette"]["native_size"] == "64x64"
    assert "circle" in one["maquette"]["vocabulary"]


async def test_metrics_count_what_ran(http, workers):
    await draw(http, "a hard circle", seed=3)
    await draw(http, model="dall-e-9")

    text = (await http.get("/metrics")).text

    assert 'maquette_attempts_total{cached="false",variant="light",verdict="escalate"} 1.0' in text
    assert 'maquette_workers{pool="heavy"} 1.0' in text
    assert 'maquette_refusals_total{code="model_not_found"} 1.0' in text


async def test_the_page_loads_only_from_here(http):
    page = await http.get("/")

    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]
    for path in ("/static/page.js", "/static/page.css", "/static/mark.svg"):
        assert path in page.text
        assert (await http.get(path)).status_code == 200


async def test_only_the_pages_own_files_are_static(http):
    for path in ("/static/%00", "/static/..%2Findex.html", "/static/nothing.js"):
        assert (await http.get(path)).status_code == 404


async def test_the_schema_loads_nothing_from_elsewhere(http):
    assert (await http.get("/schema/openapi.json")).json()["info"]["title"] == "Maquette"
    assert "cdn" not in (await http.get("/schema")).text


def test_every_error_of_the_rooms_has_a_shape():
    def leaves(kind):
        return [leaf for child in kind.__subclasses__() for leaf in leaves(child)] or [kind]

    roots = (cascade_errors.CascadeError, tenant_errors.TenantError, failures.HallError)
    assert [leaf for root in roots for leaf in leaves(root) if leaf not in SHAPES] == []
