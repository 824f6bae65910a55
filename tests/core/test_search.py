"""Search: what a query matches, what a scan finds in which order, and where the next hit is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st
from strategies import containers

from tt_debugger.core import search as search_module
from tt_debugger.core.model import Head, Kind
from tt_debugger.core.search import Found, Hit, Jump, NoJump, Query, Regex, Search, scan
from tt_debugger.formats.shared.records import Record, records


def query(text: str) -> Query:
    parsed = Query.parse(text)
    assert parsed is not None
    return parsed


# --- The expression ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "ignores_case", "found"),
    [
        ("b+c", False, "bbc"),
        ("B+C", True, "bbc"),
        ("B+C", False, None),
        ("^a", False, "a"),
        ("x*", False, None),
        ("(?=b)", False, None),
    ],
)
def test_an_expression_finds_the_first_that_it_matches(typed, ignores_case, found):
    hit = Regex.parse(typed, ignores_case=ignores_case).in_body(0, {"k": ["abbcd"]})

    assert (None if hit is None else hit.found) == found


@pytest.mark.parametrize("typed", ["(", "a{2,1}", "[z-a]", "(?P<n>)(?P<n>)"])
def test_what_is_no_expression_is_a_value_error(typed):
    with pytest.raises(ValueError, match=r"."):
        Regex.parse(typed, ignores_case=False)


def test_a_text_may_be_looked_for_as_it_is_whatever_its_capitals():
    assert Query.of(" Read", is_exact=False).in_body(0, "to read it") is not None
    assert Query.of("read", is_exact=True).in_body(0, "READ") is None


# --- The query -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "\t\n"])
def test_nothing_typed_is_no_query(text: str):
    assert Query.parse(text) is None


@pytest.mark.parametrize(
    ("typed", "text", "is_found"),
    [
        ("read", "It READ the file", True),
        ("Read", "It read the file", False),
        ("Read", "It Read the file", True),
        (" the file ", "it read the file", True),
        ("the  file", "it read the file", False),
        ("strasse", "Hauptstraße 3", True),
        ("straße", "HAUPTSTRASSE", True),
        ("Straße", "Strasse", False),
        ("k", "300 \N{KELVIN SIGN}", True),
        ("日本", "ja: 日本語", True),
        ("ä", "Ä", True),
    ],
)
def test_a_text_without_capitals_is_found_in_any_case(typed: str, text: str, *, is_found: bool):
    assert (query(typed).in_body(0, text) is not None) == is_found


@pytest.mark.parametrize(
    ("typed", "text", "parts"),
    [
        ("b", "abc", ("a", "b", "c")),
        ("b c", "a\n\nb c\n d", ("a ", "b c", " d")),
        ("strasse", "İİ die STRAßE hier", ("İİ die ", "STRAßE", " hier")),
        ("x", "ßßx!", ("ßß", "x", "!")),
        ("x", "one " * 30 + "x" + " two" * 30, None),
    ],
)
def test_a_hit_tells_the_text_and_a_little_around_it(
    typed: str, text: str, parts: tuple[str, str, str] | None
):
    hit = query(typed).in_body(7, text)

    before, found, after = parts or (
        "…one one one one one one ",
        "x",
        (" two" * 18) + "…",
    )
    assert hit == Hit(7, before, found, after)
    assert hit.excerpt == before + found + after


def test_keys_and_texts_are_found_however_deep():
    deep: Any = {"last": "needle"}
    for _ in range(5000):
        deep = [{"in": deep}]

    assert query("needle").in_body(1, deep) == Hit(1, "", "needle", "")
    assert query("last").in_body(1, deep) == Hit(1, "", "last", "")
    assert query("5").in_body(1, {"n": 5, "yes": True, "no": None}) is None


def test_of_several_matches_in_a_body_the_first_is_told():
    body = {"a": [{"b": "one x"}, "two x"], "x": 1}

    assert query("x").in_body(0, body) == Hit(0, "one ", "x", "")


def test_the_index_is_label_id_name_and_summary():
    heads = {"ident": Head(Kind.TOOL_CALL, name="bash", summary="runs tests")}
    made = session("ident", heads=heads, labels={"ident": "Before it broke"})

    found = [query(text).in_index(made, 0) for text in ("before it", "dent", "bas", "tests", "no")]
    assert found == [
        Hit(0, "", "Before it", " broke"),
        Hit(0, "i", "dent", ""),
        Hit(0, "", "bas", "h"),
        Hit(0, "runs ", "tests", ""),
        None,
    ]


odd_texts = st.one_of(
    st.text(max_size=8),
    st.text('aAkKsSß\N{KELVIN SIGN}ſﬁfiİi\u0307"\\/\n\t\x7fé\U0001f642', max_size=6),
)
odd_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), odd_texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(odd_texts, inner)),
    max_leaves=6,
)


def texts_in(body: Any) -> list[str]:
    texts: list[str] = []
    for _, container in containers(body):
        keys, values = (
            (list(container), list(container.values()))
            if isinstance(container, dict)
            else ([], container)
        )
        texts += [each for each in [*keys, *values] if isinstance(each, str)]
    return texts


@given(st.dictionaries(odd_texts, odd_values, min_size=1, max_size=4), st.data())
def test_a_record_that_may_be_passed_over_never_holds_what_is_looked_for(
    value: dict[str, Any], data: st.DataObject
):
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    raw = text.replace("/", data.draw(st.sampled_from(("/", "\\/")))).encode(errors="replace")
    (record,) = (each for each in records(raw) if isinstance(each, Record))
    sources = texts_in(record.value)
    source = data.draw(st.sampled_from(sources))
    begin = data.draw(st.integers(0, len(source)))
    cut = source[begin : begin + data.draw(st.integers(1, 4))]
    cased = data.draw(st.sampled_from((cut, cut.lower(), cut.upper(), cut.casefold())))
    asked = Query.parse(cased)
    if asked is None:
        return

    is_there = any(asked.needle in asked.folded(each) for each in sources)
    assert (asked.in_body(0, record.value) is not None) == is_there
    assert asked.may_be_in(raw) or not is_there


@pytest.mark.parametrize(
    ("typed", "raw"),
    [
        ("déjà", b'{"a": "d\\u00e9j\\u00e0 vu"}'),
        ("a", b'{"b": "\\u0061"}'),
        ("k", '{"b": "300 \N{KELVIN SIGN}"}'.encode()),
        ("a/b", b'{"b": "a\\/b"}'),
        ('say "hi"', b'{"b": "say \\"hi\\""}'),
        ("c:\\temp", b'{"b": "c:\\\\temp"}'),
        ("\N{REPLACEMENT CHARACTER}", b'{"b": "\xff"}'),
        ("x", b'{"b": "x\xff"}'),
        ("decimal", b'{"b": 123456789012345678901234567890}'),
        ("float", b'{"b": NaN}'),
    ],
)
def test_what_json_writes_otherwise_is_found(typed: str, raw: bytes):
    (record,) = (each for each in records(raw) if isinstance(each, Record))

    assert query(typed).in_body(0, record.value) is not None
    assert query(typed).may_be_in(raw)


def test_the_characters_that_fold_to_ascii_are_all_known():
    folding = [
        character.encode()
        for character in map(chr, range(0x80, 0x110000))
        if not 0xD800 <= ord(character) < 0xE000
        and any(each.isascii() for each in character.casefold())
    ]

    assert sorted(search_module.FOLDING_TO_ASCII) == folding


def test_a_record_without_the_text_is_passed_over_undecoded():
    assert not query("needle").may_be_in(b'{"a": "hay"}')
    assert not query("Needle").may_be_in(b'{"a": "needle"}')


@pytest.mark.parametrize("typed", ["needle", "Needle"])
def test_a_record_whose_numbers_stand_for_other_characters_is_passed_over_too(typed: str):
    assert not query(typed).may_be_in(b'{"a": "caf\\u00e9 \\u2014 \\ud83d\\ude00 \\u001b[0m"}')
    assert query(typed).may_be_in(b'{"a": "\\u004eeedle"}')
    assert query(typed).may_be_in(b'{"a": "\\u006Eeedle"}')


def test_all_characters_with_a_letter_of_ascii_in_them_are_known_by_their_numbers_too():
    ascii_itself = [chr(each) for each in range(0x20, 0x7F)]
    folding = [each.decode() for each in search_module.FOLDING_TO_ASCII]
    for each in (*ascii_itself, *folding):
        assert query("x").may_be_in(b'{"a": "\\u%04x"}' % ord(each))
        assert query("x").may_be_in(b'{"a": "\\u%04X"}' % ord(each))
    for each in map(chr, (*range(0x20), 0x7F + 1, 0xE9, 0x131, 0x2014, 0xFB07, 0xFFFF)):
        assert not query("x").may_be_in(b'{"a": "\\u%04x"}' % ord(each))


@given(st.lists(st.text(max_size=300), min_size=1, max_size=200), st.data())
def test_an_index_that_may_be_passed_over_never_says_what_is_looked_for(
    said: list[str], data: st.DataObject
):
    heads = {f"r{row}": Head(Kind.MESSAGE, summary=text) for row, text in enumerate(said)}
    made = session(" ".join(heads), heads=heads)
    source = data.draw(st.sampled_from(said))
    begin = data.draw(st.integers(0, len(source)))
    cut = source[begin : begin + data.draw(st.integers(1, 4))]
    asked = Query.parse(data.draw(st.sampled_from((cut, cut.lower(), cut.upper()))))
    if asked is None:
        return

    first = data.draw(st.integers(0, len(said) - 1))
    is_there = any(asked.in_index(made, row) for row in range(first, len(said)))
    packed = [*(each.encode() for each in made.ids), *made.heads.packed(slice(first, None))]
    assert asked.may_be_in_packed(packed) or not is_there


# --- The scan ------------------------------------------------------------------------------------


class Rows:
    """Bodies that are one text each, with a count of what was read of them."""

    def __init__(self, texts: Sequence[str], most: int = 100, *, is_run: bool = False) -> None:
        self.texts = texts
        self.most = most
        self.is_run = is_run
        self.decoded: list[int] = []
        self.asked: list[int] = []
        self.session = session(
            " ".join(f"id{row}" for row in range(len(texts))),
            heads={
                f"id{row}": Head(Kind.MESSAGE, summary=text.partition("|")[0])
                for row, text in enumerate(texts)
            },
        )

    def records(self, rows: Sequence[int]) -> list[bytes | None]:
        self.asked += rows[: self.most]
        return [json.dumps({"t": self.texts[row]}).encode() for row in rows[: self.most]]

    def run(self, first: int, last: int) -> bytes | None:
        lines = (json.dumps({"t": text}) for text in self.texts[first : last + 1])
        return "\n".join(lines).encode() if self.is_run else None

    def bodies(self, rows: Sequence[int]) -> list[Any]:
        self.decoded += rows
        return [{"t": self.texts[row]} for row in rows]

    def scan(self, text: str, start: int = 0) -> Iterator[Found]:
        return scan(self.session, query(text), start, self.records, self.bodies, self.run)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "BATCH_ROWS", 2)
    monkeypatch.setattr(search_module, "INDEX_BATCH_ROWS", 4)
    monkeypatch.setattr(search_module, "NEAR_ROWS", 3)


def told(found: Iterator[Found]) -> list[tuple[list[int], int, bool]]:
    return [([hit.row for hit in each.hits], each.done, each.is_indexed) for each in found]


@pytest.mark.usefixtures("small")
def test_near_bodies_come_first_then_the_index_then_all_other_bodies():
    rows = Rows(["a|x", "a", "a|x", "a|x", "a|x", "x", "a|x", "x"])

    assert told(rows.scan("x", start=2)) == [
        ([2, 3], 2, False),
        ([5, 4], 4, False),
        ([7], 4, False),
        ([], 4, False),
        ([], 4, True),
        ([6], 6, True),
        ([0], 8, True),
    ]
    assert rows.decoded == [2, 3, 4, 6, 0]


@pytest.mark.usefixtures("small")
def test_a_batch_may_be_shorter_than_was_asked_for():
    rows = Rows(["x", "a|x", "a|x", "x", "a|x"], most=1)

    assert told(rows.scan("x")) == [
        ([0, 1], 2, False),
        ([3, 2], 4, False),
        ([], 4, False),
        ([], 4, True),
        ([4], 5, True),
    ]


@pytest.mark.usefixtures("small")
def test_a_run_of_records_without_the_text_is_passed_over_as_a_whole():
    rows = Rows(["a", "b", "a|x", "b", "c", "d"], is_run=True)

    assert told(rows.scan("x")) == [
        ([], 2, False),
        ([2], 4, False),
        ([], 4, False),
        ([], 4, True),
        ([], 6, True),
    ]
    assert rows.asked == [2, 3]


def test_an_empty_session_is_looked_through_at_once():
    assert told(Rows([]).scan("x")) == [([], 0, True)]


def test_bytes_that_are_no_record_are_looked_into_as_text():
    made = session("gap@1", heads={"gap@1": Head(Kind.GAP)})
    (*_, last) = (
        hit
        for found in scan(
            made,
            query("torn"),
            0,
            lambda _: [b'{"it was \xff torn'],
            lambda _: [],
            lambda *_: b'{"it was \xff torn',
        )
        for hit in found.hits
    )

    assert last == Hit(0, '{"it was \N{REPLACEMENT CHARACTER} ', "torn", "")


@given(
    st.lists(st.sampled_from(("a", "x", "a|x", "a|X", "x|a")), max_size=20),
    st.data(),
)
def test_every_row_that_matches_is_found_once_wherever_the_scan_begins(
    texts: list[str], data: st.DataObject
):
    rows = Rows(texts, most=data.draw(st.integers(1, 3)), is_run=data.draw(st.booleans()))
    start = data.draw(st.integers(0, max(len(texts) - 1, 0)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "BATCH_ROWS", data.draw(st.integers(1, 4)))
        patch.setattr(search_module, "INDEX_BATCH_ROWS", data.draw(st.integers(1, 4)))
        patch.setattr(search_module, "NEAR_ROWS", data.draw(st.integers(0, 6)))
        found = list(rows.scan("x", start))

    hits = [hit.row for each in found for hit in each.hits]
    assert sorted(hits) == [row for row, text in enumerate(texts) if "x" in text.lower()]
    assert [each.done for each in found] == sorted(each.done for each in found)
    assert (found[-1].done, found[-1].is_indexed) == (len(texts), True)


# --- The search ----------------------------------------------------------------------------------


def hits(*rows: int) -> tuple[Hit, ...]:
    return tuple(Hit(row, "", "x", "") for row in rows)


def ten(start: int = 0, shown: bytes | None = None) -> Search:
    return Search(query("x"), 10, start, shown)


def test_a_finished_search_goes_from_hit_to_hit_and_around():
    search = ten()
    search.tell(Found(hits(2, 5, 7), 10, 10, is_indexed=True))

    assert [search.next(row) for row in (0, 2, 5, 7, 9)] == [
        Jump(2),
        Jump(5),
        Jump(7),
        Jump(2, has_wrapped=True),
        Jump(2, has_wrapped=True),
    ]
    assert [search.previous(row) for row in (9, 7, 5, 2, 0)] == [
        Jump(7),
        Jump(5),
        Jump(2),
        Jump(7, has_wrapped=True),
        Jump(7, has_wrapped=True),
    ]


def test_hits_are_counted_and_have_their_place():
    search = ten()
    search.tell(Found(hits(2, 7), 5, 10))

    assert (search.count, search.percent, search.is_done) == (2, 50, False)
    assert [search.place(row) for row in (-1, 1, 2, 7, 10)] == [None, None, 1, 2, None]
    assert search.hits[7] == Hit(7, "", "x", "")
    search.tell(Found(hits(5), 10, 10, is_indexed=True))
    assert (search.count, search.percent, search.is_done, search.place(7)) == (3, 100, True, 3)


def test_without_a_hit_there_is_nothing_yet_and_in_the_end_nowhere():
    search = ten()

    assert (search.next(0), search.previous(0)) == (NoJump.NOT_YET, NoJump.NOT_YET)
    search.tell(Found((), 10, 10, is_indexed=True))
    assert (search.next(0), search.previous(0)) == (NoJump.NOWHERE, NoJump.NOWHERE)


def test_the_only_hit_leads_to_itself():
    search = ten()
    search.tell(Found(hits(4), 10, 10, is_indexed=True))

    assert search.next(4) == search.previous(4) == Jump(4, has_wrapped=True)


def test_a_session_without_rows_is_done_from_the_start():
    search = Search(query("x"), 0)

    assert (search.is_done, search.percent, search.next(-1)) == (True, 100, NoJump.NOWHERE)


def test_a_hit_is_certain_once_all_on_the_way_is_looked_into():
    search = ten(start=3)
    search.tell(Found(hits(6), 4, 10))

    assert search.next(3) == Jump(6)
    assert search.previous(7) == Jump(6)
    assert search.next(6) == NoJump.NOT_YET
    assert search.previous(3) == NoJump.NOT_YET


def test_over_rows_not_looked_into_it_leaps_once_the_index_is_complete():
    search = ten(start=3)
    search.tell(Found(hits(9), 2, 10))
    assert search.next(3) == NoJump.NOT_YET
    search.tell(Found((), 2, 10, is_indexed=True))

    assert search.next(3) == Jump(9, is_certain=False)
    assert search.previous(3) == Jump(9, has_wrapped=True, is_certain=False)


def test_it_never_leaps_around_to_where_the_scan_began():
    search = ten(start=3)
    search.tell(Found(hits(4), 2, 10, is_indexed=True))

    assert search.next(4) == NoJump.NOT_YET
    assert search.previous(4) == NoJump.NOT_YET


def test_only_shown_rows_count():
    search = ten(shown=bytes([1, 1, 0, 1, 1, 0, 1, 1, 1, 1]))
    search.tell(Found(hits(2, 4, 8), 5, 10, is_indexed=True))

    assert (search.count, search.place(2), search.place(4)) == (2, None, 1)
    assert search.next(0) == Jump(4)
    search.show_only(bytes([1, 1, 1, 1, 1, 0, 0, 0, 1, 1]))
    assert (search.count, search.place(8)) == (3, 3)
    assert search.next(0) == Jump(2)
    assert search.next(4) == Jump(8)
    search.show_only(None)
    assert search.next(4) == Jump(8, is_certain=False)


class Told:
    """The same questions answered from plain lists, row by row."""

    def __init__(self, size: int, start: int, shown: Sequence[int]) -> None:
        self.size, self.start, self.shown = size, start, shown
        self.hits: set[int] = set()
        self.done = 0
        self.is_indexed = False

    def is_read(self, row: int) -> bool:
        return (row - self.start) % self.size < self.done

    def jump(self, row: int, step: int) -> Jump | NoJump:
        is_certain = True
        for distance in range(1, self.size + 1):
            place = row + step * distance
            each = place % self.size
            if not self.shown[each]:
                continue
            if each in self.hits:
                if is_certain or (self.is_indexed and not self.is_read(each)):
                    return Jump(each, place != each, is_certain)
                return NoJump.NOT_YET
            is_certain = is_certain and self.is_read(each)
        return NoJump.NOWHERE if self.done == self.size else NoJump.NOT_YET


@given(st.data())
def test_a_search_answers_as_a_walk_over_plain_lists(data: st.DataObject):
    size = data.draw(st.integers(1, 14))
    start = data.draw(st.integers(0, size - 1))
    masks = st.lists(st.integers(0, 1), min_size=size, max_size=size)
    shown = data.draw(masks)
    there = data.draw(st.sets(st.integers(0, size - 1)))
    indexed = data.draw(st.sets(st.sampled_from(sorted(there)))) if there else set[int]()
    told = Told(size, start, shown)
    search = Search(query("x"), size, start, bytes(shown))
    near = data.draw(st.integers(0, size))
    for is_indexed in (False, True):
        while told.done < (size if is_indexed else near):
            step = data.draw(st.integers(1, 5))
            before, told.done = told.done, min(told.done + step, size)
            rows = {(start + place) % size for place in range(before, told.done)}
            new = (rows & there) - told.hits
            told.hits |= new
            search.tell(Found(hits(*new), told.done, size, is_indexed))
            if data.draw(st.booleans()):
                told.shown = data.draw(masks)
                search.show_only(bytes(told.shown))
            for row in range(size):
                assert search.next(row) == told.jump(row, 1)
                assert search.previous(row) == told.jump(row, -1)
            visible = sorted(row for row in told.hits if told.shown[row])
            assert search.count == len(visible)
            assert [search.place(row) for row in visible] == list(range(1, len(visible) + 1))
        new = indexed - told.hits
        told.hits |= indexed
        told.is_indexed = True
        search.tell(Found(hits(*new), told.done, size, is_indexed=True))
    assert search.is_done


def test_what_a_scan_tells_leads_a_search_to_all_hits():
    rows = Rows(["a|x", "x", "a", "a|x"])
    search = Search(query("x"), 4, 1)
    for found in rows.scan("x", 1):
        search.tell(found)

    assert sorted(search.hits) == [0, 1, 3]
    assert (search.next(1), search.next(3)) == (Jump(3), Jump(0, has_wrapped=True))
