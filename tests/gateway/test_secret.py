"""The installation's secret."""

from __future__ import annotations

import stat

import pytest

from gateway.secret import WeakSecretError, installation_secret
from gateway.settings import Settings


def test_a_secret_is_made_once_and_kept_for_its_owner(tmp_path):
    settings = Settings(data_dir=tmp_path / "new")

    first = installation_secret(settings)

    assert installation_secret(settings) == first
    assert len(first) == 64
    assert stat.S_IMODE((tmp_path / "new" / "secret").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["secret"]


def test_a_configured_secret_wins(tmp_path):
    settings = Settings(data_dir=tmp_path, secret="0123456789abcdef")

    assert installation_secret(settings) == b"0123456789abcdef"
    assert list(tmp_path.iterdir()) == []


def test_a_short_secret_is_refused_and_not_shown(tmp_path):
    with pytest.raises(WeakSecretError) as error:
        installation_secret(Settings(data_dir=tmp_path, secret="short"))

    assert "short" not in str(error.value)
    assert "short" not in repr(Settings(secret="short"))
