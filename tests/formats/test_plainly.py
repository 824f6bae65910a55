"""The quick way of reading: it must give what the careful way gives, only sooner."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import PI_HEADER, facts, jsonl, load, pi, user
from hypothesis import given
from hypothesis import strategies as st
from strategies import bent_files, damaged_files, fixture_lines

from tt_debugger.formats.pi.reading import PiReading
from tt_debugger.formats.shared.records import DEEPEST

HI = user("hi")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plainly") / "session.jsonl"


def read(path: Path, content: bytes, *, carefully: bool) -> dict[str, object]:
    """Give all that reading a file gives, but what only the careful way looks for."""
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        if carefully:
            patch.setattr(PiReading, "plainly", None)
        store, loaded = load(path, "pi")
        seen = {**facts(loaded.session), "own": loaded.session.own}
        store.close()
    seen["findings"] = [each for each in loaded.session.findings if each.code != "TT108"]
    return seen


def check_both_ways(path: Path, content: bytes) -> None:
    assert read(path, content, carefully=False) == read(path, content, carefully=True)


@given(st.data())
def test_a_damaged_file_is_read_the_same_both_ways(path: Path, data: st.DataObject):
    check_both_ways(path, data.draw(damaged_files("pi")))


@given(st.data())
def test_a_file_with_fields_of_any_type_is_read_the_same_both_ways(
    path: Path, data: st.DataObject
):
    lines = data.draw(st.sampled_from(fixture_lines("pi")))
    check_both_ways(path, data.draw(bent_files(b"\n".join(lines) + b"\n")))


TIMES = (
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.123456789Z",
    "2026-01-01T00:00:00",
    "2026-01-01",
    "2026-01-01T10:00:00+14:00",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2026-W01-1",
    "yesterday",
    "",
    None,
    17,
    ["2026"],
)


@pytest.mark.parametrize("time", TIMES, ids=map(str, TIMES))
def test_a_time_of_any_form_is_read_the_same_both_ways(path: Path, time: object):
    entries = (pi("a", None, HI, timestamp=time), pi("b", "a", HI, timestamp=time))
    check_both_ways(path, jsonl(PI_HEADER, *entries))


def nested(levels: int) -> bytes:
    """Give an entry that is nested so many levels deep."""
    inner = "[" * (levels - 1) + "]" * (levels - 1)
    return f'{{"type":"custom","id":"deep","parentId":"a","data":{inner}}}'.encode()


@pytest.mark.parametrize("levels", [2, DEEPEST - 1, DEEPEST, DEEPEST + 1, 900, 5000])
def test_a_record_is_refused_from_the_same_depth_on(path: Path, levels: int):
    content = jsonl(PI_HEADER, pi("a", None, HI), nested(levels), pi("b", "deep", HI))

    check_both_ways(path, content)
    store, loaded = load(path, "pi")
    assert ("gap@3" in loaded.session.ids) == (levels > DEEPEST)
    store.close()


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"message","id":"x","parentId":"a","message":null}',
        b'{"type":"message","id":"x","parentId":"a"}',
        b'{"type":"message","id":"x","parentId":"a","message":[]}',
        b'{"type":"message","id":"","parentId":"a","message":{}}',
        b'{"type":"message","id":"x","parentId":"","message":{}}',
        b'{"type":"message","id":7,"parentId":"a","message":{}}',
        b'{"type":"message","type":"label","id":"x","parentId":"a","message":{}}',
        b'{"id":"x","parentId":"a","message":{},"type":"message"}',
        b'{"\\u0069d":"x","parentId":"a","message":{},"type":"message"}',
        b'{"type":"custom","id":"x","parentId":"a","data":"\xff"}',
        b'{"type":"custom","id":"x","parentId":"a","data":"\\ud83d"}',
        b'{"type":"custom","id":"x","parentId":"a","data":NaN}',
        b'{"type":"custom","id":"x","parentId":"a"}{"type":"custom","id":"y","parentId":"x"}',
        '{"type":"custom","id":"ключ","parentId":"a"}'.encode(),
        b" ",
        b"",
        b'{"type":"custom","id":"x","parentId":"a","data":1e400}',
        b'{"type":"custom","id":"x","parentId":"a","data":' + b"9" * 5000 + b"}",
        b"[]",
        b"{",
        b"\0\0\0",
    ],
)
def test_an_odd_line_among_plain_ones_is_read_the_same_both_ways(path: Path, line: bytes):
    check_both_ways(path, jsonl(PI_HEADER, pi("a", None, HI), line, pi("b", "a", HI), line))
    check_both_ways(path, jsonl(line, pi("a", None, HI), PI_HEADER, pi("b", "a", HI)))
    check_both_ways(path, jsonl({"type": "session", "id": "s"}, pi("a", None, HI), line))


def test_what_a_row_says_is_read_when_it_is_asked_for(path: Path):
    entries = [pi(f"e{n}", f"e{n - 1}" if n else None, user(f"text {n}")) for n in range(200)]
    path.write_bytes(jsonl(PI_HEADER, *entries))
    store, loaded = load(path, "pi")
    heads = loaded.session.heads

    assert heads.waiting() == 200
    assert heads[150].summary == "text 150"
    assert 0 < heads.waiting() < 200
    told: list[tuple[int, int]] = []
    heads.describe_all(lambda done, of: told.append((done, of)))
    assert heads.waiting() == 0
    assert told[-1][0] == told[-1][1]
    assert [each.summary for each in map(heads.__getitem__, range(200))] == [
        f"text {n}" for n in range(200)
    ]
    store.close()
