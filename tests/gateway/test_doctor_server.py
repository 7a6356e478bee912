"""What the doctor finds at the server, on real ones."""

from __future__ import annotations

import dataclasses
import socket
import time

import pytest
from redis import Redis

from gateway.local import embedded_valkey
from gateway.local.doctor.ask_server import look_at_server
from gateway.local.doctor.findings import Verdict
from gateway.local.doctor.server import Answer, Embedded, Server, judge_server
from gateway.settings import Settings
from tests.conftest import running_server
from tests.gateway.doctoring import faults, only_fault

PASSWORD = "geheim/geheim"


ANSWER = Answer(
    product="Redis", version="7.0.15", replica=False, cluster=False, append_only=True, disk_fault=False,
    eviction="noeviction", most_bytes=0, used_bytes=10, scripts=True, round_trip_ms=0.2, ahead_ms=0,
)  # fmt: skip


def test_a_sound_server_is_well():
    assert faults(judge_server(Server(None, ANSWER))) == []


@pytest.mark.parametrize(
    ("changes", "verdict", "said"),
    [
        ({"version": "6.2.7"}, Verdict.PROBLEM, "Redis 6.2.7, which is too old"),
        ({"scripts": False}, Verdict.PROBLEM, "no Lua scripts"),
        ({"replica": True}, Verdict.PROBLEM, "It is a replica"),
        ({"cluster": True}, Verdict.WARNING, "Redis Cluster"),
        ({"append_only": False}, Verdict.WARNING, "appendonly yes"),
        ({"disk_fault": True}, Verdict.PROBLEM, "last write to disk failed"),
        ({"eviction": "allkeys-lru"}, Verdict.WARNING, "once `maxmemory` is set"),
        ({"eviction": "allkeys-lru", "most_bytes": 1000}, Verdict.PROBLEM, "budgets and jobs among them"),
        ({"most_bytes": 100, "used_bytes": 95}, Verdict.WARNING, "95% full"),
        ({"round_trip_ms": 40.0}, Verdict.WARNING, "An answer takes 40 ms"),
        ({"ahead_ms": -90_000}, Verdict.WARNING, "90 s behind this machine's"),
    ],
)
def test_a_server_that_is_old_forgetful_or_far_is_said(changes, verdict, said):
    found, text = only_fault(judge_server(Server(None, dataclasses.replace(ANSWER, **changes))))

    assert found is verdict
    assert said in text


@pytest.fixture(params=["valkey", "redis"])
def server(request):
    """A server that a test may configure as it likes, and its settings."""
    with running_server(request.param) as running, Redis.from_url(running.url, decode_responses=True) as client:
        yield running, client


def answer_of(running):
    return look_at_server(Settings(redis_url=running.url)).answer


def test_what_a_server_says_of_itself_is_seen(server):
    running, client = server

    before = answer_of(running)
    client.config_set("appendonly", "yes")
    while client.info("persistence")["aof_rewrite_in_progress"]:  # a server that writes its first file can't be stopped
        time.sleep(0.05)
    client.config_set("maxmemory-policy", "allkeys-lru")
    client.config_set("maxmemory", 100_000_000)
    after = answer_of(running)

    assert (before.product.lower(), before.append_only, before.eviction) == (running.name, False, "noeviction")
    assert (after.append_only, after.eviction, after.most_bytes) == (True, "allkeys-lru", 100_000_000)
    assert (after.scripts, after.replica, after.cluster, after.disk_fault) == (True, False, False, False)
    assert abs(after.ahead_ms) < 2000
    assert client.dbsize() == 0


def test_a_replica_is_seen(server):
    running, client = server
    client.replicaof("127.0.0.1", 1)

    assert answer_of(running).replica


def test_a_server_that_wants_a_password_is_told_from_one_that_is_away(server):
    running, client = server
    client.config_set("requirepass", PASSWORD)

    asked = answer_of(running)

    assert asked == "refuses the user or the password, or wants one."
    client.config_set("requirepass", "")


def test_a_server_without_scripts_for_this_user_is_seen(server):
    running, client = server
    client.acl_setuser("doctor", enabled=True, passwords=["+pw"], commands=["+@all", "-@scripting"], keys=["*"])

    asked = look_at_server(Settings(redis_url=f"unix://doctor:pw@{running.socket}")).answer

    assert asked.scripts is False


def test_a_server_that_accepts_and_says_nothing_is_given_up(server):
    running, _ = server
    with running.stalled():
        asked = answer_of(running)

    assert asked == "does not answer within 2 s."


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"redis://:{PASSWORD}@127.0.0.1:6379", "can't be asked"),
        (f"http://:{PASSWORD}@127.0.0.1", "can't be asked"),
        ("", "can't be asked"),
        ("redis://:geheim@127.0.0.1:1?socket_timeout=600", "can't be reached: Connection refused"),
        ("redis://geheim.invalid:6379", "can't be reached: "),
        ("unix:///geheim/redis.sock", "can't be reached: No such file or directory"),
    ],
)
def test_a_server_that_is_not_there_is_said_without_its_address(url, said):
    facts = look_at_server(Settings(redis_url=url))

    verdict, text = only_fault(judge_server(facts))
    assert verdict is Verdict.PROBLEM
    assert said in text
    assert "geheim" not in text


def test_an_embedded_server_that_is_not_running_is_well(tmp_path):
    facts = look_at_server(Settings(data_dir=tmp_path / "new"))

    assert facts.embedded.fault == ""
    assert faults(judge_server(facts)) == []
    assert list(tmp_path.iterdir()) == []


def test_the_socket_that_a_killed_server_left_is_no_server(tmp_path):
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(tmp_path / "valkey.sock"))

    facts = look_at_server(Settings(data_dir=tmp_path))

    assert not facts.embedded.running
    assert faults(judge_server(facts)) == []


def test_an_embedded_server_that_does_not_answer_is_a_problem(tmp_path):
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "valkey.sock"))
        deaf.listen()
        facts = look_at_server(Settings(data_dir=tmp_path))

    assert "The embedded server does not answer" in only_fault(judge_server(facts))[1]


def test_an_embedded_server_that_can_t_run_is_a_problem():
    facts = Server(Embedded(fault="Its binary fails (exit code 1).", socket_bytes=20, running=False), None)

    assert "MAQUETTE_REDIS_URL" in only_fault(judge_server(facts))[1]


@pytest.mark.parametrize("length", [100, 101])
def test_a_path_is_too_long_for_the_doctor_when_it_is_for_the_server(tmp_path, length):
    folder = tmp_path.resolve() / ("x" * (length - len(str(tmp_path.resolve())) - len("/") - len("/valkey.sock")))
    settings = Settings(data_dir=folder)
    try:
        embedded_valkey.command(settings.socket, folder)
        refused = False
    except embedded_valkey.EmbeddedServerError:
        refused = True

    facts = look_at_server(settings)

    assert facts.embedded.socket_bytes == length
    assert bool(faults(judge_server(facts))) is refused is (length > 100)
