"""Things to judge with: a tiny random CLIP and a head on it, made once per run."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.discriminators import tiny_clip


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny_clip.build_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="session")
def patchy_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One whose picture features hold pooled patches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny_clip.build_clip(tmp_path_factory.mktemp("patchy"), patches=True)


@pytest.fixture(scope="session")
def head(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny_clip.build_head(tmp_path_factory.mktemp("head"))


@pytest.fixture(scope="session")
def patchy_head(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny_clip.build_head(tmp_path_factory.mktemp("patchy-head"), patches=True)
