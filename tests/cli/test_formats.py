"""`ttdbg formats LOCATION`: who reads it and why, and what the others say."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hostile_files import SAMPLES, pi, said

from tt_debugger import formats
from tt_debugger.discovery import Discovery
from tt_debugger.formats import known_formats
from tt_debugger.formats.tau import Tau
from tt_debugger.store import Match, Probe

Ask = Callable[..., Any]


class Timid(Tau):
    """An installed format; its claim is made by the fixture."""

    format: ClassVar[str] = "timid"
    __module__ = "elsewhere"


@pytest.fixture
def timid(monkeypatch: pytest.MonkeyPatch) -> list[Probe]:
    """The timid format, and what it was asked about."""
    asked: list[Probe] = []

    def installed() -> tuple[type[Timid]]:
        return (Timid,)

    def sniff(probe: Probe) -> Match | None:
        asked.append(probe)
        return Match(100, "whatever \x1b[31mit is")

    monkeypatch.setattr(Timid, "sniff", sniff)
    monkeypatch.setattr(formats, "installed_formats", installed)
    return asked


@pytest.mark.parametrize("name", ["pi", "tau"])
def test_the_format_that_opens_a_file_is_named_with_its_reason(ttdbg: Ask, name: str) -> None:
    file = SAMPLES / f"{name}.jsonl"
    answer = ttdbg("formats", file, "--json")
    first = answer.json["claims"][0]

    assert (answer.code, answer.err) == (0, "")
    assert answer.json["location"] == str(file)
    assert answer.json["format"] == first["format"] == name
    assert ttdbg("log", file, "--json").json["format"] == name
    assert ttdbg("formats", file).out.splitlines()[0].split() == [
        name,
        str(first["score"]),
        "reads",
        "it:",
        *first["reason"].split(),
    ]


def test_every_format_is_asked_and_has_one_line(ttdbg: Ask) -> None:
    file = SAMPLES / "pi.jsonl"
    told = ttdbg("formats", file, "--json").json
    claimed = [each["format"] for each in told["claims"]]
    scores = [each["score"] for each in told["claims"]]
    lines = ttdbg("formats", file).out.splitlines()

    assert sorted([*claimed, *told["without_claim"]]) == sorted(
        each.format for each in known_formats()
    )
    assert scores == sorted(scores, reverse=True)
    assert [each.split()[0] for each in lines] == [*claimed, *told["without_claim"]]
    assert [each.endswith("no claim") for each in lines] == [
        *(False for _ in claimed),
        *(True for _ in told["without_claim"]),
    ]


def test_what_none_reads_is_refused_in_the_words_of_open(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("# Notes\n\nplain text\n")
    opened, told = ttdbg("open", file), ttdbg("formats", file, "--json")

    assert (opened.code, told.code, ttdbg("formats", file).code) == (3, 3, 3)
    assert opened.err == told.err == ttdbg("formats", file).err
    assert (told.json["format"], told.json["claims"]) == (None, [])


def test_a_blank_file_is_no_formats_and_no_error(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "blank.jsonl"
    file.write_bytes(b"\n\n")
    answer = ttdbg("formats", file, "--json")

    assert (answer.code, answer.err) == (0, f"{file} holds nothing\n")
    assert answer.json["format"] is None


def test_a_missing_file_is_refused_as_everywhere(ttdbg: Ask, tmp_path: Path) -> None:
    answer = ttdbg("formats", tmp_path / "none")

    assert answer == (3, "", f"ttdbg: cannot read {tmp_path}/none: there is no such file\n")


def test_an_installed_format_is_asked_only_where_none_of_ours_has_a_claim(
    ttdbg: Ask, timid: list[Probe], tmp_path: Path
) -> None:
    assert ttdbg("log", SAMPLES / "tau.jsonl", "--json").json["format"] == "tau"
    assert timid == []
    assert ttdbg("formats", SAMPLES / "tau.jsonl", "--json").json["format"] == "tau"
    assert len(timid) == 1

    file = tmp_path / "notes.md"
    file.write_text("# Notes\n")
    assert ttdbg("formats", file).out.splitlines()[0].startswith("timid")


@pytest.mark.usefixtures("timid")
def test_sessions_names_the_format_that_opens_a_file(ttdbg: Ask, tmp_path: Path) -> None:
    tau = Path(shutil.copy(SAMPLES / "tau.jsonl", tmp_path))
    notes = tmp_path / "notes.jsonl"
    notes.write_text("# Notes\n")
    listed = {each.location: each.format for each in Discovery(str(tmp_path)) if each is not None}

    assert listed == {str(tau): "tau", str(notes): "timid"}
    assert listed == {
        each: ttdbg("formats", each, "--json").json["format"] for each in map(str, (tau, notes))
    }


@pytest.mark.usefixtures("timid")
def test_what_a_reason_holds_is_drawn_safely(ttdbg: Ask) -> None:
    answer = ttdbg("formats", SAMPLES / "tau.jsonl")

    assert "would read it too: whatever ␛[31mit is" in answer.out


@pytest.mark.usefixtures("timid")
def test_an_archive_may_be_read_by_an_installed_format_alone(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with tarfile.open(file, "w") as archive:
        archive.add(SAMPLES / "pi.jsonl", "pi.jsonl")
    told = ttdbg("formats", file, "--json").json

    assert [each["format"] for each in told["claims"]] == ["timid"]


def test_a_session_in_an_archive_is_refused_with_the_way_to_it(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with tarfile.open(file, "w") as archive:
        archive.add(SAMPLES / "pi.jsonl", "pi.jsonl")
    answer = ttdbg("log", file)

    assert (answer.code, answer.out) == (3, "")
    assert answer.err.splitlines() == [
        f"ttdbg: cannot read {file}: it is a tar archive",
        "hint: take the session out of it: tar -xOf FILE NAME | ttdbg log -",
    ]


def test_compressed_input_is_refused_at_once(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl.gz"
    # 40 MB in 40 KB: nothing of it may be unpacked.
    file.write_bytes(gzip.compress(pi(said("a", None)) + b" " * (40 << 20)))
    ttdbg("log", file)
    began = time.process_time()
    answer = ttdbg("log", file)

    assert time.process_time() - began < 0.1
    assert answer == (
        3,
        "",
        (
            f"ttdbg: cannot read {file}: it is gzip-compressed\n"
            "hint: gunzip -c FILE | ttdbg log -\n"
        ),
    )
