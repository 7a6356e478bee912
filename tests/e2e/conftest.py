"""Gateways of the bundled models."""

from __future__ import annotations

import pytest

from tests.live_gateway import a_gateway


@pytest.fixture(scope="session")
def gateway():
    """A gateway that tests share; none of them may break it."""
    with a_gateway() as running:
        yield running


@pytest.fixture
def own_gateway():
    """A gateway that a test may maltreat."""
    with a_gateway(MAQUETTE_LEASE_SECONDS="2") as running:
        yield running
