"""Findings: a code, its severity, a place and a hint."""

from __future__ import annotations

import pytest

from tt_debugger.core.findings import (
    Code,
    Finding,
    Severity,
    finding,
    finding_json,
    is_serious,
)


def test_a_finding_has_the_severity_of_its_code():
    made = finding(Code.CYCLE, "round", hint="cut", line=3, offset=40, checkpoint="a")

    assert made == Finding(Code.CYCLE, Severity.ERROR, "round", "cut", 3, 40, "a")


def test_a_format_may_say_that_a_finding_is_worse():
    assert finding(Code.NO_FINAL_NEWLINE, "", severity=Severity.WARNING).severity == "warning"


def test_codes_are_unique_and_of_the_four_groups_of_contract():
    assert len({str(each) for each in Code}) == len(Code)
    assert {str(each)[:3] for each in Code} == {"TT1", "TT2", "TT3", "TT4"}


def test_the_json_of_a_finding_has_every_key():
    assert finding_json(finding(Code.UNREADABLE, "what", line=1)) == {
        "code": "TT101",
        "severity": "error",
        "line": 1,
        "offset": None,
        "checkpoint": None,
        "message": "what",
        "hint": None,
    }


@pytest.mark.parametrize(
    ("severities", "serious"),
    [
        ([], False),
        ([Severity.NOTE], False),
        ([Severity.NOTE, Severity.WARNING], True),
        ([Severity.ERROR], True),
    ],
)
def test_findings_are_serious_from_warning_on(severities: list[Severity], serious: bool):  # noqa: FBT001 - a column of the table
    found = tuple(finding(Code.HEADER, "", severity=each) for each in severities)

    assert is_serious(found) == serious
