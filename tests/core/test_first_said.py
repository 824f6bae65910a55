"""Where a text was first to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from builders import memories, memory, replay_of
from hypothesis import given
from hypothesis import strategies as st
from touching import MESSAGES

from tt_debugger.core.changes import Append, Change, Put, Splice
from tt_debugger.core.first_said import FirstSaid, Sought, first_said, is_telling, texts_in
from tt_debugger.core.paths import Path
from tt_debugger.debugger import Debugger

Said = Mapping[str, Sequence[Change]]
START: Sequence[Change] = [Put(MESSAGES, [])]


def found(words: str, changes: Said, text: str, own: str) -> str | None:
    """Give the row and path where a text was first said: `row path`, and a line of it."""
    store, session = memory(memories(words, changes))
    rows = list(range(len(session)))
    sought = [Sought((), text, session.rows[own])]
    steps = replay_of(store, session).changes_along(rows)
    (said,) = first_said(sought, rows, steps)
    if said is None:
        return None
    place = f"{session.ids[said.row]} {'/'.join(map(str, said.path))}"
    return place if said.is_whole else f"{place}: {said.text}"


def says(text: str) -> Sequence[Change]:
    return [Append(MESSAGES, {"role": "user", "text": text})]


def test_the_oldest_message_that_has_the_text_is_found():
    changes = {"a": START, "b": says("see the long road"), "c": says("the long road again")}

    assert found("a b c d", changes, " the long road\n", "d") == "b messages/0/text"


def test_what_stands_in_the_row_itself_or_behind_it_does_not_count():
    changes = {"a": START, "b": says("the long road"), "c": says("the long road")}

    assert found("a b c", changes, "the long road", "b") is None


def test_where_the_whole_was_not_said_the_longest_line_that_was_is_found():
    changes = {
        "a": START,
        "b": says("here is a short line"),
        "c": says("xx here is a line that is longer xx"),
        "d": says("here is a line that is longer"),
    }
    text = "new words only here\n   here is a line that is longer\nhere is a short line\n"

    expected = "c messages/1/text: here is a line that is longer"
    assert found("a b c d e", changes, text, "e") == expected


def test_the_whole_counts_for_more_than_a_line_that_was_said_sooner():
    changes = {"a": START, "b": says("first long line"), "c": says("first long line\nsecond one")}

    assert found("a b c d", changes, "first long line\nsecond one", "d") == "c messages/1/text"


def test_messages_count_for_more_than_what_stands_elsewhere():
    changes = {
        "a": [Put(("title",), "mend the parser"), *START],
        "b": says("please mend the parser"),
    }

    assert found("a b c", changes, "mend the parser", "c") == "b messages/0/text"
    assert found("a c", changes, "mend the parser", "c") == "a title"


def test_what_a_compaction_put_is_found_where_it_put_it():
    changes = {
        "a": START,
        "b": says("one"),
        "s": [Splice(MESSAGES, 0, 1, ("x", "a summary of it"))],
    }

    assert found("a b s d", changes, "a summary of it", "d") == "s messages/1"


def test_a_short_word_with_a_sign_in_it_is_found_as_a_word_alone():
    changes = {"a": START, "b": says("my_app.python"), "c": says("open (app.py), please")}

    assert found("a b c d", changes, "app.py", "d") == "c messages/1/text"


def test_a_text_that_chance_would_find_is_not_looked_for():
    assert [
        is_telling(each) for each in ("ok", "please", "12:3", "  a few words  ", "app.py")
    ] == [
        False,
        False,
        False,
        False,
        True,
    ]
    assert found("a b c", {"a": START, "b": says("ok")}, "ok", "c") is None


def test_the_texts_of_arguments_in_json_are_sought_one_by_one():
    value = {"arguments": '{"path": "src/app.py", "n": 1, "old": ["x"]}', "name": "edit", "id": ""}

    assert list(texts_in(value, ("m",))) == [
        (("m", "arguments"), "src/app.py"),
        (("m", "arguments"), "x"),
        (("m", "name"), "edit"),
    ]


def test_of_json_that_holds_very_many_texts_it_is_sought_itself():
    few, many = ([f"name {number}" for number in range(size)] for size in (50, 51))
    texts = [msgspec.json.encode(each).decode() for each in (few, many)]

    assert [text for _, text in texts_in(texts, ())] == [*few, texts[1]]


def test_what_only_names_a_message_or_a_part_of_it_is_not_sought_unless_it_is_asked_for():
    message = {
        "role": "assistant",
        "id": "msg_1",
        "responseId": "resp_1",
        "model": "coder-large",
        "rawStopReason": "tool_calls",
        "finish_reason": "tool_calls",
        "response_metadata": {"model_name": "large"},
        "content": [
            {"type": "text", "text": "mend it", "said": "now"},
            {"type": "tool_use", "id": "toolu_1", "input": {"id": "ticket 7", "type": "bug"}},
        ],
        "tool_call_id": "call_1",
        "paid": "yes",
    }

    said = [
        ("content", 0, "text"),
        ("content", 0, "said"),
        ("content", 1, "input", "id"),
        ("content", 1, "input", "type"),
        ("paid",),
    ]
    for path in (("messages", 3), ("values", "messages", 0)):
        assert [place for place, _ in texts_in(message, path)] == [(*path, *each) for each in said]
    assert list(texts_in("coder-large", ("messages", 3, "model"))) == [
        (("messages", 3, "model"), "coder-large")
    ]
    assert list(texts_in({"id": "r-7"}, ("plan", 0))) == [(("plan", 0, "id"), "r-7")]


def test_a_debugger_follows_the_texts_of_a_call_to_where_they_were_read():
    with Debugger.open("sample_sessions/pi.jsonl") as debugger:
        row = len(debugger.session) - 1
        told = debugger.first_said(row, ("messages",))

    assert any(said is not None and said.is_whole for _, said in told)
    assert all(said is None or said.row < sought.row for sought, said in told)


@given(st.lists(st.text("ab \n", max_size=30), max_size=6), st.text("ab \n", max_size=30))
def test_what_is_found_is_the_first_that_holds_it(texts: list[str], text: str) -> None:
    rows = list(range(len(texts) + 1))
    steps: list[Sequence[Change]] = [[Put(("messages",), []), *says(each)] for each in texts]
    steps.append([])
    path: Path = ("messages", 0, "text")

    (said,) = first_said([Sought((), text, rows[-1])], rows, steps)

    holding = [row for row, each in enumerate(texts) if text.strip() in each]
    if not is_telling(text):
        assert said is None
    elif holding:
        assert said == FirstSaid(holding[0], path, text.strip(), is_whole=True)
    else:
        assert said is None or (said.text in texts[said.row] and not said.is_whole)
