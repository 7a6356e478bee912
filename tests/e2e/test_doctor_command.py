"""`maquette doctor`, and where the other commands send people to it."""

from __future__ import annotations

import json

import pytest
from redis import Redis

from tests.live_gateway import Gateway

SECRETS = ("geheimes-wort", "noch-ein-geheimnis")


@pytest.fixture
def lonely(tmp_path):
    """The commands of a machine on which nothing runs, and whose data folder was never made."""
    (tmp_path / "home").mkdir()
    return Gateway(tmp_path / "home" / "data")


def said(done):
    return " ".join((done.stdout + done.stderr).split())


def state_of(gateway):
    """Names of all files, and of all keys but those that a running gateway renews by itself."""
    with Redis.from_url(f"unix://{gateway.folder}/valkey.sock", decode_responses=True) as client:
        keys = sorted(key for key in client.scan_iter() if ":workers" not in key)
    return keys, sorted(path.relative_to(gateway.folder) for path in gateway.folder.rglob("*"))


@pytest.mark.timeout(300)  # it imports torch and diffusers, beside the gateway
def test_a_running_gateway_is_found_to_be_well_and_is_left_as_it_is(gateway):
    before = state_of(gateway)

    done = gateway.command("doctor", "--json")

    findings = json.loads(done.stdout)
    assert [it for it in findings if it["verdict"] == "problem"] == []
    assert done.returncode == 0
    assert {"packages", "imports", "port", "server", "persistence", "model files", "drawing"} <= {
        it["about"] for it in findings
    }
    assert any("A gateway serves port" in it["what"] for it in findings)
    assert state_of(gateway) == before


def test_a_machine_on_which_nothing_runs_is_well_and_stays_untouched(lonely):
    done = lonely.command("doctor", "--quick")

    assert done.returncode == 0, done.stdout
    assert "`maquette up` starts it" in said(done)
    assert list(lonely.folder.parent.iterdir()) == []


def test_everything_that_is_wrong_is_said_at_once_with_a_remedy_and_without_a_secret(lonely):
    lonely.extra |= {
        "MAQUETTE_REDIS_URL": f"redis://me:{SECRETS[0]}@127.0.0.1:1",
        "MAQUETTE_SECRET": SECRETS[1][:12],
        "MAQUETTE_HOST": "203.0.113.7",
        "MAQUETTE_CATALOGUE": str(lonely.folder / "none.yaml"),
        "MAQUETTE_LINK_SECOND": SECRETS[1],
    }

    table, listed = lonely.command("doctor", "--quick"), lonely.command("doctor", "--quick", "--json")

    assert (table.returncode, listed.returncode) == (1, 1)
    wrong = {it["about"]: it for it in json.loads(listed.stdout) if it["verdict"] != "ok"}
    assert wrong.keys() == {"server", "secret", "port", "catalogue", "settings"}
    assert all(it["remedy"] for it in wrong.values())
    for words in ("fewer than 16 characters", "Connection refused", "Did you mean", "4 problems, 1 warning"):
        assert words in said(table)
    for secret in (*SECRETS, SECRETS[1][:12]):
        assert secret not in said(table) + said(listed)
    assert "Traceback" not in said(table)


@pytest.mark.parametrize("command", [("tenants", "list"), ("keys", "create", "acme"), ("quota", "show", "demo")])
def test_a_command_that_finds_no_server_says_what_to_start(lonely, command):
    done = lonely.command(*command)

    assert done.returncode == 2
    assert said(done) == (
        "error: No server runs in this data folder. Start `maquette up`, or name another folder: MAQUETTE_DATA_DIR. "
        "`maquette doctor` says more."
    )


def test_a_command_whose_server_is_away_names_the_variable_and_not_the_address(lonely):
    lonely.extra["MAQUETTE_REDIS_URL"] = f"redis://:{SECRETS[0]}@127.0.0.1:1"

    done = lonely.command("tenants", "list", "--json")

    assert done.returncode == 2
    assert "MAQUETTE_REDIS_URL does not answer" in json.loads(done.stdout)["error"]
    assert done.stderr == ""
