"""The page, as a person sees it."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect


async def draw(page, prompt, **fields):
    await page.get_by_label("Prompt", exact=True).fill(prompt)
    for label, value in fields.items():
        await page.get_by_label(label, exact=True).fill(value)
    await page.get_by_role("button", name="Draw", exact=True).click()


async def test_a_picture_is_drawn_and_its_trace_shown(page):
    await draw(page, "three purple crosses on a white background", Seed="7")

    await expect(page.get_by_text(re.compile("Answered in"))).to_be_visible(timeout=20_000)
    pictures = page.locator("figure img")
    await expect(pictures.first).to_be_visible()
    assert await pictures.first.evaluate("image => image.decode().then(() => image.naturalWidth)") == 64
    await expect(page.locator("figcaption").first).to_contain_text("score")
    await expect(page.locator("figure.chosen")).to_have_count(1)
    await expect(page.get_by_text("GPU-ms charged")).to_be_visible()


async def test_the_same_seed_again_is_from_the_cache(page):
    for _ in range(2):
        await draw(page, "a small blue star on a beige background", Seed="8")
        await expect(page.get_by_text(re.compile("Answered in"))).to_be_visible(timeout=20_000)

    await expect(page.get_by_text("from the cache, 0 GPU-ms").first).to_be_visible()


async def test_the_key_leaves_the_address(page, gateway):
    await expect(page.get_by_label("Model", exact=True)).to_contain_text("shapes-dev")

    assert gateway.key not in page.url


async def test_what_is_wrong_is_said(page):
    await draw(page, "an astronaut on a horse")

    await expect(page.locator("#message")).to_contain_text("does not know word")


async def test_an_idea_fills_the_prompt(page):
    await page.get_by_role("button", name="three purple crosses on a white background").click()

    await expect(page.get_by_label("Prompt", exact=True)).to_have_value("three purple crosses on a white background")


@pytest.mark.parametrize("width", [390, 1280])
async def test_the_page_fits_its_width(page, width):
    await page.set_viewport_size({"width": width, "height": 900})

    assert await page.evaluate("document.documentElement.scrollWidth") <= width
