"""Safe text: nothing in it acts on a terminal or hides."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text

from tt_debugger.core.text import (
    LONGEST_CLUSTER,
    acting,
    common_start,
    pieces,
    safe_line,
    safe_text,
    summary_line,
)

ACUTE = "\N{COMBINING ACUTE ACCENT}"


@given(any_text)
def test_safe_text_holds_no_character_that_steers_or_hides(text: str):
    left = {unicodedata.category(each) for each in safe_text(text).replace("\n", "")}

    assert not left & {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}


@given(any_text)
def test_safe_text_is_safe_already(text: str):
    assert safe_text(safe_text(text)) == safe_text(text)
    assert acting(safe_text(text)) == set()


@given(any_text)
def test_what_acts_in_a_text_is_told_whatever_stands_around_it(text: str):
    assert acting(text) == {each for each in text if safe_text(each) != each}


@given(any_text)
def test_a_safe_line_is_one_line_and_otherwise_the_safe_text(text: str):
    assert safe_line(text) == safe_text(text).replace("\n", "␊")
    assert len(safe_line(text).splitlines()) <= 1


@given(st.text(st.characters(categories=("Mn", "Me", "Lu")), max_size=60))
def test_no_character_of_safe_text_carries_a_pile_of_marks(text: str):
    longest = cluster = 0
    for character in safe_text(text):
        joins = unicodedata.category(character) in {"Mn", "Me"}
        cluster = cluster + 1 if joins else 1
        longest = max(longest, cluster)

    assert longest <= LONGEST_CLUSTER


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("plain text, {json} and ~\n", "plain text, {json} and ~\n"),
        ("\x1b[2J\x07", "␛[2J␇"),
        ("a\tb", "a    b"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("\x7f\x9b31m", "␡⟨U+009B⟩31m"),
        ("a\u202egpj.exe", "a⟨U+202E⟩gpj.exe"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("half \ud83d", "half \N{REPLACEMENT CHARACTER}"),
        ("line\u2028end", "line⟨U+2028⟩end"),
        ("blank\u3164", "blank⟨U+3164⟩"),
        ("über 日本 🙂", "über 日本 🙂"),
        ("e" + ACUTE * 40, "e" + ACUTE * 15 + "…"),
        ("e" + "\u20dd" * 1000, "e" + "\u20dd" * 15 + "…"),
        ("☺" + "\ufe0f" * 100, "☺" + "\ufe0f" * 15 + "…"),
        ("hidden\U000e0100", "hidden⟨U+E0100⟩"),
        ("☺\ufe0f e\u20dd", "☺\ufe0f e\u20dd"),
        ("e" + ACUTE * 40 + "f" + ACUTE, "e" + ACUTE * 15 + "…f" + ACUTE),
    ],
)
def test_what_acts_is_shown_and_what_is_harmless_stays(content: str, shown: str):
    assert safe_text(content) == shown


@given(any_text, st.integers(2, 40))
def test_a_summary_is_one_line_of_bounded_length(text: str, limit: int):
    summary = summary_line(text, limit)

    assert len(summary) <= limit
    assert summary == " ".join(summary.split())


def test_a_summary_that_was_cut_ends_in_an_ellipsis():
    assert summary_line("one\n two   three four", 10) == "one two t…"


@given(st.text(), st.integers(1, 5))
def test_pieces_are_the_text_and_begin_with_no_mark(text: str, size: int) -> None:
    parts = list(pieces(text, size))

    assert "".join(parts) == text
    assert all(len(part) >= size for part in parts[:-1])
    assert not any(unicodedata.category(part[0]) in {"Mn", "Me"} for part in parts[1:])


def test_a_text_without_characters_is_one_piece() -> None:
    assert list(pieces("", 3)) == [""]


@given(st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_the_common_start_of_two_texts_is_all_that_they_share(one: str, other: str) -> None:
    size = common_start(one, other)

    assert one[:size] == other[:size]
    assert size == min(len(one), len(other)) or one[size] != other[size]
