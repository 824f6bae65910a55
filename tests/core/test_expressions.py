"""Expressions: read, refused in words, evaluated on anything, and followed along a walk."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

import jmespath
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jmespath.exceptions import JMESPathError
from strategies import any_text, changes_of, json_values

from tt_debugger.core.changes import Append, Change, Drop, LiveState, Put, Snapshot, Splice, fold
from tt_debugger.core.expressions import JmesPath
from tt_debugger.core.formula import columns
from tt_debugger.core.formula.syntax import DEEPEST, LONGEST
from tt_debugger.core.paths import Path, value_at

encoded = msgspec.json.Encoder().encode

scalars = st.sampled_from((None, True, False, 0, 1, 2, -1, 1.0, 0.5, "", "x", "user", "tool"))
parts = st.one_of(scalars, st.lists(scalars, max_size=3), st.just({"x": 1}), st.just({}))
messages = st.one_of(
    st.dictionaries(st.sampled_from(("role", "cost", "tags", "x")), parts, max_size=4), parts
)

names = st.sampled_from(("role", "cost", "tags", "x", "a", "messages"))
literals = st.sampled_from(("'user'", "`1`", "`0.5`", "`true`", "`null`", "`[]`", "''", "'x'"))
comparators = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
comparisons = st.builds("{} {} {}".format, names, comparators, st.one_of(literals, names))
of_items = st.one_of(
    names,
    comparisons,
    st.builds("!{}".format, names),
    st.builds("length({}) > 1".format, names),
    st.builds("{} && {}".format, names, comparisons),
    st.sampled_from(("@", "tags[0]", "tags[?@ == 'x']", "type(@)", "tags[]", "to_string(@)")),
)
lists = st.sampled_from(("messages", "a", "@.messages", "a.x", "a[0]", "messages[0].tags", "@"))
stages = st.one_of(
    st.builds("[?{}]".format, of_items),
    st.sampled_from(("[*]", "[]", "[*][]", "[*].tags[]", "[1:]", "[-2:]", "[?role].tags[?@]")),
)
behind = st.one_of(st.just(""), st.builds(".{}".format, names), st.just(".[role, x]"))
projections = st.builds("{}{}{}".format, lists, stages, behind)
functions = st.sampled_from(
    ("length", "sum", "max", "min", "avg", "sort", "type", "to_string", "reverse", "not_null")
)


def _around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}({})".format, functions, inner),
        st.builds("{} | {}(@)".format, inner, functions),
        st.builds("contains({}, {})".format, inner, literals),
        st.builds("({})[{}]".format, inner, st.sampled_from((0, 1, -1))),
        st.builds("{} | [{}]".format, inner, st.sampled_from((0, 1, -1, "1:", "?x", "*", ""))),
        st.builds("!({})".format, inner),
        st.builds("({}) {} ({})".format, inner, comparators, inner),
        st.builds("({}) {} {}".format, inner, comparators, st.sampled_from((0, 1, -1, 2.5))),
        st.builds("({}) {} ({})".format, inner, st.sampled_from(("&&", "||", "|")), inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{{one: {}, other: {}}}".format, inner, inner),
        st.builds("({}){}".format, inner, stages),
        st.builds("max_by({}, &cost)".format, inner),
        st.builds("map(&role, {})".format, inner),
        st.builds("({}).{}".format, inner, names),
    )


expressions = st.recursive(
    st.one_of(projections, projections, names, lists, literals, st.sampled_from(("*", "*.x"))),
    _around,
    max_leaves=4,
)

sessions = st.fixed_dictionaries(
    {"messages": st.lists(messages, max_size=4)},
    optional={"a": st.one_of(parts, st.lists(messages, max_size=3), json_values), "x": parts},
)


@st.composite
def steps_of(draw: st.DrawFn, state: Any, max_size: int = 3) -> list[Change]:
    """Give a run of changes, most of them to the messages, as the steps of an agent are."""
    changes: list[Change] = []
    for _ in range(draw(st.integers(0, max_size))):
        change = draw(_change_of(state))
        state = fold(state, [change])
        changes.append(change)
    return changes


@st.composite
def _change_of(draw: st.DrawFn, state: Any) -> Change:
    found = state.get("messages") if isinstance(state, dict) else None
    if not isinstance(found, list) or draw(st.integers(0, 3)) == 0:
        chosen = draw(changes_of(state, 1))
        return chosen[0] if chosen else Snapshot(draw(sessions))
    begin = draw(st.integers(0, len(found)))
    end = draw(st.integers(begin, len(found)))
    values = tuple(draw(st.lists(messages, max_size=3)))
    fitting: list[Change] = [
        Append(("messages",), draw(messages)),
        Splice(("messages",), begin, end - begin, values),
        Put(("messages",), [*found[begin:end], *values]),
        Snapshot({**state, "messages": copy.deepcopy([*found[:begin], *values])}),
    ]
    if begin < len(found):
        place: Path = ("messages", begin)
        fitting += [Put(place, draw(messages)), Drop(place)]
        if isinstance(found[begin], dict):
            fitting.append(Put((*place, draw(st.sampled_from(("role", "cost")))), draw(parts)))
    return draw(st.sampled_from(fitting))


@given(expressions, sessions, st.data())
def test_following_is_evaluating_at_each_step(text: str, state: Any, data: st.DataObject):
    expression = JmesPath.parse(text)
    following, live = expression.following(), LiveState(state)
    before = None

    for number in range(data.draw(st.integers(1, 6))):
        changes = data.draw(steps_of(state)) if number else []
        state = fold(state, changes)
        live.apply(changes)
        value = encoded(following.value(live.value, changes))

        assert value == encoded(expression.value(live.value))
        assert following.is_changed or value == before
        before = value


KEPT = (
    *("sum(L[*].cost)", "avg(L[].cost)", "max(L[*].cost)", "L[*].cost | min(@)"),
    *("contains(L[].cost, `1`)", "contains(L[*].role, 'tool')", "sum(L[].tags[]) > 3"),
    *("L[?role == 'tool'].tags[]", "L[].tags[?@ == `2`][]", "(L[*].cost)[-1]"),
    *("length(L[?cost > 1])", "L[*].tags[] | [0]", "L[].role", "L[*] | [-1].cost"),
    *("[L[?role == 'user'].cost, sum(L[].cost)]", "L[?!tags] && L[].cost"),
)


class _Editing:
    """Lists of items that move, go and come back, by chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - hypothesis chooses the seed
        self.state: Any = self._around(self._items(6))

    def step(self) -> list[Change]:
        """Change the state, in several ways at once."""
        changes: list[Change] = []
        for _ in range(self.chance.randint(1, 3)):
            change = self._change()
            self.state = fold(self.state, [change])
            changes.append(change)
        return changes

    def _around(self, found: list[Any]) -> Any:
        return {"messages": found, "lists": [found, [{"cost": 7}]], "values": {"messages": found}}

    def _items(self, most: int) -> list[Any]:
        return [self._item() for _ in range(self.chance.randint(0, most))]

    def _item(self) -> Any:
        chance = self.chance
        item = {
            "role": chance.choice(("user", "tool")),
            "cost": chance.choice((0, 1, 1, 2, 3, 1.0, True)),
            "tags": chance.choices((1, 2, "x", None), k=chance.randint(0, 3)),
        }
        return {key: value for key, value in item.items() if chance.random() < 0.8}

    def _change(self) -> Change:
        chance, lists = self.chance, self.state["lists"]
        paths: list[Path] = [("messages",), ("values", "messages"), ("lists", 0)]
        path = chance.choice(paths)
        found = value_at(self.state, path)
        begin = chance.randint(0, len(found))
        end = min(begin + chance.randint(0, 2), len(found))
        new = tuple(self._items(2))
        anew = copy.deepcopy([*found[:begin], *new, *found[end:]])
        fitting: list[Change] = [
            Append(path, self._item()),
            Splice(path, begin, end - begin, new),
            Put(path, anew),
            Put(path, [*anew, self._item()]),
        ]
        if begin < len(found):
            cost = chance.choice((0, 1, True))
            fitting += [Put((*path, begin), self._item()), Drop((*path, begin))]
            fitting += [Put((*path, begin, "cost"), cost)] * 2
            same = copy.deepcopy(found)
            same[begin]["cost"] = cost
            fitting.append(Put(path, same))
        if chance.random() < 0.1:
            fitting = [Snapshot(self._around(anew)), Splice(("lists",), 0, 0, (anew,))]
        elif len(lists) > 2 and chance.random() < 0.2:
            fitting = [Drop(("lists", 0))]
        return chance.choice(fitting)


@given(st.integers(0, 2**32), st.sampled_from(("messages", "values.messages", "lists[0]")))
def test_what_is_kept_item_by_item_is_what_is_there(seed: int, place: str):
    texts = [text.replace("L", place) for text in KEPT]
    asked = [JmesPath.parse(text) for text in texts]
    editing = _Editing(seed)
    live, following = LiveState(editing.state), [each.following() for each in asked]
    before = [encoded(each.value(live.value, [])) for each in following]

    for number in range(12):
        if number == 6:
            # Both would write to what they share, so neither does.
            live, following = LiveState(live.value), [each.copied() for each in following]
        changes = editing.step()
        live.apply(changes)
        values = [encoded(each.value(live.value, changes)) for each in following]

        assert values == [encoded(each.value(editing.state)) for each in asked]
        for each, value, was in zip(following, values, before, strict=True):
            assert each.is_changed or value == was
        before = values


@given(expressions, sessions, st.data())
def test_a_copy_goes_on_as_the_one_it_was_copied_from_would(
    text: str, state: Any, data: st.DataObject
):
    expression = JmesPath.parse(text)
    first, live = expression.following(), LiveState(state)
    first.value(live.value, [])
    for _ in range(data.draw(st.integers(0, 2))):
        changes = data.draw(steps_of(state))
        state = fold(state, changes)
        live.apply(changes)
        first.value(live.value, changes)
    # The state of both is written to by neither.
    ways = [(first, LiveState(live.value), state), (first.copied(), LiveState(live.value), state)]

    for _ in range(data.draw(st.integers(1, 3))):
        for place, (following, way, was) in enumerate(ways):
            changes = data.draw(steps_of(was))
            way.apply(changes)
            value = following.value(way.value, changes)

            assert encoded(value) == encoded(expression.value(way.value))
            ways[place] = (following, way, fold(was, changes))


@given(expressions, sessions)
def test_a_value_is_what_jmespath_gives_where_it_gives_one(text: str, state: Any):
    try:
        given_by_jmespath = jmespath.search(text, state)
    except (JMESPathError, TypeError):
        # Such as a text that is compared with a number; ours is null at that place.
        JmesPath.parse(text).value(state)
    else:
        assert encoded(JmesPath.parse(text).value(state)) == encoded(given_by_jmespath)


@given(expressions, json_values)
def test_nothing_that_a_state_holds_makes_an_evaluation_fail(text: str, state: Any):
    expression = JmesPath.parse(text)

    assert encoded(expression.following().value(state, [])) == encoded(expression.value(state))


@given(st.one_of(any_text, st.text("ab.[]()?*&|!=<>'\"`1-{}:,@ \\", max_size=12)))
def test_any_text_is_an_expression_or_refused_in_words(text: str):
    try:
        expression = JmesPath.parse(text)
    except ValueError as error:
        told = (type(error), bool(str(error)))
    else:
        told = (ValueError, True)
        expression.value({"a": [1], "b": {"a": "x"}})

    assert told == (ValueError, True)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cost > 1", "cost > `1`"),
        ("cost>-1.5", "cost>`-1.5`"),
        ("1e3 <= cost", "`1e3` <= cost"),
        ("a[0] == 0", "a[0] == `0`"),
        ("a[?b != 2].c[1:2]", "a[?b != `2`].c[1:2]"),
        ("length(a) >= 10 && b", "length(a) >= `10` && b"),
        ("a1 > 1", "a1 > `1`"),
        ("a == '> 1'", "a == '> 1'"),
        ("a == `1`", "a == `1`"),
        ('"x > 1" == 2', '"x > 1" == `2`'),
        ("a == `user`", "a == 'user'"),
        (r"a == `it\`s`", "a == 'it`s'"),
    ],
)
def test_a_number_in_a_comparison_needs_no_backticks(typed: str, meant: str):
    states = [{"a": each, "cost": each, "b": each} for each in (1, 2, 1.5, "> 1", "user", "it`s")]
    lists = [{"a": [0, 1]}, {"a": [{"b": 1, "c": [1, 2]}, {"b": 2}]}, {"a": [1] * 10, "b": 1}]
    cases = [*states, *lists, {"a1": 2}, {"x > 1": 2}, {"cost": -1}, {"cost": 1000}]

    assert [*map(JmesPath.parse(typed).value, cases)] == [*map(JmesPath.parse(meant).value, cases)]


FUNCTIONS = (
    "abs, avg, ceil, contains, ends_with, floor, join, keys, length, map, max, max_by, merge, "
    "min, min_by, not_null, reverse, sort, sort_by, starts_with, sum, to_array, to_number, "
    "to_string, type, values"
)
TOO_DEEP = f"an expression may be nested {DEEPEST} levels deep, and this one is deeper"
REFERENCE = "'&' belongs into an argument of map(), max_by(), min_by(), sort_by()"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an expression is missing (column 1)"),
        (" ", "an expression is missing (column 1)"),
        ("a.", "the expression ends too soon (column 3)"),
        ("cost > 1 && (", "the expression ends too soon (column 14)"),
        ("cost > 1 && )", "')' does not belong here (column 13)"),
        ("a = b", "'=' is no operator of JMESPath, which compares with '==' (column 3)"),
        ("a ? b", "'?' means nothing here (column 3)"),
        ("a > 007", "'7' does not belong here (column 5)"),
        ("1 < a && b == 'x", "the quote ' is never closed (column 15)"),
        ('"\\x"', 'what stands in " is no JSON (column 1)'),
        ("1 < a && foo(b)", f"there is no function foo(); there are: {FUNCTIONS} (column 10)"),
        ("a || length(b, c)", "length() takes 1 argument, not 2 (column 6)"),
        ("a[?length(b)].c | sort()", "sort() takes 1 argument, not 0 (column 19)"),
        ("not_null()", "not_null() takes 1 argument or more, not 0 (column 1)"),
        ("sort_by(a, b)", "sort_by() takes '&' and an expression as argument 2 (column 1)"),
        ("a | length(&b)", f"{REFERENCE} (column 12)"),
        ("&a", f"{REFERENCE} (column 1)"),
        ("a[1:] | b[::0]", "a slice cannot go by steps of 0 (column 10)"),
        ("(" * 3000 + "a" + ")" * 900, TOO_DEEP),
        ("!" * 3000 + "a", TOO_DEEP),
        ("||".join("a" * 300), TOO_DEEP),
        ("a" * 5000, f"an expression has at most {LONGEST:,} characters, this one 5,000"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_wrong_with_a_text_is_said_with_its_column(text: str, complaint: str):
    with pytest.raises(ValueError, match=f"{re.escape(complaint)}$"):
        JmesPath.parse(text)


def test_columns_are_counted_from_where_the_expression_begins():
    with pytest.raises(ValueError, match=r"column 15") as raised:
        JmesPath.parse("a > 1 = b", 9)

    assert "'='" in str(raised.value)


def test_what_cannot_be_evaluated_is_null_at_its_place():
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    other: Any = []
    for _ in range(100_000):
        other = [other]
    state = {"deep": deep, "other": other, "n": 1, "x": "x", "l": [{"t": [1, 2]}, {}, {"t": []}]}

    def value(text: str) -> Any:
        return JmesPath.parse(text).value(state)

    assert value("[deep == other, to_string(deep), n]") == [None, None, 1]
    assert value("[length(missing), abs(x), ceil(to_number('inf')), x < n]") == [None] * 4
    assert value("[sum(l), max([`1`, `true`]), n[0], x[0], sort_by(l, &t)]") == [None] * 5
    assert value("[`true` < `2`, `true` == `1`, n == `1.0`]") == [None, False, True]
    assert value("l[?length(t) > 1].t") == [[1, 2]]
    assert value("l[99999999999999999999999999:-99999999999999999999999999]") == []


M: Path = ("messages",)


@pytest.mark.parametrize(
    ("text", "path", "reads"),
    [
        ("@", (), ((),)),
        ("*", None, ((),)),
        ("keys(@)", None, ((),)),
        ("`1`", None, ()),
        ("model", ("model",), (("model",),)),
        ("usage.cost", ("usage", "cost"), (("usage", "cost"),)),
        ("messages[3].content", (*M, 3, "content"), ((*M, 3, "content"),)),
        ('@.values | "a b"', ("values", "a b"), (("values", "a b"),)),
        ("messages[-1].role", None, (M,)),
        ("messages[1:3].role", None, (M,)),
        ("messages[?role == model].content[]", None, (M,)),
        ("length(messages[*].x) > n", None, (M, ("n",))),
        ("a || b.c || b", None, (("a",), ("b",))),
        ("usage.[input, output]", None, (("usage", "input"), ("usage", "output"))),
        ("a.{one: `1`}", None, (("a",),)),
        ("map(&role, values.messages)", None, (("values", "messages"),)),
        ("values.*.x", None, (("values",),)),
    ],
)
def test_the_places_that_an_expression_looks_at_are_known(
    text: str, path: Path | None, reads: tuple[Path, ...]
):
    expression = JmesPath.parse(text)

    assert (expression.path, expression.reads) == (path, reads)


@given(st.sampled_from(("a", "a.x", "messages[0]", "messages[1].role", "@")), sessions)
def test_the_path_of_a_place_leads_to_the_value(text: str, state: Any):
    expression = JmesPath.parse(text)

    try:
        found = value_at(state, expression.path or ())
    except KeyError:
        found = None

    assert encoded(expression.value(state)) == encoded(found)


FOLLOWED = (
    "messages[?role == 'user'].content",
    "length(messages[?cost > 1])",
    "(messages[*].cost)[-1]",
    "messages[*].cost | [0]",
    "sum(messages[].cost) > 10",
    "messages[*].cost | max(@) == 3",
    "contains(messages[].role, 'tool')",
    "!(messages[?role == 'system'])",
    "messages[?role] && messages[*].tags[]",
)


@pytest.mark.parametrize("text", FOLLOWED)
def test_a_message_is_evaluated_once_however_long_the_walk(
    text: str, monkeypatch: pytest.MonkeyPatch
):
    evaluated, count = columns.evaluated, 0

    def counting(node: Any, value: Any) -> Any:
        nonlocal count
        count += 1
        return evaluated(node, value)

    monkeypatch.setattr(columns, "evaluated", counting)
    following, live = JmesPath.parse(text).following(), LiveState({"messages": []})
    following.value(live.value, [])
    for number in range(300):
        message = {"role": "user", "content": number, "cost": number % 4, "tags": ["x"]}
        changes: list[Change] = [Append(M, message), Put(("usage",), number)]
        if number % 50 == 49:
            changes += (Put((*M, 7, "cost"), 9), Drop((*M, 3)), Splice(M, 5, 1, ({"cost": 2},)))
        live.apply(changes)
        following.value(live.value, changes)

    assert 0 < count <= 2 * (300 + 3 * 6)


def test_a_list_that_is_put_anew_is_evaluated_where_it_differs(monkeypatch: pytest.MonkeyPatch):
    seen: list[Any] = []
    evaluated = columns.evaluated
    monkeypatch.setattr(
        columns, "evaluated", lambda node, value: seen.append(value) or evaluated(node, value)
    )
    following = JmesPath.parse("values.messages[*].n").following()
    old = [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}]
    new = [{"n": 0}, {"n": True}, {"n": 5}, {"n": 3}]
    following.value({"values": {"messages": old}}, [])
    seen.clear()

    value = following.value({"values": {"messages": new}}, [Put(("values", "messages"), new)])

    assert (value, seen) == ([0, True, 5, 3], [{"n": True}, {"n": 5}])


def test_what_a_step_does_not_touch_is_not_changed():
    following = JmesPath.parse("messages[?role == 'user'].content").following()
    state: Any = {"messages": [{"role": "user", "content": "a"}], "model": "m"}
    steps: list[Change] = [
        Put(("model",), "n"),
        Append(M, {"role": "tool"}),
        Append(M, {"role": "user", "content": "b"}),
        Put((*M, 1, "role"), "tool"),
        Drop((*M, 1)),
        Snapshot({"messages": [{"role": "user", "content": "a"}]}),
    ]
    following.value(state, [])

    told: list[tuple[Any, bool]] = []
    for change in steps:
        state = fold(state, [change])
        told.append(([*following.value(state, [change])], following.is_changed))

    assert told == [
        (["a"], False),
        (["a"], False),
        (["a", "b"], True),
        (["a", "b"], False),
        (["a", "b"], False),
        (["a"], True),
    ]
