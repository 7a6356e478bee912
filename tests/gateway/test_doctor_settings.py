"""What the doctor finds in the settings, the data folder and the port."""

from __future__ import annotations

import dataclasses
import errno
import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gateway.local.doctor.configuration import (
    Configuration,
    RedisAddress,
    Secret,
    judge_configuration,
    look_at_configuration,
)
from gateway.local.doctor.data_folder import DataFolder, judge_data_folder, look_at_data_folder
from gateway.local.doctor.findings import Verdict
from gateway.local.doctor.port import Port, judge_port, look_at_port
from gateway.settings import Settings
from tests.gateway.doctoring import faults, only_fault

PASSWORD = "geheim/geheim"


# The settings


SOUND = Configuration(
    variables=frozenset({"MAQUETTE_PORT"}),
    read=frozenset({"MAQUETTE_PORT", "MAQUETTE_REDIS_URL"}),
    sync_seconds=120,
    lease_seconds=10,
    public_url=None,
    secret=Secret(variable=False, length=64, differs=False),
    redis=None,
)
FAR = RedisAddress(near=False, password=True, encrypted=True)


def test_sound_settings_are_well():
    assert faults(judge_configuration(SOUND)) == []


@pytest.mark.parametrize(
    ("changes", "verdict", "said"),
    [
        ({"variables": frozenset({"MAQUETTE_REDIS_URI"})}, Verdict.WARNING, "Did you mean MAQUETTE_REDIS_URL?"),
        ({"lease_seconds": 120.0}, Verdict.WARNING, "MAQUETTE_LEASE_SECONDS is not below"),
        ({"public_url": "images.example"}, Verdict.PROBLEM, "MAQUETTE_PUBLIC_URL does not start with"),
        ({"public_url": "https:///x"}, Verdict.PROBLEM, "MAQUETTE_PUBLIC_URL does not start with"),
        ({"secret": Secret(variable=True, length=15, differs=False)}, Verdict.PROBLEM, "MAQUETTE_SECRET holds fewer"),
        ({"secret": Secret(variable=False, length=0, differs=False)}, Verdict.PROBLEM, "The file `secret`"),
        ({"secret": Secret(variable=True, length=16, differs=True)}, Verdict.WARNING, "keys and links made with that"),
        ({"redis": FAR}, Verdict.WARNING, "Set MAQUETTE_SECRET to one value"),
        (
            {
                "redis": dataclasses.replace(FAR, encrypted=False),
                "secret": Secret(variable=True, length=16, differs=False),
            },
            Verdict.WARNING,
            "unencrypted",
        ),
    ],
)
def test_settings_that_are_unread_unusable_or_contradict_are_said(changes, verdict, said):
    found, text = only_fault(judge_configuration(dataclasses.replace(SOUND, **changes)))

    assert found is verdict
    assert said in text


@pytest.mark.parametrize(
    ("changes"),
    [
        {"public_url": "https://images.example/pictures"},
        {"secret": Secret(variable=False, length=None, differs=False)},
        {"redis": FAR, "secret": Secret(variable=True, length=32, differs=False)},
        {"redis": RedisAddress(near=True, password=True, encrypted=False)},
    ],
)
def test_settings_that_only_look_suspicious_are_well(changes):
    assert faults(judge_configuration(dataclasses.replace(SOUND, **changes))) == []


def test_a_variable_with_a_typing_error_is_seen_and_those_of_the_catalogue_are_known(tmp_path, monkeypatch):
    (tmp_path / "catalogue.yaml").write_text("folder: ${MAQUETTE_MODELS:-here}/light")
    monkeypatch.setenv("MAQUETTE_MODELS", "there")
    monkeypatch.setenv("MAQUETTE_SYNC_SECOND", "30")

    facts = look_at_configuration(Settings(data_dir=tmp_path, catalogue=tmp_path / "catalogue.yaml"))

    text = only_fault(judge_configuration(facts))[1]
    assert text == "MAQUETTE_SYNC_SECOND is set, but nothing reads it. Did you mean MAQUETTE_SYNC_SECONDS?"


def test_a_secret_that_is_not_the_kept_one_is_seen_and_not_kept_in_the_facts(tmp_path):
    (tmp_path / "secret").write_text("k" * 32)

    facts = look_at_configuration(Settings(data_dir=tmp_path, secret=PASSWORD * 2))

    assert facts.secret == Secret(variable=True, length=26, differs=True)
    assert PASSWORD not in repr(facts)
    assert not look_at_configuration(Settings(data_dir=tmp_path, secret="k" * 32)).secret.differs


def test_looking_for_the_secret_makes_none(tmp_path):
    facts = look_at_configuration(Settings(data_dir=tmp_path / "new"))

    assert facts.secret.length is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("unix:///run/redis.sock", RedisAddress(near=True, password=False, encrypted=False)),
        ("redis://:pw@127.0.0.1:6379", RedisAddress(near=True, password=True, encrypted=False)),
        ("redis://[::1]", RedisAddress(near=True, password=False, encrypted=False)),
        ("rediss://u:pw@redis.example", RedisAddress(near=False, password=True, encrypted=True)),
        ("redis://[oops", None),
    ],
)
def test_an_address_is_read_for_what_can_be_wrong_with_it(tmp_path, url, address):
    assert look_at_configuration(Settings(data_dir=tmp_path, redis_url=url)).redis == address


# The data folder


FOLDER = DataFolder(exists=True, is_folder=True, writable=True, free_bytes=2**40, exposed=())


def test_a_data_folder_is_seen_as_it_is(tmp_path):
    for name, mode in (("secret", 0o640), ("demo.key", 0o600)):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(mode)

    facts = look_at_data_folder(Settings(data_dir=tmp_path))

    assert dataclasses.replace(facts, free_bytes=0) == DataFolder(
        exists=True, is_folder=True, writable=True, free_bytes=0, exposed=["secret"]
    )
    assert facts.free_bytes > 0
    assert "Other users" in only_fault(judge_data_folder(dataclasses.replace(facts, free_bytes=2**40)))[1]


def test_a_data_folder_that_is_not_there_yet_is_not_made(tmp_path):
    facts = look_at_data_folder(Settings(data_dir=tmp_path / "a" / "b"))

    assert not facts.exists
    assert judge_data_folder(facts)[0].verdict is Verdict.OK
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_the_data_folder_should_be_is_a_problem(tmp_path):
    (tmp_path / "file").write_text("")

    facts = look_at_data_folder(Settings(data_dir=tmp_path / "file" / "data"))

    assert judge_data_folder(facts)[0].verdict is Verdict.PROBLEM


@pytest.mark.parametrize(
    ("changes", "verdict", "said"),
    [
        ({"writable": False}, Verdict.PROBLEM, "can't be written to"),
        ({"free_bytes": 200 * 2**20}, Verdict.PROBLEM, "200 MiB are free"),
        ({"free_bytes": 2**30}, Verdict.WARNING, "only 1024 MiB left"),
    ],
)
def test_a_data_folder_without_room_or_rights_is_said(changes, verdict, said):
    found, text = only_fault(judge_data_folder(dataclasses.replace(FOLDER, **changes)))

    assert found is verdict
    assert said in text


# The port


@contextmanager
def answering(content):
    """A web server that gives every question this answer; yields its port."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_free_port_is_free():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    assert look_at_port(Settings(port=port)) == Port(port, 0)
    assert faults(judge_port(Port(port, 0))) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_port_that_something_else_holds_is_a_problem(host):
    with answering(b'{"status": "ok"}') as port:
        facts = look_at_port(Settings(host=host, port=port))

    assert facts == Port(port, errno.EADDRINUSE, None)
    assert "no Maquette" in only_fault(judge_port(facts))[1]


def test_a_gateway_with_an_idle_pool_is_told_from_others():
    pools = [{"name": "light", "workers": 1}, {"name": "heavy", "workers": 0}]
    with answering(json.dumps({"ready": False, "pools": pools}).encode()) as port:
        facts = look_at_port(Settings(port=port))

    assert facts.idle_pools == ["heavy"]
    verdict, text = only_fault(judge_port(facts))
    assert verdict is Verdict.WARNING
    assert "no worker serves heavy" in text


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
def test_an_address_of_another_machine_is_a_problem(host):
    assert "no address of this machine" in only_fault(judge_port(look_at_port(Settings(host=host, port=0))))[1]


def test_a_port_that_is_roots_is_a_problem():
    assert "Ports below 1024" in only_fault(judge_port(Port(80, errno.EACCES)))[1]
