"""The sniff matrix: each fixture is claimed by its own format alone, or by it more than any."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import FILES, FIXTURES, PI_HEADER, files_of, jsonl, pi, tau, user

from tt_debugger.errors import CannotReadError
from tt_debugger.formats import known_formats, recognise
from tt_debugger.storage.files import HEAD
from tt_debugger.storage.probe import probe
from tt_debugger.store import Match, Probe

WRITTEN = [
    (name, path)
    for name, path in FILES
    if any(each.read_bytes().strip() for each in files_of(path))
]


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
        b'[1,2]\n"text"\n7\nnull\n',
        b"[" * 5000,
        b'{"type":"message","parent',
        b'{"numStartups":1,"projects":{"/w":{"hist',
        b'ID\0\x03\x01\n{"a":1}\n',
        b'<html>\n<script>var a = {"b":1};</script>\n',
    ],
)
def test_what_is_blank_or_holds_no_record_is_claimed_by_nobody(data: bytes):
    assert claims(probed(data)) == {}


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"message"}\n',
        b'{"type":"session"}\n',
        b'{"type":["message"],"id":{},"parentId":[]}\n',
        b'{"type":"user","uuid":"u1","message":{"role":"user","content":"hi"}}\n',
        b'{"id":"a","n":NaN}\n',
        b'torn"}\n{"a":1}\n',
        b"\0" * 100 + b'\n{"a":1}\n',
        b'{"a":{"b":\n{"a":1}\n',
    ],
)
def test_records_that_only_their_lines_hold_together_are_jsonl(data: bytes):
    assert recognise(probed(data))[0].format == "jsonl"


@pytest.mark.parametrize(
    "records",
    [
        [{"uuid": "a", "parentUuid": None}],
        [{"uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "hi"}}],
        [{"id": "a", "parent_id": None, "role": "user", "content": "hi"}],
        [{"event_id": "a"}, {"event_id": "b", "parent_event_id": "a"}],
        [{"checkpoint_id": "b", "parent_id": "a"}],
        [{"span_id": "b", "parent_span_id": None}],
        [{"run_id": "b", "parent_run_id": "a"}],
        [{"type": "summary"}, {"id": "b", "previous_id": "a"}],
    ],
)
def test_records_with_an_id_and_a_parent_are_a_tree(records: list[dict[str, object]]):
    assert recognise(probed(jsonl(*records)))[0].format == "jsonl_tree"


SAID = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]


@pytest.mark.parametrize(
    "data",
    [
        jsonl(*SAID),
        jsonl({"messages": SAID}),
        jsonl({"model": "m", "messages": SAID, "temperature": 0, "metadata": {"a": 1}}),
        json.dumps(SAID).encode(),
        jsonl(json.dumps(SAID), json.dumps(SAID)),
        json.dumps(SAID, indent=2).encode(),
        json.dumps({"messages": SAID, "model": "m"}, indent=2).encode(),
        json.dumps({"model": "m", "system": "s", "messages": SAID}, indent=0).encode(),
        json.dumps([{"messages": SAID}, {"messages": SAID}], indent="\t").encode(),
        json.dumps({"input": "hi", "output": [{"type": "reasoning", "summary": []}]}).encode(),
        jsonl({"type": "function_call_output", "call_id": "c", "output": "o"}),
        b"\xef\xbb\xbf" + jsonl(*SAID),
    ],
)
def test_messages_with_nothing_but_what_a_request_has_are_messages(data: bytes):
    assert recognise(probed(data))[0].format == "messages"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_state_that_holds_messages_among_other_things_is_no_request(indent: int | None):
    state = {"thread_id": "t", "schema_version": 1, "messages": SAID, "next": []}

    assert "messages" not in claims(probed(json.dumps(state, indent=indent).encode()))


def test_what_two_formats_claim_is_never_claimed_alike():
    files = [path for _, path in WRITTEN] + sorted((FIXTURES / "hostile").iterdir())
    for path in files:
        scores = sorted(match.score for match in claims(probe(str(path))).values())
        assert scores == sorted(set(scores)), path


def test_of_a_file_that_the_probe_cuts_what_is_whole_is_looked_at():
    data = json.dumps({"model": "m", "messages": SAID * 5000}, indent=1).encode()
    cut = Probe("s.json", "s.json", data[:HEAD], len(data))

    assert recognise(cut)[0].format == "messages"


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

    assert recognise(probe(str(path)))[0].format == name


def test_a_pi_file_without_its_header_is_still_pis():
    assert recognise(probed(jsonl(pi("a", None, user("hi")))))[0].format == "pi"


def test_a_tau_file_of_roots_alone_is_still_taus():
    assert recognise(probed(jsonl(tau("a", None, user("hi")))))[0].format == "tau"


def test_a_first_line_that_the_probe_cuts_is_not_read():
    entry = jsonl(tau("a", "b", user("hi")))
    cut = Probe("s", "s", entry + b'{"parentId":', 10**6)

    assert recognise(cut)[0].format == "tau"
