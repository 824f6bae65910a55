"""What a record must have in it for a condition to hold."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.conditions.words import word_in_names, word_in_texts

LETTERS = "abiIsSkK ıİſK."


@pytest.mark.parametrize(
    ("pattern", "word"),
    [("bash", "bash"), ("mcp__*", "mcp__"), ("*edit*File", "ed"), ("*", None), ("größe", None)],
)
def test_a_name_has_the_longest_part_that_is_certain(pattern: str, word: str | None):
    found = word_in_names(pattern)

    assert (None if found is None else found.needle) == word


def test_only_of_a_plain_word_it_is_known_how_a_record_says_it():
    words = [word_in_texts(each, ignores_case=False) for each in ("two words", "a|b", "x.y", "a+")]

    assert [each and each.needle for each in words] == ["two words", None, None, None]


@given(st.text(LETTERS, min_size=1, max_size=4), st.text(LETTERS, max_size=8), st.booleans())
def test_a_record_in_which_an_expression_is_found_may_have_its_word(
    pattern: str,
    text: str,
    ignores_case: bool,  # noqa: FBT001 - what is drawn
):
    word = word_in_texts(pattern, ignores_case=ignores_case)
    flags = re.IGNORECASE if ignores_case else 0

    if word is not None and re.search(pattern, text, flags):
        assert word.may_be_in(msgspec.json.encode({"text": text}))
