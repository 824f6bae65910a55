from __future__ import annotations

import datetime as dt
import decimal
import enum
import subprocess
import sys
import uuid
from collections import Counter, OrderedDict
from dataclasses import InitVar, dataclass, field
from typing import Any, TypedDict

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values, states

from tt_debugger.core.between import is_same
from tt_debugger.errors import UsageError
from tt_debugger.record.json_form import MOST_NESTED, json_of
from tt_debugger.record.models import model_of, update_json


class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"


class Name(str):
    __slots__ = ()


@dataclass
class Message:
    id: str
    text: str = ""


class OfStruct(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True, tag="agent"):
    user_goal: str
    all_messages: list[Message] = []
    mood: Mood = Mood.GOOD
    due: dt.datetime | None = None
    tags: set[str] = set()
    pair: tuple[int, float] = (1, 2.0)
    never: int | msgspec.UnsetType = msgspec.UNSET


@dataclass
class OfDataclass:
    goal: str
    messages: list[Message] = field(default_factory=list)
    mood: Mood = Mood.GOOD
    by_mood: dict[Mood, int] = field(default_factory=dict)
    data: bytes = b""
    price: decimal.Decimal = decimal.Decimal(0)
    _own: int = 3
    made: int = field(init=False, default=4)


class Inner(pydantic.BaseModel):
    x: int = 0


class OfPydantic(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    goal: str
    inner: Inner = Inner()
    mood: Mood = Mood.GOOD
    due: dt.datetime | None = None
    tags: set[int] = pydantic.Field(default=set(), alias="Tags")
    data: bytes = b""

    @pydantic.computed_field
    @property
    def shouted(self) -> str:
        return self.goal.upper()


class OfTypedDict(TypedDict):
    goal: str


times = st.datetimes(timezones=st.just(dt.UTC))
messages = st.lists(st.builds(Message, st.text(), st.text()), max_size=3)
typed_states = st.one_of(
    st.builds(
        OfStruct,
        user_goal=st.text(),
        all_messages=messages,
        mood=st.sampled_from(Mood),
        due=st.none() | times,
        tags=st.sets(st.text(max_size=3), max_size=3),
        pair=st.tuples(st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
        never=st.just(msgspec.UNSET) | st.integers(),
    ),
    st.builds(
        OfDataclass,
        st.text(),
        messages,
        st.sampled_from(Mood),
        st.dictionaries(st.sampled_from(Mood), st.integers()),
        st.binary(),
        st.decimals(allow_nan=False, allow_infinity=False),
        st.integers(),
    ),
    st.builds(
        OfPydantic,
        goal=st.text(),
        inner=st.builds(Inner, x=st.integers()),
        mood=st.sampled_from(Mood),
        due=st.none() | times,
        Tags=st.sets(st.integers(), max_size=3),
        data=st.text().map(str.encode),
    ),
)


def parts(value: Any) -> set[int]:
    """Give the identity of each container of a value."""
    if isinstance(value, dict):
        return {id(value)}.union(*map(parts, value.values()))
    return {id(value)}.union(*map(parts, value)) if isinstance(value, list) else set()


@given(typed_states)
def test_a_state_comes_back_as_it_was(state):
    model = model_of(state)
    form = model.to_json(state)
    again = model.from_json(form)
    assert again == state
    assert is_same(model.to_json(again), form)


@given(typed_states)
def test_what_a_state_becomes_is_json(state):
    form = model_of(state).to_json(state)
    assert is_same(msgspec.json.decode(msgspec.json.encode(form)), form)


@given(states)
def test_a_dict_comes_back_as_it_was_and_shares_nothing(state):
    model = model_of(state)
    form = model.to_json(state)
    again = model.from_json(form)
    assert is_same(form, state)
    assert is_same(again, state)
    assert len(parts(state) | parts(form) | parts(again)) == 3 * len(parts(state))


@given(json_values)
def test_json_that_cannot_be_copied_as_a_whole_is_the_same_part_by_part(value):
    assert is_same(json_of((value, value)), [value, value])


def test_a_struct_is_recorded_with_all_its_fields_under_their_keys():
    state = OfStruct(user_goal="ship", all_messages=[Message("1", "hi")], tags={"b", "a"})
    assert model_of(state).to_json(state) == {
        "type": "agent",
        "userGoal": "ship",
        "allMessages": [{"id": "1", "text": "hi"}],
        "mood": "good",
        "due": None,
        "tags": ["a", "b"],
        "pair": [1, 2.0],
    }


def test_the_same_set_is_recorded_in_the_same_order_wherever_it_stands():
    class Deep(pydantic.BaseModel):
        by_key: dict[str, tuple[OfPydantic, frozenset[int]]]
        message: Any = None

    def deep(numbers: list[int]) -> Deep:
        # In a table of 8 places 1 and 9 meet, and stand in the order in which they came.
        inner = OfPydantic(goal="", Tags=set(numbers))
        return Deep(by_key={"k": (inner, frozenset(numbers))}, message=Message("1", set(numbers)))  # pyright: ignore[reportArgumentType]

    one, other = deep([1, 9]), deep([9, 1])
    assert list(one.message.text) != list(other.message.text)
    form = model_of(Deep).to_json(one)
    assert is_same(model_of(Deep).to_json(other), form)
    assert form["by_key"]["k"][0]["Tags"] == form["by_key"]["k"][1] == [1, 9]


def test_what_is_computed_is_not_recorded():
    state = OfPydantic(goal="ship", data=b"x")
    assert model_of(state).to_json(state) == {
        "goal": "ship",
        "inner": {"x": 0},
        "mood": "good",
        "due": None,
        "Tags": [],
        "data": "x",
    }


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (("a", 1), ["a", 1]),
        ({2, 1}, [1, 2]),
        (Mood.BAD, "bad"),
        ({Mood.BAD: 1}, {"bad": 1}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(b=(1,), a=2), {"b": [1], "a": 2}),
        (Name("a"), "a"),
        ({Name("a"): True}, {"a": True}),
        (b"x", "eA=="),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.timedelta(seconds=90), "PT90S"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ([Message("1"), Inner(x=2)], [{"id": "1", "text": ""}, {"x": 2}]),
        (2**63, 2**63),
        (-(2**200), -(2**200)),
        ([-0.0, 5e-324, 1e16, True, 1], [-0.0, 5e-324, 1e16, True, 1]),
    ],
)
def test_what_is_no_json_takes_the_form_that_its_type_reads_back(value, form):
    assert is_same(json_of(value), form)
    assert is_same(json_of({"a": value}), {"a": form})


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "a[1].b is nan, which cannot be recorded"),
        (float("-inf"), "a[1].b is -inf, which cannot be recorded"),
        ("\ud800", "a[1].b holds half a character (a lone surrogate), which cannot be recorded"),
        (
            {"\udfff": 1},
            "a[1].b.'\\udfff' holds half a character (a lone surrogate), which cannot be recorded",
        ),
        ({1: 2}, "a[1].b has the key 1, which cannot be recorded"),
        ({None: 2}, "a[1].b has the key None, which cannot be recorded"),
        ({"x": {(1, 2): 2}}, "a[1].b.x has the key (1, 2), which cannot be recorded"),
        (
            {Mood.BAD: 1, "bad": 2},
            "a[1].b has two keys that are 'bad' in JSON, which cannot be recorded",
        ),
        pytest.param(
            10**5000,
            "a[1].b is a number of too many digits, which cannot be recorded",
            id="digits",
        ),
        (object(), "a[1].b is of type object, which cannot be recorded"),
        ([Mood], "a[1].b[0] is of type EnumType, which cannot be recorded"),
        (
            [Message("1", [{"x": object()}])],  # pyright: ignore[reportArgumentType]
            "a[1].b[0].text[0].x is of type object, which cannot be recorded",
        ),
        (
            cyclic(),
            "a[1].b holds more than 200 levels of objects and lists, which cannot be recorded",
        ),
        (
            nested(MOST_NESTED),
            "a[1].b holds more than 200 levels of objects and lists, which cannot be recorded",
        ),
    ],
)
def test_what_has_no_form_in_json_is_refused_by_the_name_of_its_place(value, message):
    with pytest.raises(UsageError) as caught:
        model_of(dict).to_json({"a": [0, {"b": value}]})
    assert caught.value.message == message
    assert caught.value.hint is not None


def test_a_state_may_be_as_deep_as_it_is_said():
    deepest = nested(MOST_NESTED)
    assert json_of(deepest) == deepest
    assert json_of((deepest[0],)) == deepest
    with pytest.raises(UsageError, match="more than 200 levels"):
        json_of([deepest])


def test_many_brackets_in_a_text_are_not_deep():
    assert json_of({"a": "[" * 1000}) == {"a": "[" * 1000}


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (
            OfStruct,
            {"type": "agent", "userGoal": 1},
            (
                "the recorded state does not fit OfStruct: Expected `str`, got `int`"
                " - at `$.userGoal`"
            ),
        ),
        (
            OfDataclass,
            {"goal": "", "messages": [{"id": "1"}, {}]},
            (
                "the recorded state does not fit OfDataclass: Object missing required field `id`"
                " - at `$.messages[1]`"
            ),
        ),
        (
            OfPydantic,
            {"goal": "", "inner": {"x": "many"}},
            (
                "the recorded state does not fit OfPydantic: inner.x: Input should be a valid"
                " integer, unable to parse string as an integer"
            ),
        ),
        (
            OfPydantic,
            {},
            "the recorded state does not fit OfPydantic: goal: Field required",
        ),
        (dict, [1], "a state is an object with fields, and this is of type list"),
        (OfDataclass, None, "a state is an object with fields, and this is of type NoneType"),
    ],
)
def test_what_does_not_fit_the_type_is_refused_by_the_name_of_the_field(kind, value, message):
    with pytest.raises(UsageError) as caught:
        model_of(kind).from_json(value)
    assert caught.value.message == message


def test_what_is_missing_gets_the_default_of_the_type():
    assert model_of(OfDataclass).from_json({"goal": "ship"}) == OfDataclass("ship")
    assert model_of(OfPydantic).from_json({"goal": "ship"}) == OfPydantic(goal="ship")
    assert model_of(OfStruct).from_json({"type": "agent", "userGoal": "ship"}) == OfStruct(
        user_goal="ship"
    )


def test_the_defaults_of_a_type_are_those_of_the_fields_that_need_not_be_given():
    assert model_of(OfStruct).defaults() == {
        "allMessages": [],
        "mood": "good",
        "due": None,
        "tags": [],
        "pair": [1, 2.0],
    }
    assert model_of(OfDataclass).defaults() == {
        "messages": [],
        "mood": "good",
        "by_mood": {},
        "data": "",
        "price": "0",
        "_own": 3,
        "made": 4,
    }
    assert model_of(OfPydantic).defaults() == {
        "inner": {"x": 0},
        "mood": "good",
        "due": None,
        "Tags": [],
        "data": "",
    }


def test_a_dict_has_no_defaults():
    assert [model_of(each).defaults() for each in (None, {}, OfTypedDict)] == [None] * 3


def test_an_update_is_given_by_fields_or_keys_and_becomes_json_by_keys():
    update = {"user_goal": "sail", "allMessages": (Message("2"),)}
    assert update_json(model_of(OfStruct), update) == {
        "userGoal": "sail",
        "allMessages": [{"id": "2", "text": ""}],
    }
    assert update_json(model_of(OfPydantic), {"tags": {1}, "data": b"x", "inner": Inner()}) == {
        "Tags": [1],
        "data": "x",
        "inner": {"x": 0},
    }
    assert update_json(model_of(OfPydantic), {"Tags": {1}}) == {"Tags": [1]}
    assert update_json(model_of(OfTypedDict), {"anything": (1,)}) == {"anything": [1]}


@pytest.mark.parametrize(
    ("kind", "update", "message"),
    [
        (OfDataclass, {"gaol": 1}, "OfDataclass has no field 'gaol'"),
        (OfPydantic, {"shouted": "X"}, "OfPydantic has no field 'shouted'"),
        (OfDataclass, {"goal": [float("nan")]}, "goal[0] is nan, which cannot be recorded"),
        (
            OfPydantic,
            {"goal": object()},
            (
                "OfPydantic cannot be written as JSON: Unable to serialize unknown type:"
                " <class 'object'>"
            ),
        ),
    ],
)
def test_a_wrong_update_is_refused(kind, update, message):
    with pytest.raises(UsageError) as caught:
        update_json(model_of(kind), update)
    assert caught.value.message == message


def test_an_attribute_that_was_never_set_is_left_out():
    @dataclass
    class State:
        n: int = field(init=False)

    assert model_of(State).to_json(State()) == {}


def test_a_state_of_another_type_is_refused():
    with pytest.raises(UsageError, match="the state is of type dict, not OfDataclass"):
        model_of(OfDataclass).to_json({"goal": ""})


def test_a_wrong_type_in_a_pydantic_state_is_refused():
    state = OfPydantic(goal="ship")
    state.goal = 3  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(UsageError, match="OfPydantic cannot be written as JSON"):
        model_of(state).to_json(state)


@dataclass
class Prepared:
    a: int
    start: InitVar[int]


class TwoNames(pydantic.BaseModel):
    a: int = pydantic.Field(0, validation_alias="in", serialization_alias="out")


class Missing(msgspec.Struct):
    a: NowhereToBeFound  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


class Listed(msgspec.Struct, array_like=True):
    a: int = 0


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (int, "int is no type of states"),
        (
            Prepared,
            (
                "states of type Prepared could not be read back:"
                " dataclasses with `InitVar` fields are not supported"
            ),
        ),
        (
            Missing,
            (
                "states of type Missing could not be read back:"
                " name 'NowhereToBeFound' is not defined"
            ),
        ),
        (TwoNames, "the field 'a' of TwoNames is written as 'out' and read as 'in'"),
    ],
)
def test_a_type_that_could_not_be_read_back_is_refused_at_once(kind, message):
    with pytest.raises(UsageError) as caught:
        model_of(kind)
    assert caught.value.message == message


def test_a_state_that_is_no_object_in_json_is_refused():
    with pytest.raises(UsageError, match="a state is an object with fields"):
        model_of(Listed).to_json(Listed())
    assert json_of({"a": (Listed(3),)}) == {"a": [[3]]}


def test_pydantic_is_not_imported_for_others():
    program = (
        "import sys; from tt_debugger.record.recorder import Recorder\n"
        "with Recorder.open('memory:', state={'a': 1}) as recorder:\n"
        "    recorder.record({'messages': [{'id': 1}]}, 'step')\n"
        "print('pydantic' in sys.modules, recorder.state)"
    )
    answer = subprocess.run(  # noqa: S603 - our own Python
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "False {'a': 1, 'messages': [{'id': 1}]}\n"
