"""No byte is lost: each belongs to one checkpoint, to one aside, to a blank line or to damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import LINE_FILES, LINE_FORMATS, load
from hypothesis import given
from hypothesis import strategies as st
from strategies import damaged_files

from tt_debugger.core.findings import Code
from tt_debugger.core.model import Kind, Session
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK

UNTOLD = {
    "messages": "what stands around the messages of a request",
}
"""Formats that do not tell of all that they read yet, and of what they do not."""
TOLD = [(name, path) for name, path in LINE_FILES if name not in UNTOLD]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("accounts") / "session.jsonl"


def sessions_of(file: Path, name: str) -> list[Session]:
    """Give all sessions that are in a file, closed again."""
    store, _ = load(file, name)
    sessions = [store.load(each).session for each in store.sessions()]
    for each in sessions:
        each.take_in()
    store.close()
    return sessions


def spans(session: Session) -> list[tuple[int, int]]:
    """Give where each record stands, of rows, of their parts and of asides, as begin and end."""
    heads = session.heads
    found = [(heads.offset(row) or 0, heads.length(row) or 0) for row in range(len(session))]
    found += [(part.offset, part.length) for parts in heads.parts.values() for part in parts]
    found += [(each.offset, each.length) for each in session.asides]
    return [(begin, begin + length) for begin, length in found]


def untold(sessions: list[Session], content: bytes) -> tuple[bytes, bytes]:
    """Give the bytes that no span has, of the whole lines and behind the last of them.

    No byte may be in two spans, but for a gap: it may be one in all sessions of a file.
    """
    whole = content.rfind(b"\n") + 1
    end, before, behind = 0, b"", b""
    of_each = [spans(each) for each in sessions]
    assert all(len(set(each)) == len(each) for each in of_each)
    everything = sorted(set().union(*of_each))
    for begin, stop in [*everything, (len(content), len(content))]:
        assert end <= begin <= stop <= len(content)
        before += content[end : max(end, min(begin, whole))]
        behind += content[max(end, whole) : max(begin, whole)]
        end = stop
    return before, behind


def check_that_each_byte_is_told_once(sessions: list[Session], content: bytes) -> None:
    before, behind = untold(sessions, content)
    first = sessions[0]
    gaps = sum(each.head.length or 0 for each in first if each.head.kind is Kind.GAP)
    extent, found = first.extent, first.findings
    assert extent is not None
    assert extent.size == len(content)
    assert before.removeprefix(BYTE_ORDER_MARK).strip() == b""
    # What is skipped without a gap is what is torn, and a finding tells of it.
    is_torn = any(each.code is Code.TORN_TAIL for each in found)
    assert (extent.skipped > gaps) == is_torn
    assert (
        len(behind) == extent.skipped - gaps
        if is_torn
        else not behind.removeprefix(BYTE_ORDER_MARK).strip()
    )


@pytest.mark.parametrize(("name", "file"), TOLD, ids=[f"{n}-{path.stem}" for n, path in TOLD])
def test_each_byte_of_a_file_is_told_once(name: str, file: Path):
    check_that_each_byte_is_told_once(sessions_of(file, name), file.read_bytes())


@pytest.mark.parametrize("name", [each for each in LINE_FORMATS if each not in UNTOLD])
@given(data=st.data())
def test_each_byte_of_a_damaged_file_is_told_once(path: Path, name: str, data: st.DataObject):
    content = data.draw(damaged_files(name))
    path.write_bytes(content)
    check_that_each_byte_is_told_once(sessions_of(path, name), content)


@pytest.mark.parametrize("name", UNTOLD)
def test_only_formats_that_leave_something_untold_are_said_to(name: str):
    files = [file for each, file in LINE_FILES if each == name]

    assert any(untold(sessions_of(file, name), file.read_bytes())[0].strip() for file in files)
