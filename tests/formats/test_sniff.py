"""The sniff matrix: each fixture is claimed by its own format alone, or by it more than any."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import FILES, PI_HEADER, jsonl, pi, tau, user

from tt_debugger.errors import CannotReadError
from tt_debugger.formats import known_formats, recognise
from tt_debugger.storage.files import HEAD
from tt_debugger.storage.probe import probe
from tt_debugger.store import Match, Probe

WRITTEN = [(name, path) for name, path in FILES if path.read_bytes().strip()]


def claims(seen: Probe) -> dict[str, Match]:
    found = {each.format: each.sniff(seen) for each in known_formats()}
    return {name: match for name, match in found.items() if match is not None}


def probed(data: bytes) -> Probe:
    return Probe("/home/dev/s.jsonl", "s.jsonl", data, len(data))


@pytest.mark.parametrize(
    ("name", "path"), WRITTEN, ids=[f"{name}-{path.stem}" for name, path in WRITTEN]
)
def test_each_fixture_is_claimed_most_by_its_own_format(name: str, path: Path):
    found = claims(probe(str(path)))
    others = [match.score for other, match in found.items() if other != name]

    assert name in found
    assert all(score < found[name].score for score in others)
    assert all(1 <= match.score <= 100 and match.reason for match in found.values())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n \n\r\n",
        b"\xef\xbb\xbf",
        b"\0" * 100,
        b"plain text\nof two lines\n",
        b'{"a":1}\n',
        b'{"type":"message"}\n',
        b'[1,2]\n"text"\n7\nnull\n',
        b'{"type":"user","uuid":"u1","message":{"role":"user","content":"hi"}}\n',
        b'{"type":["message"],"id":{},"parentId":[]}\n',
        b'{"type":"session"}\n',
        b"[" * 5000,
        b'{"type":"message","parent',
        jsonl({"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}),
    ],
)
def test_what_is_blank_or_unknown_is_claimed_by_nobody(data: bytes):
    assert claims(probed(data)) == {}


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_refused_with_the_command_that_mends_it(mark: bytes):
    with pytest.raises(CannotReadError, match="UTF-16") as error:
        recognise(probed(mark + b"{\0}\0"))

    assert "iconv" in (error.value.hint or "")


def test_no_format_decides_for_the_others_that_a_file_is_utf_16():
    seen = probed(b"\xff\xfe\n" + jsonl(PI_HEADER))

    assert recognise(seen)[0].format == "pi"


@pytest.mark.parametrize("blank", [b"", b"\n" * (2 * HEAD)])
@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("pi", {**PI_HEADER, "cwd": "x" * HEAD}),
        ("tau", tau("b", "a", user("x" * (5 * HEAD)))),
    ],
)
def test_a_first_line_of_any_length_is_recognised(
    name: str, first: dict[str, object], blank: bytes, tmp_path: Path
):
    path = tmp_path / "s.jsonl"
    path.write_bytes(blank + jsonl(first, *[{"z": "z" * HEAD}] * 9))

    assert list(claims(probe(str(path)))) == [name]


def test_a_pi_file_without_its_header_is_still_pis():
    assert list(claims(probed(jsonl(pi("a", None, user("hi")))))) == ["pi"]


def test_a_tau_file_of_roots_alone_is_still_taus():
    assert list(claims(probed(jsonl(tau("a", None, user("hi")))))) == ["tau"]


def test_a_first_line_that_the_probe_cuts_is_not_read():
    entry = jsonl(tau("a", "b", user("hi")))
    cut = Probe("s", "s", entry + b'{"parentId":', 10**6)

    assert list(claims(cut)) == ["tau"]
