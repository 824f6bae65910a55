"""The unified diff is one that `patch` understands: applied to A's transcript it gives B's."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies import states

from tt_debugger.core.diff.comparing import compare
from tt_debugger.exports.plain import message_lines
from tt_debugger.exports.unified import settings_text, told_new, unified_lines

texts = st.lists(st.sampled_from(("one", "two", "three", "", "- four", "@@ five")), max_size=6)
messages = st.lists(
    st.builds(
        lambda role, lines: {"role": role, "content": "\n".join(lines)},
        st.sampled_from(("user", "assistant")),
        texts,
    ),
    max_size=6,
)


def transcript(state: Any) -> list[str]:
    lines = settings_text(state).split("\n")
    for message in state.get("messages", []):
        lines += "\n".join(message_lines(message)).split("\n")
    return lines


def applied(lines: list[str], old: list[str]) -> list[str]:
    """Apply hunks as `patch` does, and check that they fit."""
    new: list[str] = []
    place, expected = 0, (0, 0)
    for line in lines:
        head = re.match(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", line) if expected == (0, 0) else None
        if head:
            begin, count, new_begin, new_count = map(int, head.groups())
            begin -= count > 0
            new += old[place:begin]
            place, expected = begin, (count, new_count)
            assert len(new) == new_begin - (new_count > 0)
            continue
        sign, text = line[0], line[1:]
        if sign in " -":
            assert old[place] == text
            place += 1
        if sign in " +":
            new.append(text)
        expected = expected[0] - (sign in " -"), expected[1] - (sign in " +")
    assert expected == (0, 0)
    return new + old[place:]


@given(messages, messages, st.integers(0, 2), st.integers(0, 2))
def test_the_hunks_applied_to_one_transcript_give_the_other(
    old: list[Any], new: list[Any], one: int, other: int
):
    before, after = {"model": one, "messages": old}, {"model": other, "messages": new}
    comparison = compare(before, after, mask=False)

    assert applied(list(unified_lines(comparison)), transcript(before)) == transcript(after)


@given(states, states)
def test_the_hunks_of_states_without_messages_apply_too(old: Any, new: Any):
    old, new = ({key: each[key] for key in each if key != "messages"} for each in (old, new))
    comparison = compare(old, new)

    assert applied(list(unified_lines(comparison)), settings_text(old).split("\n")) == (
        settings_text(told_new(comparison)).split("\n")
    )


def test_a_hunk_is_headed_by_the_message_that_it_is_in():
    before = {"role": "assistant", "content": "\n".join("abcdefgh")}
    after = {"role": "assistant", "content": "\n".join("abcdefxh")}
    comparison = compare({"messages": [before]}, {"messages": [after]})

    assert list(unified_lines(comparison)) == [
        *("@@ -6,5 +6,5 @@ assistant", " d", " e", " f", "-g", "+x", " h"),
    ]


def test_what_is_masked_is_no_hunk():
    old, new = ({"messages": [], "usage": {"input": each}} for each in (1, 2))

    assert list(unified_lines(compare(old, new))) == []
