"""A model folder to draw with, made once per run."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.backends import tiny_flux


@pytest.fixture(scope="session")
def guided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny FLUX.1-dev with random weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter
        return tiny_flux.build(tmp_path_factory.mktemp("guided"))
