from __future__ import annotations

import operator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NotRequired, TypedDict

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Append, Drop, Put, Snapshot, Splice, fold
from tt_debugger.errors import UsageError
from tt_debugger.record.reducers import (
    DEFAULTS,
    Remembering,
    append,
    changes_for,
    extend,
    reducers_of,
    replace,
    total,
)

UNSET = msgspec.UNSET
PLACE = ("a", 0, "b")
A, B, C = ({"id": each, "text": each} for each in "abc")

with_ids = st.fixed_dictionaries({"id": st.integers(0, 4) | st.sampled_from("ab")})
items = with_ids | json_values | st.fixed_dictionaries({"id": json_values})


def longest(old: str, new: str) -> str:
    return max(old, new, key=len)


def test_append_adds_the_items_whose_id_is_not_there_yet():
    assert append([A, B], [B, C]) == [A, B, C]
    assert append([A], [{"id": "a", "text": "other"}]) == [A]


def test_append_always_adds_items_without_an_id():
    nameless = [{"text": "hi"}, {"id": None}, "hi", {"id": [1]}, {"id": True}]
    assert append([*nameless, A], [*nameless, A]) == [*nameless, A, *nameless]


def test_append_adds_an_id_that_comes_twice_in_one_update_once():
    assert append([], [A, A, B]) == [A, B]


def test_the_ids_of_objects_count_as_well():
    @dataclass
    class Message:
        id: str

    one, same, other = Message("1"), Message("1"), Message("2")
    assert append([one], [same, other]) == [one, other]


def test_a_text_and_a_number_are_two_ids():
    assert append([{"id": 1}], [{"id": "1"}]) == [{"id": 1}, {"id": "1"}]


def test_what_only_equals_an_id_is_none():
    assert append([{"id": True}], [{"id": 1}]) == [{"id": True}, {"id": 1}]


def test_what_is_no_list_is_one_item():
    assert append([A], B) == [A, B]
    assert extend(None, A) == [A]


def test_extend_adds_all_items():
    assert extend([A], [A, B]) == [A, A, B]
    assert extend(UNSET, [A]) == [A]


def test_replace_gives_the_new_value():
    assert replace([A], None) is None


def test_total_adds_numbers():
    assert total(2, 3) == 5
    assert total(UNSET, 3) == 3
    assert total(None, 1.5) == 1.5


def test_total_adds_objects_of_numbers_key_by_key():
    old = {"tokens": 3, "models": {"x": 1}}
    new = {"tokens": 4, "calls": 1, "models": {"y": 2}}
    assert total(old, new) == {"tokens": 7, "calls": 1, "models": {"x": 1, "y": 2}}
    assert total(UNSET, {"calls": 1}) == {"calls": 1}


@pytest.mark.parametrize(
    ("reducer", "old", "new", "message"),
    [
        (append, "text", [A], "a[0].b: items are added to a list, and not to what is of type str"),
        (extend, {}, [A], "a[0].b: items are added to a list, and not to what is of type dict"),
        (
            total,
            1,
            True,
            "a[0].b: numbers are added up, and not what is of type int and what is of type bool",
        ),
        (
            total,
            {"x": 1},
            1,
            "a[0].b: numbers are added up, and not what is of type dict and what is of type int",
        ),
        (
            total,
            {"x": 1},
            {"x": "1"},
            "a[0].b: numbers are added up, and not what is of type int and what is of type str",
        ),
        (
            total,
            1e308,
            1e308,
            "a[0].b is inf, which cannot be recorded",
        ),
        (
            operator.add,
            [],
            None,
            (
                "a[0].b: the reducer add failed: TypeError:"
                ' can only concatenate list (not "NoneType") to list'
            ),
        ),
    ],
)
def test_what_cannot_be_merged_is_refused_by_the_name_of_its_place(reducer, old, new, message):
    with pytest.raises(UsageError) as caught:
        changes_for(reducer, PLACE, old, new)
    assert caught.value.message == message


def test_a_longer_list_is_recorded_as_what_was_added():
    assert changes_for(append, PLACE, [A], [A, B]) == (Append(PLACE, B),)
    assert changes_for(extend, PLACE, [A], [A]) == (Append(PLACE, A),)
    assert changes_for(append, PLACE, [A], [A]) == ()


def test_a_field_that_was_not_there_is_put():
    assert changes_for(append, PLACE, UNSET, [A]) == (Put(PLACE, [A]),)
    assert changes_for(total, PLACE, UNSET, 2) == (Put(PLACE, 2),)
    assert changes_for(replace, PLACE, UNSET, None) == (Put(PLACE, None),)
    assert changes_for(append, (), UNSET, [A]) == (Snapshot([A]),)


def test_of_a_value_that_is_replaced_only_what_differs_is_recorded():
    old, new = {"x": 1, "y": [1, 2, 3], "z": 0}, {"x": 2, "y": [1, 3]}
    assert changes_for(replace, PLACE, old, new) == (
        Drop((*PLACE, "z")),
        Put((*PLACE, "x"), 2),
        Splice((*PLACE, "y"), 1, 1, ()),
    )
    assert changes_for(replace, PLACE, old, "other") == (Put(PLACE, "other"),)
    assert changes_for(replace, PLACE, old, deepcopy(old)) == ()
    assert changes_for(replace, (), old, "other") == (Snapshot("other"),)


def test_counters_are_recorded_key_by_key():
    old = {"tokens": 1, "calls": 1}
    changes = changes_for(total, PLACE, old, {"tokens": 2, "errors": 1, "calls": 0})
    assert changes == (Put((*PLACE, "tokens"), 3), Put((*PLACE, "errors"), 1))


def test_a_function_of_ones_own_may_change_what_it_is_given():
    def grown(old: list[Any], new: list[Any]) -> list[Any]:
        old += new
        new.clear()
        return old

    old, new = [1], [2]
    assert changes_for(grown, PLACE, old, new) == (Append(PLACE, 2),)
    assert (old, new) == ([1], [2])


def test_a_function_is_not_asked_where_there_is_no_old_value():
    assert changes_for(longest, PLACE, UNSET, "new") == (Put(PLACE, "new"),)
    assert changes_for(longest, PLACE, "longer", "new") == ()


def test_what_a_function_gives_must_have_a_form_in_json():
    with pytest.raises(UsageError, match=r"a\[0\]\.b is of type object"):
        changes_for(lambda _old, _new: object(), PLACE, 1, 2)


class OfTypedDict(TypedDict):
    messages: Annotated[list[Any], extend]
    best: NotRequired[Annotated[str, "the best yet", longest]]
    plain: str


@dataclass
class OfDataclass:
    shared: ClassVar[Annotated[list[Any], extend]] = []
    notes: Annotated[list[str] | None, append] = None
    maybe: Annotated[list[str], append] | None = None
    plain: str = ""
    name: Annotated[str, str.upper, str] = ""
    counters: dict[str, int] = field(default_factory=dict)


class OfStruct(msgspec.Struct, rename="camel"):
    tool_uses: Annotated[list[str], msgspec.Meta(max_length=9), extend]
    plain: int = 0


class OfPydantic(pydantic.BaseModel):
    used: Annotated[int, pydantic.Field(ge=0), total] = 0
    seen: Annotated[list[str], append] = pydantic.Field(default=[], alias="Seen")
    plain: str = ""


def test_reducers_are_named_in_the_annotations_of_fields():
    assert reducers_of(OfTypedDict) == {"messages": extend, "best": longest}
    assert reducers_of(OfDataclass) == {"notes": append, "maybe": append, "name": str.upper}
    assert reducers_of(OfStruct) == {"toolUses": extend}
    assert reducers_of(OfPydantic) == {"used": total, "Seen": append}


def test_a_dict_names_no_reducers():
    assert reducers_of(dict) == reducers_of(None) == {}


def test_an_annotation_that_names_what_is_not_there_is_refused():
    @dataclass
    class State:
        plan: NowhereToBeFound  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    with pytest.raises(UsageError, match="'NowhereToBeFound' is not defined"):
        reducers_of(State)


def test_fields_with_the_names_of_old_are_merged_as_they_always_were():
    assert dict(DEFAULTS) == {
        "messages": append,
        "tool_calls": extend,
        "tool_call_history": extend,
        "counters": total,
    }


@given(st.lists(items), st.lists(with_ids))
def test_appending_items_with_ids_again_changes_nothing(old, new):
    once = append(old, new)
    assert append(once, new) == once
    assert changes_for(append, ("f",), once, new) == ()


lists = st.lists(items, max_size=4)
counters = st.dictionaries(st.sampled_from("ab"), st.integers(-9, 9))
absent = st.none() | st.just(UNSET)
merges = st.one_of(
    st.tuples(st.sampled_from((append, extend)), absent | lists, lists),
    st.tuples(st.just(replace), absent | json_values, json_values),
    st.tuples(st.just(total), absent | counters, counters),
)


@given(merges)
def test_the_changes_make_of_the_old_value_what_the_reducer_gives(merge):
    reducer, old, new = merge
    as_given = deepcopy((old, new))
    before = {"g": 1} if old is UNSET else {"f": old, "g": 1}
    after = fold(before, changes_for(reducer, ("f",), old, new))
    assert is_same(after, {**before, "f": reducer(old, new)})
    assert as_given == (old, new)


@given(st.lists(st.tuples(st.sampled_from(("add", "cut", "put")), st.integers(0, 5)), max_size=12))
def test_who_remembers_ids_adds_what_who_looks_each_time_adds(steps):
    remembering, items = Remembering(), []
    for what, number in steps:
        if what == "add":
            wanted = [{"id": number}, {"id": 9 - number}, {}]
            assert remembering.added(items, wanted) == append.added(items, wanted)
            items = [*items, *append.added(items, wanted)]
        elif what == "cut":
            items = items[: number + 1]
        elif items:
            items = [*items]
            items[number % len(items)] = {"id": number + 100}
