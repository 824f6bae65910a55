"""Documents: every complete element is reached, and every byte is shown or told to be lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values

from tt_debugger.core.findings import Code
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared import document as module
from tt_debugger.formats.shared.document import Document, Element, document, findings_on
from tt_debugger.formats.shared.records import DEEPEST
from tt_debugger.storage.files import RegularFile


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents") / "d.json"


def read(path: Path, data: bytes) -> Document:
    path.write_bytes(data)
    file = RegularFile(str(path))
    try:
        return document(file)
    finally:
        file.close()


def told(found: Document) -> list[Any]:
    """Give each piece as one value: what an element holds, or how much is lost and why."""
    return [
        (each.place.name, each.value)
        if isinstance(each, Element)
        else (each.place.name, each.place.length, each.why)
        for each in found.pieces()
    ]


def codes(found: Document) -> list[Code]:
    return [code.code for each in found.pieces() for code in findings_on(each)]


def short(value: object) -> str:
    return f"{value!r:.30}"


def test_an_object_is_its_one_element(path: Path):
    assert told(read(path, b'\n {"a": [1]}\n')) == [("L2", {"a": [1]})]


def test_the_elements_of_a_list_have_their_places(path: Path):
    data = b'[{"a":1},\n {"a":2}, {"a":3}]\n'
    found = read(path, data)

    assert told(found) == [("L1", {"a": 1}), ("L2", {"a": 2}), ("L2.2", {"a": 3})]
    places = [each.place for each in found.pieces()]
    assert [data[each.offset :][: each.length] for each in places] == [
        b'{"a":1}',
        b'{"a":2}',
        b'{"a":3}',
    ]


@pytest.mark.parametrize("data", [b"", b" \n", b"\xef\xbb\xbf\n", b"[]", b"[ \n]\n"])
def test_what_is_blank_or_an_empty_list_has_no_elements(path: Path, data: bytes):
    found = read(path, data)

    assert (told(found), found.size) == ([], len(data))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"n":1,"p":{"/w":{"hist', "ends in the middle of its JSON object, after 23 bytes"),
        (b'{"a":{"b":1}', "ends in the middle"),
        (b'{"a":tru', "ends in the middle"),
        (b'{"a":1,', "ends in the middle"),
        (b'{"a":', "ends in the middle"),
        (b'{"a":' * 5000, "ends in the middle"),
        (b'{"a":' + b"[" * DEEPEST + b"]" * DEEPEST + b"}", "nested deeper than 256 levels"),
        (b'{"a":x,"b":2}', "damaged: no JSON at character 6"),
        (b"\0" * 413, "413 NUL bytes: lost in a crash"),
        (b"7", "neither a JSON object nor a list"),
        (b'"text"', "neither a JSON object nor a list"),
    ],
    ids=short,
)
def test_a_damaged_object_is_refused_in_words(path: Path, data: bytes, reason: str):
    with pytest.raises(CannotReadError, match=reason):
        read(path, data)


def test_what_is_too_long_is_refused_without_being_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "LONGEST", 1 << 20)

    with pytest.raises(CannotReadError, match=r"1048577 bytes are more than the 1 MiB") as error:
        read(path, b"[" + b" " * (1 << 20))

    assert "JSONL" in (error.value.hint or "")


def test_what_stands_behind_an_object_is_shown_or_lost(path: Path):
    assert told(read(path, b'{"a":1}\n{"b":2} of an older file"}')) == [
        ("L1", {"a": 1}),
        ("L2", {"b": 2}),
        ("L2.2", 18, "no JSON at character 1: Expecting value"),
    ]


def test_what_is_forgiven_is_found(path: Path):
    found = read(
        path, b'\xef\xbb\xbf[{"a":NaN},{"a":"\xff"},{"a":"\\ud83c"},{"a":1e400},{"a":"\t"}]'
    )

    assert [each.code for each in found.findings] == [Code.BYTE_ORDER_MARK]
    assert codes(found) == [
        Code.ODD_NUMBER,
        Code.BAD_UTF8,
        Code.LONE_SURROGATE,
        Code.ODD_NUMBER,
        Code.BAD_UTF8,
    ]
    assert told(found)[1] == ("L1.2", {"a": "\N{REPLACEMENT CHARACTER}"})


A, B, C = ("L1", {"a": 1}), {"a": 2}, {"a": 3}


@pytest.mark.parametrize(
    ("data", "pieces", "code"),
    [
        (
            b'[{"a":1},{"a":2},{"a":3,"b":"to',
            [A, ("L1.2", B), ("L1.3", 14, "its last 14 bytes are not complete")],
            Code.TORN_TAIL,
        ),
        (
            b'[{"a":1},{"a":2},\n',
            [A, ("L1.2", B), ("L2", 0, "it stops after an element")],
            Code.TORN_TAIL,
        ),
        (
            b'[{"a":1},{"a":"to{"a":2},{"a":3}]',
            [A, ("L1.2", 8, "an element is damaged"), ("L1.3", B), ("L1.4", C)],
            Code.UNREADABLE,
        ),
        (
            b'[{"a":1},\0\0\0\0,{"a":3}]',
            [A, ("L1.2", 5, "4 NUL bytes: lost in a crash"), ("L1.3", C)],
            Code.UNREADABLE,
        ),
        (
            b'[{"a":1},7,[2],"x",{"a":3}]',
            [A, ("L1.2", 9, "a number, not an object"), ("L1.3", C)],
            Code.UNREADABLE,
        ),
        (
            b'[{"a":1},{"a":%b},{"a":3}]' % (b"[" * 3000 + b"]" * 3000),
            [A, ("L1.2", 6006, "nested deeper than 256 levels"), ("L1.3", C)],
            Code.UNREADABLE,
        ),
        (
            b'[{"a":1}]{"a":3}]',
            [A, ("L1.2", 0, "bytes behind the end of the list"), ("L1.3", C)],
            Code.UNREADABLE,
        ),
        (
            b'[{"a":1}] of an older file"}]',
            [A, ("L1.2", 19, "bytes behind the end of the list")],
            Code.UNREADABLE,
        ),
    ],
    ids=short,
)
def test_damage_in_a_list_costs_only_what_it_hits(
    path: Path, data: bytes, pieces: list[Any], code: Code
):
    found = read(path, data)

    assert told(found) == pieces
    assert codes(found) == [code]


def test_in_a_list_of_several_lines_no_inner_object_is_taken_for_an_element(path: Path):
    whole = [{"role": "user", "parts": [{"role": "inner"}, {"role": "inner"}]}] * 3
    damaged = json.dumps(whole, indent=1).encode().replace(b'"user"', b'"user', 1)

    assert [each[1] for each in told(read(path, damaged))][1:] == whole[1:]


@pytest.mark.parametrize(
    "data",
    [
        b'[{"a":"' * 100_000,
        b'[{"a":[' * 100_000,
        b"[" + b'{"a":x},' * 100_000,
        b"[" * 1_000_000,
        b"[" + b"1," * 1_000_000,
    ],
    ids=short,
)
def test_much_damage_is_given_up_before_it_takes_long(path: Path, data: bytes):
    found = list(read(path, data).pieces())

    assert all(not isinstance(each, Element) for each in found)
    assert sum(each.place.length for each in found) >= len(data) - 1


def test_a_list_is_read_through_a_window_as_if_it_were_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = [{"t": "é\\" * size, "n": size * 1001} for size in range(40)]
    data = json.dumps(whole).encode()
    expected = told(read(path, data))
    monkeypatch.setattr(module, "WINDOW", 16)
    monkeypatch.setattr(module, "MOST_COMMAS", -1)

    assert told(read(path, data)) == expected


@given(st.lists(st.dictionaries(st.text(max_size=3), json_values, max_size=3), max_size=5))
def test_the_careful_way_gives_what_the_quick_way_gives(path: Path, elements: list[Any]):
    data = json.dumps(elements, ensure_ascii=False).encode(errors="surrogatepass")
    found = read(path, data)
    quick = told(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_COMMAS", -1)
        assert told(found) == quick
    assert len(quick) == len(elements)


@given(
    st.lists(st.fixed_dictionaries({"id": st.text(max_size=4), "v": json_values}), min_size=2),
    st.sampled_from((None, 1, 2)),
    st.data(),
)
def test_a_cut_list_gives_all_elements_before_the_cut(
    path: Path, elements: list[Any], indent: int | None, data: st.DataObject
):
    whole = json.dumps(elements, indent=indent).encode()
    full = read(path, whole)
    cut = data.draw(st.integers(1, len(whole) - 1))
    ends = [each.place.offset + each.place.length for each in full.pieces()]
    before = [each for each, end in zip(full.pieces(), ends, strict=True) if end <= cut]

    found = list(read(path, whole[:cut]).pieces())

    assert found[: len(before)] == before
    assert [each.place.is_whole for each in found[len(before) :]] == [False]


@given(st.binary(max_size=20), st.integers(0, 200))
def test_whatever_stands_in_a_list_no_byte_is_told_twice(path: Path, rubbish: bytes, place: int):
    whole = json.dumps([{"id": str(each), "t": [{"x": each}]} for each in range(5)]).encode()
    place = min(place, len(whole) - 1) + 1
    found = read(path, b"[" + whole[1:place] + rubbish + whole[place:])
    end = 0
    for each in found.pieces():
        assert each.place.offset >= end
        end = each.place.offset + each.place.length
    assert end <= found.size
