"""The difference of two texts: nothing is lost, and changed words are marked in their lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.diff.texts import (
    LONGEST_LINE,
    TextRow,
    beside,
    changed_words,
    hunk_json,
    hunks,
    text_rows,
)

lines = st.lists(st.sampled_from(("a b", "a c", "x", "", "the end", "the start")), max_size=8)
texts = st.one_of(lines.map("\n".join), st.text("ab \n", max_size=30))


def told(rows: list[TextRow]) -> list[str]:
    """Give rows with their signs, changed words in brackets."""
    words: list[str] = []
    for row in rows:
        match row.op:
            case "equal":
                words.append(f"  {row.old}")
            case "remove":
                words.append(f"- {row.old}")
            case "add":
                words.append(f"+ {row.new}")
            case "change":
                old, new = marked(row.old, row.old_spans), marked(row.new, row.new_spans)
                words.append(f"~ {old} | {new}")
    return words


def marked(line: str | None, spans: tuple[tuple[int, int], ...]) -> str:
    text = line or ""
    for begin, end in reversed(spans):
        text = f"{text[:begin]}[{text[begin:end]}]{text[end:]}"
    return text


@given(texts, texts)
def test_the_rows_are_both_texts_and_equal_lines_are_equal(old: str, new: str) -> None:
    rows = text_rows(old, new)

    assert "\n".join(row.old for row in rows if row.old is not None) == old
    assert "\n".join(row.new for row in rows if row.new is not None) == new
    assert [r.old_line for r in rows if r.old is not None] == list(range(old.count("\n") + 1))
    assert [r.new_line for r in rows if r.new is not None] == list(range(new.count("\n") + 1))
    assert all((row.op == "equal") == (row.old == row.new) for row in rows)


@given(st.text("ab1 .-\t", max_size=30), st.text("ab1 .-\t", max_size=30))
def test_without_the_words_that_changed_two_lines_are_one(old: str, new: str) -> None:
    old_spans, new_spans = changed_words(old, new)

    def kept(line: str, spans: tuple[tuple[int, int], ...]) -> str:
        for begin, end in reversed(spans):
            line = line[:begin] + line[end:]
        return line

    assert kept(old, old_spans) == kept(new, new_spans)


@given(texts, texts, st.integers(0, 3))
def test_hunks_hold_every_change_once_and_little_else(old: str, new: str, context: int) -> None:
    rows = text_rows(old, new)
    found = hunks(rows, context)

    changed = [row for row in rows if row.op != "equal"]
    assert [row for hunk in found for row in hunk.rows if row.op != "equal"] == changed
    for hunk in found:
        equal = "".join("=" if row.op == "equal" else "x" for row in hunk.rows)
        assert len(equal) - len(equal.strip("=")) <= 2 * context
        assert "=" * (2 * context + 1) not in equal.strip("=")
        at = rows.index(hunk.rows[0])
        assert hunk.old_before == sum(row.old is not None for row in rows[:at])
        assert hunk.new_before == sum(row.new is not None for row in rows[:at])


def test_lines_are_aligned_and_words_marked_inside_them():
    old = "def save():\n    write(path)\n    return None\n# end"
    new = "def save():\n    write(path, text)\n    flush()\n    return None\n# end"

    assert told(text_rows(old, new)) == [
        "  def save():",
        "~     write(path) |     write(path[, text])",
        "+     flush()",
        "      return None",
        "  # end",
    ]


def test_lines_that_have_little_in_common_are_no_change_of_each_other():
    assert told(text_rows("one two three\nx", "alpha beta\nx")) == [
        "- one two three",
        "+ alpha beta",
        "  x",
    ]


def test_a_very_long_line_is_told_by_what_lies_between_its_equal_ends():
    old = "a" * LONGEST_LINE + "b" + "c" * 9
    new = "a" * LONGEST_LINE + "dd" + "c" * 9

    assert changed_words(old, new) == (
        ((LONGEST_LINE, LONGEST_LINE + 1),),
        ((LONGEST_LINE, LONGEST_LINE + 2),),
    )


def test_a_hunk_in_json_counts_lines_from_one():
    (hunk,) = hunks(text_rows("a\nb\nc\nd\ne", "a\nb\nc x\nd\ne"), context=1)

    assert hunk_json(hunk) == {
        "old_start": 2,
        "old_count": 3,
        "new_start": 2,
        "new_count": 3,
        "lines": [
            {"op": "equal", "old": "b", "new": "b"},
            {
                "op": "change",
                "old": "c",
                "new": "c x",
                "old_words": (),
                "new_words": ((1, 3),),
            },
            {"op": "equal", "old": "d", "new": "d"},
        ],
    }


@given(texts, texts)
def test_beside_each_other_no_line_is_lost_and_no_row_is_empty(old: str, new: str) -> None:
    sides = list(beside(text_rows(old, new)))

    assert "\n".join(one.old or "" for one, _ in sides if one and one.old is not None) == old
    assert "\n".join(two.new or "" for _, two in sides if two and two.new is not None) == new
    assert all(one or two for one, two in sides)


def test_lines_that_gave_way_to_others_stand_beside_them():
    rows = text_rows("one two\nx", "alpha\nbeta\nx")

    assert [(one and one.old, two and two.new) for one, two in beside(rows)] == [
        ("one two", "alpha"),
        (None, "beta"),
        ("x", "x"),
    ]
