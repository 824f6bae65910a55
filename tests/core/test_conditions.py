"""Conditions: read, refused in words, asked of one checkpoint and followed along a path."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
import pytest
from builders import memories, memory, replay_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, memory_records

from tt_debugger.core.changes import Append, Change, LiveState, Put, Snapshot, Splice
from tt_debugger.core.conditions import At, ConditionError, parse_condition
from tt_debugger.core.model import Head, Kind, Role, Session, Usage
from tt_debugger.formats.shared.memory import MemoryRecord

M = ("messages",)
CALL: Any = {
    "role": "assistant",
    "model": "opus-4[1m]",
    "content": [
        {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}},
        {"type": "tool_use", "id": "c2", "name": "mcp__git__log", "input": {}},
    ],
}
RESULT: Any = {"role": "toolResult", "toolCallId": "c1", "toolName": "Bash", "isError": True}
CHANGES: dict[str, list[Change]] = {
    "u": [
        Snapshot({"messages": [], "model": "sonnet-4", "n": 1}),
        Append(M, {"role": "user", "content": "Find the Error, please"}),
    ],
    "a": [Append(M, CALL), Put(("model",), "opus-4[1m]")],
    "r": [Append(M, RESULT | {"content": "permission denied (13)"})],
    "c": [Splice(M, 0, 2, ({"role": "user", "content": "a summary"}, CALL))],
    "s": [Put(("n",), 2)],
    "x": [],
    "b": [Append(M, {"role": "assistant", "content": "Done."})],
}
HEADS = {
    "u": Head(Kind.MESSAGE, Role.USER, time=10.0, step=1),
    "a": Head(
        Kind.TOOL_CALL,
        Role.ASSISTANT,
        "Bash",
        time=14.5,
        usage=Usage(input=1000, output=200, cost=0.1),
    ),
    "r": Head(Kind.TOOL_RESULT, Role.TOOL, "Bash", time=90.0, failed=True),
    "c": Head(Kind.COMPACTION, step=2),
    "s": Head(Kind.SNAPSHOT, length=3000),
    "x": Head(Kind.UNREADABLE),
    "b": Head(
        Kind.MESSAGE, Role.ASSISTANT, usage=Usage(input=120_000, output=900, cost=0.2), time=95.0
    ),
}
ROWS = "u a r c s x b<r"
LABELS = {"r": "the first try", "b": "good"}


def story() -> tuple[Session, dict[str, list[str]]]:
    """Give a session of two branches, and the path to the end of each."""
    _, loaded = memory(memories(ROWS, CHANGES, HEADS))
    labels = {loaded.rows[name]: label for name, label in LABELS.items()}
    session = msgspec.structs.replace(loaded, labels=labels)
    return session, {"x": list("uarcsx"), "b": list("uarb")}


BODIES: Mapping[str, Any] = {
    "u": {"message": {"content": "Find the Error, please"}},
    "a": {"message": CALL, "stop": "tool_use"},
    "r": {"message": {"content": "permission denied (13)"}},
    "c": {"type": "compaction", "summary": "a summary"},
    "s": {"n": 2, "said": "Find the Error, please"},
    "x": None,
    "b": {"message": {"content": "Done."}},
}


def held(text: str) -> str:
    """Give the checkpoints at which a condition holds, asked in both ways along both branches."""
    session, paths = story()
    condition = parse_condition(text)
    found: dict[str, bool] = {}
    for path in paths.values():
        live, following = LiveState({}), condition.following()
        for name in path:
            live.apply(CHANGES[name])
            row = session.rows[name]
            at = At(session, row, CHANGES[name], live.value, partial(BODIES.get, name))
            found[name] = following.holds(at)
            assert condition.holds(at) is found[name]
    return "".join(name for name in found if found[name])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("error", "rx"),
        ("ERROR", "rx"),
        ("not error", "uacsb"),
        ("not not error", "rx"),
        ("tool=bash", "ar"),
        ("tool = 'Bash'", "ar"),
        ("tool=mcp__*", "a"),
        ("tool!=Bash", "ucsxb"),
        ("tool=ba", ""),
        ("kind=tool_result", "r"),
        ("kind=Tool-Call", "a"),
        ("kind!=message", "arcsx"),
        ("kind=tool_*", "ar"),
        ("role=user", "u"),
        ("role=ASSISTANT", "ab"),
        ("model=opus-4[1m]", "arcsxb"),
        ("model == 'SONNET-4'", "u"),
        ("model!=opus*", "u"),
        ('label="the first try"', "r"),
        ("label='*'", "rb"),
        ("label=good", "b"),
        ("cost>0.1", "b"),
        ("cost >= 0.1", "arcsxb"),
        ("cost=0.3", "b"),
        ("cost != 0.1", "ub"),
        ("tokens>1k", "arb"),
        ("tokens>=1.2K", "arb"),
        ("tokens > 0.1M", "b"),
        ("output<=200", "a"),
        ("took>1m", "r"),
        ("took>1.25m", "r"),
        ("took=4500ms", "a"),
        ("took<=5s", "ab"),
        ("bytes>2k", "s"),
        ("messages=2", "a"),
        ("messages>2", "rcsxb"),
        ("row<3", "ua"),
        ("row==4", "c"),
        ("step=2", "c"),
        ("time>1970-01-01T00:01", "rb"),
        ("time>='1970-01-01T00:00:14.5Z'", "arb"),
        ("time < 1970-01-01T01:00:12+01:00", "u"),
        ("model==`sonnet-4`", "u"),
        ('model==`"sonnet-4"`', "u"),
        ("cost>`0.1`", "b"),
        ("messages", "uarcsxb"),
        ("step!=2", "u"),
        ("text~denied", "r"),
        ("text~DENIED", ""),
        ("text~error", "u"),
        ("text~Error", "u"),
        (r"text~\(\d+\)", "r"),
        (r"text~\Werror", "u"),
        ("text~(find|done)", "ub"),
        ('text~"the error"', "u"),
        ("text~'the \\'?error'", "u"),
        ("text~[(] or text~done", "rb"),
        ("text~tool_use", "a"),
        ("entry: kind == 'compaction'", "c"),
        ("entry:usage.output > 500", "b"),
        ("entry: messages[?isError]", "r"),
        ("entry: record.type == 'compaction'", "c"),
        ("entry: keys(@)[-1] == 'record' and row<3", "ua"),
        ("n == 2", "sx"),
        ("messages[?isError]", "rcsxb"),
        ("length(messages) > 2", "rcsxb"),
        ("jmes:model == 'sonnet-4'", "u"),
        ("jmes: messages", "uarcsxb"),
        ("messages[-1].role == 'toolResult' and n == 2", "sx"),
        ("(messages | length(@)) > 2", "rcsxb"),
        ("(n == 2 || model == 'sonnet-4') && n", "usx"),
    ],
)
def test_a_condition_holds_where_it_should(text: str, names: str):
    assert held(text) == "".join(sorted(names, key="uarcsxb".index))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("error or tool=bash and row=2", "arx"),
        ("(error or tool=bash) and row=2", "a"),
        ("not error and row<3", "ua"),
        ("not (error and row=3)", "uacsxb"),
        ("not(error)and not(row=1)", "acsb"),
        ("(error)", "rx"),
        ("((error) or ((row=1)))", "urx"),
        ("error AND row=3 Or row=1", "ur"),
        ("messages[?role == 'x and y' || isError] and not error", "csb"),
        ("contains(messages[].content, 'a or b (c') or error", "rx"),
        ("(n == 1) and error", "r"),
        ("tool=bash\n  and error", "r"),
    ],
)
def test_not_binds_closer_than_and_than_or(text: str, names: str):
    assert held(text) == names


READY = (
    "there are error, tool=, kind=, role=, model=, label=, text~ and, with any comparison, "
    "cost, tokens, output, took, bytes, messages, row, step, time"
)
IN_UTC = "in UTC where no zone is named"
IN_QUOTES = "(in quotes: a shell takes > for itself)"
EQUAL = "; what is equal in JMESPath is written with =="


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "a condition is missing here (column 1)"),
        ("  ", "a condition is missing here (column 3)"),
        ("error and", "a condition is missing here (column 10)"),
        ("error and or row=1", "a condition is missing here (column 11)"),
        ("not", "a condition is missing here (column 4)"),
        ("()", "a condition is missing here (column 2)"),
        ("(error", "the parenthesis is never closed (column 1)"),
        ("error)", "')' does not belong here (column 6)"),
        ("error error", "'error' does not belong here (column 7)"),
        ("tool=", "something is missing behind tool= (column 6)"),
        ("label='' or error", "something is missing behind label= (column 7)"),
        ("text~", "something is missing behind text~ (column 6)"),
        ("text~'abc", "the quote ' is never closed (column 6)"),
        ("tokens>100,000", "'100,000' is no number: write 100000 (column 8)"),
        ("cost>0,1", "'0,1' is no number: write 0.1 (column 6)"),
        ("cost>0,125", "'0,125' is no number: write 0.125 (column 6)"),
        ("model==`small", "the quote ` is never closed (column 8)"),
        ("text~(", "missing ), unterminated subpattern at position 0 (column 6)"),
        ("error and length(", "the expression ends too soon (column 18)"),
        ("entry: usage.", "the expression ends too soon (column 14)"),
        ("jmes:", "an expression is missing (column 6)"),
        ("a.b = 3", "'=' is no operator of JMESPath, which compares with '==' (column 5)"),
        (
            "(" * 60 + "error" + ")" * 60,
            "groups may be nested 50 levels deep, and these are deeper",
        ),
        ("not " * 3000, "a condition has at most 8,000 characters, this one 12,000"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_wrong_with_a_condition_is_said_with_its_column(text: str, complaint: str):
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}( \\(column 52\\))?$"):
        parse_condition(text)


@pytest.mark.parametrize(
    ("text", "complaint", "hint"),
    [
        ("error && row=1", "'&&' joins no ready-made conditions (column 7)", "write 'and'"),
        ("row=1 || x", "'||' joins no ready-made conditions (column 7)", "write 'or'"),
        (
            "text~permission denied",
            "'denied' does not belong here (column 17)",
            "what has spaces in it is put in quotes",
        ),
        ("tol=Bash", "no condition tol=; did you mean tool=? (column 1)", f"{READY}{EQUAL}"),
        ("coast=3", "no condition coast=; did you mean cost=? (column 1)", f"{READY}{EQUAL}"),
        ("errors=3", "no condition errors=; did you mean error? (column 1)", f"{READY}{EQUAL}"),
        ("error and coast~x", "no condition coast~; did you mean cost>? (column 11)", READY),
        ("zzz = 3", "no condition zzz= (column 1)", f"{READY}{EQUAL}"),
        (
            "role=usr",
            "there is no role 'usr' (column 6)",
            "there are user, assistant, system, tool",
        ),
        ("cost>abc", "'abc' is no number (column 6)", "a number may end with a unit: k, M, G"),
        (
            "took > 5k",
            "'5k' is no number (column 8)",
            "a number may end with a unit: ms, s, m, h, d",
        ),
        ("tool>3", "tool goes with =, ==, != (column 6)", "jmes:tool is the field of the state"),
        ("text=a", "text goes with ~ (column 6)", "jmes:text is the field of the state"),
        (
            "time=2026-01-31",
            "time goes with >, >=, <, <= (column 6)",
            "jmes:time is the field of the state",
        ),
        (
            "time>09:40",
            "'09:40' is no time (column 6)",
            f"write a date, or a date and a time of day: 2026-01-31T09:40, {IN_UTC}",
        ),
        (
            "cost",
            f"cost wants a comparison: 'cost>1' {IN_QUOTES} (column 1)",
            "jmes:cost is the field of the state",
        ),
        (
            "error and not (took)",
            f"took wants a comparison: 'took>30s' {IN_QUOTES} (column 16)",
            "jmes:took is the field of the state",
        ),
        (
            "tool or error",
            "tool wants a comparison: 'tool=NAME' (column 1)",
            "jmes:tool is the field of the state",
        ),
        (
            "text",
            "text wants a comparison: 'text~denied' (column 1)",
            "jmes:text is the field of the state",
        ),
        ("messages>", "something is missing behind messages> (column 10)", None),
    ],
    ids=lambda text: str(text)[:20],
)
def test_what_is_wrong_with_a_condition_has_a_hint(text: str, complaint: str, hint: str | None):
    with pytest.raises(ConditionError) as raised:
        parse_condition(text)

    assert (str(raised.value), raised.value.hint) == (complaint, hint)


@pytest.mark.parametrize(
    ("text", "of_checkpoints", "happens", "state", "changes", "expression"),
    [
        ("error", 1, 1, 0, 0, None),
        ("kind=gap or took>3s", 1, 1, 0, 0, None),
        ("tool=bash", 1, 1, 0, 1, None),
        ("text~x", 1, 1, 0, 1, None),
        ("cost>1", 0, 0, 0, 0, None),
        ("messages>1", 0, 0, 1, 0, None),
        ("model=x", 0, 0, 1, 1, None),
        ("error and cost>1", 0, 1, 0, 0, None),
        ("entry: kind == 'gap'", 1, 1, 0, 0, None),
        ("entry: messages", 1, 1, 0, 1, None),
        ("entry: @", 1, 1, 0, 1, None),
        (" messages[?x] ", 0, 0, 1, 1, "messages[?x]"),
        ("jmes: error", 0, 0, 1, 1, "error"),
        ("(n > 1)", 0, 0, 1, 1, "n > 1"),
        ("not n", 0, 0, 1, 1, None),
        ("jmes:model or not n", 0, 0, 1, 1, None),
    ],
)
def test_a_condition_says_what_it_needs_and_which_expression_it_is(
    text: str, of_checkpoints: int, happens: int, state: int, changes: int, expression: str | None
):
    asked = parse_condition(text)
    found = asked.expression

    assert (
        asked.is_of_checkpoints,
        asked.happens,
        asked.needs_state,
        asked.needs_changes,
        None if found is None else found.text,
    ) == (of_checkpoints, happens, state, changes, expression)


def test_a_record_is_read_only_where_it_is_asked_for():
    session, _ = story()

    def body() -> Any:
        raise AssertionError

    at = At(session, 0, CHANGES["u"], {}, body)

    assert parse_condition("entry: messages and role=user and not error").holds(at)
    assert not parse_condition("error and text~x").following().holds(at)


def test_costs_are_those_of_the_session_that_is_asked_of():
    condition = parse_condition("cost>0.05")
    _, cheap = memory(memories("a", heads={"a": Head(Kind.MESSAGE, usage=Usage(cost=0.01))}))
    _, dear = memory(memories("a b<", heads={"b": Head(Kind.MESSAGE, usage=Usage(cost=1.0))}))

    told = [condition.holds(At(each, row, (), {}, dict)) for each in (cheap, dear) for row in (0,)]

    assert [*told, condition.holds(At(dear, 1, (), {}, dict))] == [False, False, True]


atoms = st.sampled_from(
    (
        *("error", "tool=a", "kind=snapshot", "role=user", "model=x", "label=*", "cost>=0"),
        *("tokens<1k", "output>1", "took>1s", "bytes>1", "messages>0", "messages=1", "row>2"),
        *("step=1", "text~a", "text~'[ab]|1'", "entry: kind == 'snapshot'", "entry: record"),
        *("a", "b == a", "messages[?@]", "length(messages) > 1", "messages[*].a", "!(b)"),
        *("sum(messages) >= 0", "(a[0])[0]", "jmes:keys(@)", "a.b || messages[-1]"),
    )
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("not ({})".format, inner),
        st.builds("({}) {} ({})".format, inner, st.sampled_from(("and", "or")), inner),
        st.builds("{} {} {}".format, atoms, st.sampled_from(("and", "or", "and not")), atoms),
    ),
    max_leaves=4,
)


@given(conditions, memory_records())
def test_following_is_asking_at_each_row(text: str, records: list[MemoryRecord]):
    condition = parse_condition(text)
    store, session = memory(records)
    replay = replay_of(store, session)

    def at(row: int, state: Any) -> At:
        return At(
            session, row, replay.changes(row), state, lambda: store.bodies(session, [row])[0]
        )

    for leaf in range(len(session)):
        live, following = LiveState({}), condition.following()
        for row in session.tree.path_to(leaf):
            live.apply(replay.changes(row))
            twin = following.copied()
            holds = condition.holds(at(row, replay.state(row)))

            assert following.holds(at(row, live.value)) is holds
            assert twin.holds(at(row, live.value)) is holds


@given(
    st.one_of(
        any_text,
        st.text("ab=()~<>!'\"`[]?&|\\ ", max_size=12),
        st.lists(
            st.sampled_from(
                (
                    "error",
                    "and",
                    "or",
                    "not",
                    "(",
                    ")",
                    "tool=",
                    "'a",
                    "text~",
                    "[",
                    "a=b",
                    "x",
                    "jmes:",
                )
            )
        ).map(" ".join),
    )
)
def test_any_text_is_a_condition_or_refused_in_words(text: str):
    session, _ = story()
    try:
        condition = parse_condition(text)
    except ValueError as error:
        told = bool(str(error)) and type(error) in {ValueError, ConditionError}
    else:
        told = True
        condition.holds(At(session, 1, CHANGES["a"], {"messages": [CALL]}, dict))

    assert told


def test_what_is_ready_made_does_not_load_jmespath():
    code = """
import sys
from tt_debugger.core.conditions import parse_condition
parse_condition("error and (tool=bash or cost>1) and text~x")
print("jmespath" in sys.modules)
parse_condition("messages")
print("jmespath" in sys.modules)
"""
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60
    )

    assert ran.stdout.split() == ["False", "True"]
