"""Known values: many of them are found in a long text, as each by itself would be."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from time import process_time

from hypothesis import given
from hypothesis import strategies as st
from secrets_made import ALNUM, chars

from tt_debugger.core.redact.known import SHORTEST_KNOWN, known_in


def one_by_one(text: str, values: list[str]) -> Iterator[tuple[str, int]]:
    for value in values:
        place = text.find(value)
        while place >= 0:
            yield value, place
            place = text.find(value, place + len(value))


few = st.text("ab", min_size=SHORTEST_KNOWN, max_size=24)


@given(st.lists(few, max_size=3), st.lists(st.one_of(few, st.text("abc\ud800")), max_size=12))
def test_many_values_are_found_where_each_by_itself_is(sought: list[str], pieces: list[str]):
    text = "".join((*pieces, *sought))
    # So many that they are sifted first.
    values = [*sought, *(f"{number:08}" for number in range(60))]

    assert list(known_in(text, values)) == list(one_by_one(text, values))


def test_thousands_of_values_in_a_long_page_are_not_looked_for_one_by_one():
    random = Random(1)  # noqa: S311 - reproducible on purpose
    values = [chars(random, ALNUM, random.randint(SHORTEST_KNOWN, 60)) for _ in range(3000)]
    page = "".join(chars(random, ALNUM + "   ", 1000) for _ in range(3000))
    page = page[:1_000_000] + values[7] + page[1_000_000:] + values[2999]

    began = process_time()
    found = list(known_in(page, values))
    ended = process_time()
    list(one_by_one(page, values[:600]))

    # Beside the naive way on a fifth of them: a busy machine slows both.
    assert ended - began < 3 * (process_time() - ended)
    assert found == [(values[7], 1_000_000), (values[2999], len(page) - len(values[2999]))]
