"""Debian's Chromium on a running gateway. Playwright's asynchronous API: its other one keeps a loop of its own."""

from __future__ import annotations

import shutil

import pytest
from playwright.async_api import async_playwright

from tests.live_gateway import a_gateway

QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def gateway():
    with a_gateway() as running:
        yield running


@pytest.fixture
async def page(gateway):
    """The page with a key in its address; no console error and no request to elsewhere is let pass."""
    chromium = shutil.which("chromium")
    assert chromium, "chromium is missing: `make test` installs it, or asks for it"
    faults = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        page = await browser.new_page(base_url=gateway.url)
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request", lambda request: faults.append(request.url) if not request.url.startswith(gateway.url) else None
        )
        await page.goto(f"/#key={gateway.key}")
        yield page
        await browser.close()
    assert [fault for fault in faults if "status of 400" not in fault] == []
