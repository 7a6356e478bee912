"""Children are kept alive while wanted, and gone afterwards."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from gateway.local import embedded_valkey
from gateway.local.embedded_valkey import EmbeddedServerError
from gateway.local.supervisor import (
    AlreadyRunningError,
    Child,
    DataFolderError,
    embedded_server,
    kept_alive,
    sole_owner,
)
from gateway.settings import Settings

APPEND_PID = (
    "import os, sys, time; print(os.getpid(), file=open(sys.argv[1], 'a'), flush=True); time.sleep(float(sys.argv[2]))"
)


def a_child(path, seconds):
    return Child("child", (sys.executable, "-c", APPEND_PID, str(path), str(seconds)))


async def pids(path, count):
    give_up = time.monotonic() + 20
    while not path.exists() or len(path.read_text().split()) < count:
        assert time.monotonic() < give_up
        await asyncio.sleep(0.05)
    return [int(word) for word in path.read_text().split()]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_child_that_ends_is_started_again(tmp_path):
    async with kept_alive([a_child(tmp_path / "pids", 0)]):
        assert len(set(await pids(tmp_path / "pids", 3))) >= 3


async def test_a_child_is_gone_afterwards(tmp_path):
    async with kept_alive([a_child(tmp_path / "pids", 60)]):
        [pid] = await pids(tmp_path / "pids", 1)
        assert alive(pid)

    assert not alive(pid)


def test_a_data_folder_has_one_owner(tmp_path):
    with sole_owner(tmp_path), pytest.raises(AlreadyRunningError), sole_owner(tmp_path):
        pass
    with sole_owner(tmp_path):
        pass


def test_a_data_folder_that_is_a_file_is_said(tmp_path):
    (tmp_path / "data").write_text("")

    with pytest.raises(DataFolderError, match="File exists"), sole_owner(tmp_path / "data"):
        pass


async def test_the_embedded_server_answers_while_inside(tmp_path):
    settings = Settings(data_dir=tmp_path)

    async with embedded_server(settings):
        assert await embedded_valkey.answers(settings.socket)

    assert not await embedded_valkey.answers(settings.socket)


async def test_the_data_folder_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings(data_dir=Path("data"))

    async with embedded_server(settings):
        assert await embedded_valkey.answers(settings.socket)


async def test_a_stale_socket_does_not_keep_the_server_from_starting(tmp_path):
    settings = Settings(data_dir=tmp_path)
    settings.socket.write_text("")

    async with embedded_server(settings):
        assert await embedded_valkey.answers(settings.socket)


def test_a_path_too_long_for_a_socket_is_said(tmp_path):
    with pytest.raises(EmbeddedServerError, match="too long"):
        embedded_valkey.command(tmp_path / ("x" * 120) / "valkey.sock", tmp_path)
