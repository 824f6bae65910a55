"""JSONB of SQLite: each type becomes the text that SQLite would give, and no bytes can harm."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonb_made import jsonb

from tt_debugger.formats.shared.jsonb import json_text
from tt_debugger.formats.shared.records import DEEPEST

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def read(*hexes: str) -> str:
    return json_text(bytes.fromhex("".join(hexes))).decode()


@given(VALUES)
def test_what_is_written_is_read(value: Any):
    assert json.loads(json_text(jsonb(value))) == value


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("00", "null"),
        ("01", "true"),
        ("02", "false"),
        ("2337 37", "77"),
        ("43 2d 37 37 37", "-777"),
        ("44 30 78 66 66", "255"),
        ("54 2d 30 58 31 30", "-16"),
        ("35 31 2e 35", "1.5"),
        ("26 2e 35", "0.5"),
        ("26 35 2e", "5.0"),
        ("46 2b 31 2e 35", "1.5"),
        ("86 49 6e 66 69 6e 69 74 79", "Infinity"),
        ("3a 61 22 62", '"a\\"b"'),
        ("28 5c 6e", '"\\n"'),
        ("49 5c 78 34 31", '"A"'),
        ("39 61 5c 0a", '"a"'),
        ("29 5c 27", '"\'"'),
        ("0b", "[]"),
        ("0c", "{}"),
        ("5b 13 31 17 61 00", '[1,"a",null]'),
        ("4c 17 61 13 31", '{"a":1}'),
        ("c7 03 61 62 63", '"abc"'),
        ("d7 00 03 61 62 63", '"abc"'),
        ("e7 00 00 00 03 61 62 63", '"abc"'),
        ("f7 00 00 00 00 00 00 00 03 61 62 63", '"abc"'),
    ],
)
def test_each_type_and_each_size_is_read(data: str, text: str):
    assert read(data) == text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "nothing"),
        ("0d", "unknown type 13"),
        ("10 00", "a constant with a content"),
        ("27 61", "longer than what holds it"),
        ("f7 ff ff ff ff ff ff ff ff", "longer than what holds it"),
        ("c7", "a size that is cut"),
        ("2b d3 31", "a size that is cut"),
        ("00 00", "more than one value"),
        ("1c 00", "a key that is no text"),
        ("2c 17 61", "a key without a value"),
        ("33 61 62 63", "a number that is none"),
        ("16 2e", "a number that is none"),
        ("28 5c 71", "a wrong escape"),
        # It would close its text and write on.
        ("48 61 22 2c 31", "a wrong escape"),
    ],
)
def test_what_is_wrong_is_said(data: str, why: str):
    with pytest.raises(ValueError, match=why):
        read(data)


def test_a_deep_nest_is_refused_and_takes_no_stack():
    def nest(levels: int) -> bytes:
        data = b""
        for _ in range(levels):
            data = b"\xeb" + len(data).to_bytes(4, "big") + data
        return data

    assert json_text(nest(DEEPEST)) == b"[" * DEEPEST + b"]" * DEEPEST
    with pytest.raises(ValueError, match="levels"):
        json_text(nest(100_000))


@given(st.binary(max_size=40))
def test_any_bytes_give_json_or_a_reason(data: bytes):
    try:
        text = json_text(data)
    except ValueError as error:
        why = str(error)
    else:
        json.loads(text)
        return
    assert why.startswith("it is no JSONB: ")


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 45), reason="this SQLite has no jsonb()")
@given(VALUES)
def test_what_sqlite_writes_is_read(value: Any):
    with closing(sqlite3.connect(":memory:")) as database:
        query = "select jsonb(?1), json(jsonb(?1))"
        binary, text = database.execute(query, (json.dumps(value),)).fetchone()
    assert json.loads(json_text(binary)) == json.loads(text)
