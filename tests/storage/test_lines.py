"""Lines: the bytes between newlines, whatever the chunks they come in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.storage import lines as lines_module
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import LONGEST, Line, lines

contents = st.lists(st.sampled_from((b"\n", b"\r\n", b"a", b"bc", b"\xe2\x80\xa8", b"\0"))).map(
    b"".join
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "f"


@contextmanager
def limits(chunk: int, longest: int = LONGEST) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "CHUNK", chunk)
        patch.setattr(lines_module, "LONGEST", longest)
        yield


def read(path: Path, data: bytes, offset: int = 0, number: int = 1) -> list[Line]:
    path.write_bytes(data)
    file = RegularFile(str(path))
    try:
        return list(lines(file, offset, number))
    finally:
        file.close()


def naive(data: bytes, offset: int = 0, number: int = 1) -> list[Line]:
    found: list[Line] = []
    *whole, tail = data[offset:].split(b"\n")
    for text in whole:
        found.append(Line(number, offset, len(text) + 1, text, is_whole=True))
        number += 1
        offset += len(text) + 1
    return [*found, Line(number, offset, len(tail), tail, is_whole=False)] if tail else found


@given(contents, st.integers(1, 12))
def test_lines_are_what_a_split_at_newlines_gives(path: Path, data: bytes, chunk: int):
    with limits(chunk):
        assert read(path, data) == naive(data)


@given(contents, st.integers(1, 12), st.data())
def test_lines_from_the_begin_of_any_line_are_the_rest(
    path: Path, data: bytes, chunk: int, draw: st.DataObject
):
    whole = naive(data)
    first = draw.draw(st.sampled_from(whole)) if whole else Line(1, 0, 0, b"", is_whole=True)

    with limits(chunk):
        assert read(path, data, first.offset, first.number) == naive(
            data, first.offset, first.number
        )


@given(contents, st.integers(1, 12), st.integers(0, 6))
def test_lines_cover_the_file_even_where_they_are_too_long_to_keep(
    path: Path, data: bytes, chunk: int, longest: int
):
    # The longest line that is kept is at least as long as what is read at once.
    longest += chunk
    with limits(chunk, longest):
        found = read(path, data)

    assert [(each.offset, each.length) for each in found] == [
        (each.offset, each.length) for each in naive(data)
    ]
    assert sum(each.length for each in found) == len(data)
    for each, kept in zip(found, naive(data), strict=True):
        assert each.data == (kept.data if len(kept.data) <= longest else b"")


def test_a_carriage_return_belongs_to_the_line(path: Path):
    assert [each.data for each in read(path, b"a\r\nb\rc\n")] == [b"a\r", b"b\rc"]


def test_an_empty_file_has_no_lines(path: Path):
    assert read(path, b"") == []
