"""Edits as texts: what a text begins with, what it means, and what is said of one that is none."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.changes import Append, Drop, Put, Snapshot, fold
from tt_debugger.core.fork.edits import messages_put
from tt_debugger.core.text import safe_text
from tt_debugger.errors import UsageError
from tt_debugger.forking import Standing
from tt_debugger.tui.edit_texts import (
    LARGEST,
    LONGEST_LINE,
    Ground,
    Way,
    complaint,
    edits_of,
    ground_of,
    is_large,
    read_json,
)

HELLO = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
CALL = {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "ls"}]}
STATE = {"messages": [HELLO, CALL], "model": "m"}


def ground(*messages, state=STATE, before=None, can_say=True) -> Ground:
    at = Standing(1, 1, state)
    return ground_of(at, before, tuple(messages), can_say=can_say)


def say(_state, text, _time):
    return Append(("messages",), {"role": "user", "content": text})


def edits(ground: Ground, way: Way, text: str):
    return edits_of(ground, way, text, say, 0)[1]


def test_a_message_that_is_plain_text_is_edited_as_that_text():
    at = ground(("messages", 0))
    assert at.texts[Way.MESSAGE] == "hello"
    path = ("messages", 0, "content", 0, "text")
    assert edits(at, Way.MESSAGE, "bye") == (Put(path, "bye"),)
    assert edits(at, Way.MESSAGE, "hello") == ()


def test_any_other_message_is_edited_as_json():
    at = ground(("messages", 1))
    assert msgspec.json.decode(at.texts[Way.MESSAGE]) == CALL
    changed = CALL | {"stopReason": "toolUse"}
    text = msgspec.json.encode(changed).decode()
    assert edits(at, Way.MESSAGE, text) == (Put(("messages", 1), changed),)
    assert complaint(at, Way.MESSAGE, "[]") == "a message is an object: it stands in { }"


def test_of_several_messages_only_those_that_differ_are_edited():
    at = ground(("messages", 0), ("messages", 1))
    assert msgspec.json.decode(at.texts[Way.MESSAGE]) == [HELLO, CALL]
    text = msgspec.json.encode([HELLO, CALL | {"x": 1}]).decode()
    assert edits(at, Way.MESSAGE, text) == (Put(("messages", 1), CALL | {"x": 1}),)
    told = "the checkpoint has 2 messages: give a list of as many"
    assert complaint(at, Way.MESSAGE, "[{}]") == told


def test_the_state_is_edited_key_by_key():
    at = ground()
    text = at.texts[Way.STATE].replace('"m"', '"other"')
    assert edits(at, Way.STATE, text) == (Put(("model",), "other"),)
    assert edits(at, Way.STATE, '{"messages":[],"new":1}') == (
        Drop(("model",)),
        Put(("messages",), []),
        Put(("new",), 1),
    )
    assert complaint(at, Way.STATE, "[]") == "the state is an object: it stands in { }"


def test_places_are_edited_line_by_line_each_after_the_one_before():
    lines = 'model="n"\n\n- messages[0]\nmessages[0].content="gone"\nmessages[-]={"role":"user"}'
    assert fold(STATE, edits(ground(), Way.PATHS, lines)) == {
        "messages": [{"role": "assistant", "content": "gone"}, {"role": "user"}],
        "model": "n",
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model", "line 1: 'model' has no = "),
        ("model=1\nmodel=x", "line 2: the value of model is no JSON"),
        ("a.b=1", "line 1: there is no a in the state"),
        ("- messages[7]", "line 1: there is no 7 in messages: it has 2 items"),
    ],
)
def test_a_line_that_names_no_place_is_told_by_its_number(text: str, told: str):
    assert complaint(ground(), Way.PATHS, text).startswith(told)


def test_words_are_added_where_there_are_some():
    at = ground()
    assert edits(at, Way.SAY, "more") == (say(STATE, "more", 0),)
    assert complaint(at, Way.SAY, " \n") == "type what is to be said"
    assert complaint(at, Way.SAY, "more") == ""


def test_other_words_go_on_from_before_the_message():
    before = Standing(0, 0, {"messages": []})
    at = ground(("messages", 0), before=before)
    assert at.texts[Way.INSTEAD] == "hello"
    standing, changes = edits_of(at, Way.INSTEAD, "bye", say, 0)
    assert (standing, changes) == (before, (say({}, "bye", 0),))


def test_only_what_is_possible_is_offered():
    assert list(ground(can_say=False).texts) == [Way.UNCHANGED, Way.STATE, Way.PATHS]
    assert list(ground(state={}).texts) == [Way.UNCHANGED, Way.SAY, Way.PATHS]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no JSON yet: it ends too early"),
        ('{"a": [1, 2}', "no JSON yet: line 1, column 12: expected ',' or ']'"),
        ('{\n  "ä": x}', "no JSON yet: line 2, column 8: invalid character"),
        ('{"a": "\udc80"}', "line 1, column 8: half of a character"),
        ("[" * 100_000, "it is nested too deeply"),
    ],
)
def test_json_that_is_none_is_told_by_its_place(text: str, told: str):
    with pytest.raises(UsageError) as error:
        read_json(text)
    assert error.value.message == told


def test_a_long_text_or_line_is_large():
    line = "x" * LONGEST_LINE
    assert not is_large(f"{line}\n{line}")
    assert is_large(f"{line}x")
    assert is_large("x\n" * (LARGEST // 2 + 1))


def test_messages_are_found_wherever_a_checkpoint_put_them():
    after = {"messages": [HELLO, CALL]}
    before = {"messages": [HELLO]}
    assert messages_put((Append(("messages",), CALL),), before, after) == (("messages", 1),)
    assert messages_put((Put(("messages",), [HELLO, CALL]),), before, after) == (("messages", 1),)
    assert messages_put((Snapshot(after),), before, after) == (("messages", 1),)
    values = {"values": after}
    assert messages_put((Snapshot(values),), {}, values) == (("values", "messages", 1),)
    assert messages_put((Put(("model",), "m"),), {}, {"model": "m"}) == ()


def test_a_pile_of_marks_is_shown_by_its_code_points():
    pile = "a" + "\u0301" * 40
    at = ground(("messages", 0), state={"messages": [{"role": "user", "content": pile}]})
    assert "\\u0301" * 40 in at.texts[Way.MESSAGE]
    assert edits(at, Way.MESSAGE, at.texts[Way.MESSAGE]) == ()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_that_is_to_be_edited_holds_what_acts_and_none_changes_by_being_shown(text: str):
    state = {"messages": [{"role": "user", "content": text}]}
    at = ground(("messages", 0), state=state)
    for way, shown in at.texts.items():
        assert safe_text(shown.replace("\t", " ")) == shown.replace("\t", " ")
        if shown:
            assert edits(at, way, shown) == ()
