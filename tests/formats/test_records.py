"""Records: every byte of a line is accounted for, and what JSON readers lose is kept and named."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values

from tt_debugger.core.findings import Code
from tt_debugger.formats.shared.records import (
    DEEPEST,
    Leniency,
    Record,
    Refused,
    flaws,
    records,
    too_deep,
)

_fragments = st.sampled_from(
    (
        b"{}",
        b'{"a":1}',
        b'{"a":"\xc3\xa9\xe2\x80\xa8"}',
        b'{"a":NaN}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b'{"a":"\t"}',
        b"[]",
        b"null",
        b"-1.5",
        b'"x"',
        b" ",
        b"\t",
        b"\r",
        b"\0",
        b"{",
        b"}",
        b'"',
        b"\\",
        b"\xff",
        b"\x85",
        b"1e400",
        b"9" * 30,
    )
)
lines = st.one_of(
    st.binary(min_size=1, max_size=20), st.lists(_fragments, min_size=1, max_size=6).map(b"".join)
).filter(lambda line: b"\n" not in line and line.strip())


def only(line: bytes) -> Record:
    (record,) = records(line)
    assert isinstance(record, Record)
    return record


@given(lines)
def test_the_pieces_of_a_line_cover_every_byte_of_it(line: bytes):
    pieces = records(line)

    assert [each.begin for each in pieces] == [0, *[each.end for each in pieces[:-1]]]
    assert pieces[-1].end == len(line)
    assert all(each.begin < each.end for each in pieces)


@given(lines)
def test_a_record_read_from_its_own_bytes_is_the_same(line: bytes):
    for piece in records(line):
        if isinstance(piece, Record):
            assert only(line[piece.begin : piece.end]).value == piece.value


@given(lines)
def test_what_was_read_is_json_that_can_be_written(line: bytes):
    for piece in records(line):
        if isinstance(piece, Record):
            json.dumps(piece.value, allow_nan=False).encode()
            json.dumps(piece.value, ensure_ascii=False).encode()


@given(st.dictionaries(st.text(max_size=4), json_values, max_size=5))
def test_an_object_is_read_as_it_was_written(value: dict[str, Any]):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=None)):
        assert only(text.encode()) == Record(0, len(text.encode()), value)


@given(
    st.lists(st.dictionaries(st.text(max_size=3), json_values, max_size=2), min_size=2, max_size=4)
)
def test_objects_on_one_line_are_all_read(values: list[dict[str, Any]]):
    line = b"".join(json.dumps(each).encode() for each in values)

    assert [piece.value for piece in records(line) if isinstance(piece, Record)] == values


@pytest.mark.parametrize(
    ("line", "value", "forgiven"),
    [
        (b'{"n": NaN}', {"n": {"$type": "float", "$value": "NaN"}}, Leniency.ODD_NUMBER),
        (
            b'{"n": [-Infinity]}',
            {"n": [{"$type": "float", "$value": "-Infinity"}]},
            Leniency.ODD_NUMBER,
        ),
        (
            b'{"n": 1e400}',
            {"n": {"$type": "decimal.Decimal", "$value": "1e400"}},
            Leniency.ODD_NUMBER,
        ),
        (
            b'{"n": 18446744073709551616}',
            {"n": {"$type": "decimal.Decimal", "$value": "18446744073709551616"}},
            Leniency.ODD_NUMBER,
        ),
        (
            b'{"n": -9223372036854775809}',
            {"n": {"$type": "decimal.Decimal", "$value": "-9223372036854775809"}},
            Leniency.ODD_NUMBER,
        ),
        (b'{"s": "\\ud83d!"}', {"s": "\N{REPLACEMENT CHARACTER}!"}, Leniency.LONE_SURROGATE),
        (b'{"\\udc00": 1}', {"\N{REPLACEMENT CHARACTER}": 1}, Leniency.LONE_SURROGATE),
        (b'{"s": "\xff!"}', {"s": "\N{REPLACEMENT CHARACTER}!"}, Leniency.BAD_UTF8),
        (b'{"s": "a\tb"}', {"s": "a\tb"}, Leniency.RAW_CONTROL),
    ],
)
def test_what_was_forgiven_is_named(line: bytes, value: dict[str, Any], forgiven: Leniency):
    assert only(line) == Record(0, len(line), value, (forgiven,))


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63), 2**53 + 1, 0, 1.5, 1e300])
def test_a_number_of_64_bits_is_kept_as_a_number(number: float):
    line = b'{"n": %s}' % json.dumps(number).encode()

    assert only(line) == Record(0, len(line), {"n": number})


@pytest.mark.parametrize("digits", [25, 4300, 4301, 100_000])
def test_a_number_of_any_length_is_kept_as_text(digits: int):
    assert only(b'{"n": %s}' % (b"7" * digits)).value == {
        "n": {"$type": "decimal.Decimal", "$value": "7" * digits}
    }


def test_digits_inside_a_text_are_no_number():
    line = b'{"s": "%s"}' % (b"7" * 30)

    assert only(line) == Record(0, len(line), {"s": "7" * 30})


def test_a_surrogate_pair_is_one_character():
    assert only(b'{"s": "\\ud83d\\ude42", "n": NaN}').value["s"] == "\N{SLIGHTLY SMILING FACE}"


def test_of_equal_keys_the_last_one_counts():
    assert only(b'{"a": 1, "a": 2}').value == only(b'{"a": NaN, "a": 2}').value == {"a": 2}


def test_a_record_behind_a_record_is_recovered_with_its_bytes():
    first, second = records('{"a": "é"}{"b": 2} '.encode())

    assert first == Record(0, 11, {"a": "é"})
    assert second == Record(11, 20, {"b": 2})


def test_what_follows_a_record_and_is_none_is_refused():
    record, refused = records(b'{"a": 1}, {"b": 2}')

    assert record == Record(0, 8, {"a": 1})
    assert isinstance(refused, Refused)
    assert (refused.begin, refused.end) == (8, 18)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"null", "null, not an object"),
        (b"[1]", "a list, not an object"),
        (b'"x"', "text, not an object"),
        (b"true", "a boolean, not an object"),
        (b"7", "a number, not an object"),
        (b"9" * 30, "a number, not an object"),
        (b"NaN", "a number, not an object"),
        (b"\0\0", "NUL bytes only: lost in a crash"),
        (b'{"a":', "no JSON at character 6: Expecting value"),
        (b"[" * 100_000, f"nested deeper than {DEEPEST} levels"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, f"nested deeper than {DEEPEST} levels"),
    ],
)
def test_what_is_no_record_is_refused_with_the_reason(line: bytes, why: str):
    assert records(line) == [Refused(0, len(line), why)]


@pytest.mark.parametrize("inside", [b"1", b"NaN", b'"\\ud800"'])
def test_a_record_may_be_nested_as_deep_as_allowed(inside: bytes):
    line = b'{"a":' + b"[" * (DEEPEST - 1) + inside + b"]" * (DEEPEST - 1) + b"}"

    assert isinstance(records(line)[0], Record)
    assert not too_deep(line)
    assert too_deep(line.replace(b"[", b"[[", 1))


def test_brackets_inside_texts_are_not_nesting():
    line = json.dumps({"a": "[{" * 1000 + '\\"[' * 500}).encode()

    assert isinstance(only(line), Record)


def test_reading_never_raises_the_recursion_limit(monkeypatch: pytest.MonkeyPatch):
    raised: list[int] = []
    monkeypatch.setattr(sys, "setrecursionlimit", raised.append)

    for line in (b"[" * 100_000, b'{"a":NaN}', b'{"a":' * 250 + b"NaN" + b"}" * 250):
        records(line)

    assert raised == []


# --- Whole records behind what is torn -----------------------------------------------------------


def read(line: bytes) -> list[Any]:
    """Give the value of each record of a line, and of what is refused its bytes."""
    return [
        each.value if isinstance(each, Record) else line[each.begin : each.end]
        for each in records(line)
    ]


NEXT = b'{"id": "b", "l": [{"x": 1}]}'
NEXT_VALUE = {"id": "b", "l": [{"x": 1}]}


@pytest.mark.parametrize(
    "torn",
    [
        b'{"id": "a", "t": "cut he',
        b'{"id": "a", "t": "a comma,',
        b'{"id": "a", "t": "a colon:',
        b'{"id": "a", "t": "an escape \\',
        b'{"id": "a", "t": "half an \\u12',
        b'{"id": "a", "t": "a quote \\"',
        b'{"id": "a", "t": {"n": 1}',
        b'{"id": "a", "n": 12',
        b'{"id": "a", "n": tru',
        b'{"id": "a',
        b"{",
        b"\0" * 40,
        b"\xff" * 40,
        b'ext"}]}',
        b'{"id": "a", "t": "\0\0\0',
    ],
)
def test_a_whole_record_behind_a_torn_one_is_recovered(torn: bytes):
    assert read(torn + NEXT) == [torn, NEXT_VALUE]
    assert read(torn + NEXT + NEXT) == [torn, NEXT_VALUE, NEXT_VALUE]
    assert read(torn + NEXT + torn + NEXT) == [torn, NEXT_VALUE, torn, NEXT_VALUE]


@pytest.mark.parametrize(
    "torn",
    [
        b'{"id": "a", "m": {"role": "user"}',
        b'{"id": "a", "m": [{"role": "user"}',
        b'{"id": "a", "m": [1, {"role": "user"}',
        b'{"id": "a", "m": {"role": "user", "l": [{}',
        b'role": "user"}, {"type": "text"}]}}',
        b'{"id": "a", "t": "{\\"role\\": 1}',
    ],
)
def test_a_part_of_a_torn_record_is_not_taken_for_one(torn: bytes):
    assert read(torn) == [torn]


def test_bytes_that_are_no_utf_8_are_forgiven_only_where_they_stand():
    torn, record = records(b"\xff\xfe" + NEXT)

    assert isinstance(torn, Refused)
    assert record == Record(2, 2 + len(NEXT), NEXT_VALUE)


@pytest.mark.parametrize(
    "line",
    [
        b'x{"a":' * 200_000,
        b'"' + b'{"a":[' * 200 + b"1," * 500_000,
        b'{"a" ' * 300_000,
        b'"{"' * 500_000,
        b"1 " * 1_000_000,
        "é1 ".encode() * 300_000,
        b'{"a":1 ' + b'{"b":{"c":[' * 80 + b'{"d":1},' * 100_000,
    ],
    ids=range(7),
)
def test_the_search_for_whole_records_costs_no_more_than_a_few_readings(line: bytes):
    begin = time.process_time()

    records(line)

    assert time.process_time() - begin < 2


def test_values_in_a_row_that_are_no_objects_are_refused_together():
    assert records(b'1 2 null {"a": 1} [] "x"') == [
        Refused(0, 8, "a number, not an object"),
        Record(8, 17, {"a": 1}),
        Refused(17, 24, "a list, not an object"),
    ]


# --- Flaws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "found"),
    [
        (b'{"a": 1}\n', []),
        (b"", []),
        (b"null", []),
        (b'{"a": [{"b": 1}, {"b": 2}], "c": {"a": 1}}', []),
        (b'{"a": 1, "a": 2}', [(Code.DUPLICATE_KEY, ": 'a'")]),
        (b'\xef\xbb\xbf{"a": 1, "a": 2}', [(Code.DUPLICATE_KEY, ": 'a'")]),
        (b'{"x": {"a": 1, "\\u0061": 2}}', [(Code.DUPLICATE_KEY, ": 'a'")]),
        (
            b'{"e":1,"d":1,"c":1,"b":1,"a":1,"a":1,"b":1,"c":1,"d":1,"e":1}',
            [(Code.DUPLICATE_KEY, ": 'e', 'd', 'c' and 2 more")],
        ),
        (b'{"n": 1e400, "m": ' + b"9" * 5000 + b"}", [(Code.ODD_NUMBER, "")]),
        (
            b'{"n": NaN, "n": "\\ud83d", "t": "\xff\x01"}',
            [
                (Code.BAD_UTF8, ""),
                (Code.LONE_SURROGATE, ""),
                (Code.ODD_NUMBER, ""),
                (Code.BAD_UTF8, ""),
                (Code.DUPLICATE_KEY, ": 'n'"),
            ],
        ),
    ],
)
def test_a_record_tells_all_that_had_to_be_forgiven(record: bytes, found: list[tuple[Code, str]]):
    told = list(flaws(record))

    assert [code for code, _ in told] == [code for code, _ in found]
    for (_, words), (_, end) in zip(told, found, strict=True):
        assert words.endswith(end)
