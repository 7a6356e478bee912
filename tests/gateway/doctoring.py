"""What tests of the doctor ask of its findings."""

from __future__ import annotations

from gateway.local.doctor.findings import Verdict


def faults(findings):
    """(verdict, text) of what is not well."""
    return [(it.verdict, f"{it.what} {it.remedy}") for it in findings if it.verdict is not Verdict.OK]


def only_fault(findings):
    [fault] = faults(findings)
    return fault
