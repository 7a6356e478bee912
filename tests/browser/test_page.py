"""The page, as a person sees it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect


@pytest.fixture
def open_page(page, gateway):
    """The page with a key, watched for errors and for requests to elsewhere."""
    faults = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(gateway.url) else faults.append(request.url))
    page.goto(f"/#key={gateway.key}")
    yield page
    assert [fault for fault in faults if "status of 400" not in fault] == []


def draw(page, prompt, **fields):
    page.get_by_label("Prompt").fill(prompt)
    for label, value in fields.items():
        page.get_by_label(label).fill(value)
    page.get_by_role("button", name="Draw", exact=True).click()


def test_a_picture_is_drawn_and_its_trace_shown(open_page):
    draw(open_page, "three purple crosses on a white background", Seed="7")

    expect(open_page.get_by_text(re.compile("Answered in"))).to_be_visible(timeout=20_000)
    pictures = open_page.locator("figure img")
    expect(pictures.first).to_be_visible()
    assert pictures.first.evaluate("image => image.naturalWidth") == 64
    expect(open_page.locator("figcaption").first).to_contain_text("score")
    expect(open_page.locator("figure.chosen")).to_have_count(1)
    expect(open_page.get_by_text("GPU-ms charged")).to_be_visible()


def test_the_same_seed_again_is_from_the_cache(open_page):
    for _ in range(2):
        draw(open_page, "a small blue star on a beige background", Seed="8")
        expect(open_page.get_by_text(re.compile("Answered in"))).to_be_visible(timeout=20_000)

    expect(open_page.get_by_text("from the cache, 0 GPU-ms").first).to_be_visible()


def test_the_key_leaves_the_address(open_page, gateway):
    expect(open_page.get_by_label("Model")).to_contain_text("shapes-dev")

    assert gateway.key not in open_page.url


def test_what_is_wrong_is_said(open_page):
    draw(open_page, "an astronaut on a horse")

    expect(open_page.locator("#message")).to_contain_text("does not know word")


def test_an_idea_fills_the_prompt(open_page):
    open_page.get_by_role("button", name="three purple crosses on a white background").click()

    expect(open_page.get_by_label("Prompt")).to_have_value("three purple crosses on a white background")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_its_width(open_page, width):
    open_page.set_viewport_size({"width": width, "height": 900})

    assert open_page.evaluate("document.documentElement.scrollWidth") <= width
