"""Debian's Chromium on a running gateway. Apart from the asyncio tests: pytest-playwright is synchronous."""

from __future__ import annotations

import shutil

import pytest

from tests.live_gateway import a_gateway


@pytest.fixture(scope="session")
def gateway():
    with a_gateway() as running:
        yield running


@pytest.fixture(scope="session")
def base_url(gateway):
    return gateway.url


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    chromium = shutil.which("chromium")
    assert chromium, "chromium is missing: `make test` installs it, or asks for it"
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    return {
        **browser_type_launch_args,
        "executable_path": chromium,
        "args": ["--no-sandbox", "--disable-gpu", "--disable-quic", *quiet],
    }
