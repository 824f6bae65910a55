"""Paths: addresses in a state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, containers, json_values

from tt_debugger.core.paths import (
    Path,
    dotted,
    foreign_path,
    jmespath_of,
    parse_pointer,
    pointer,
    value_at,
)

text_keys = any_text.filter(lambda key: not (key.isascii() and key.isdecimal()))
paths = st.lists(st.one_of(text_keys, st.integers(0, 10**6))).map(tuple)


@given(paths)
def test_a_pointer_leads_back_to_its_path(path: Path):
    assert parse_pointer(pointer(path)) == path


@given(st.lists(any_text).map(lambda parts: "".join(f"/{part}" for part in parts)))
def test_the_pointer_of_a_pointers_path_leads_to_the_same_path(text: str):
    path = parse_pointer(text)

    assert parse_pointer(pointer(path)) == path


@given(json_values)
def test_each_container_is_found_at_the_pointer_of_its_path(state: object):
    for path, container in containers(state):
        assert value_at(state, parse_pointer(pointer(path))) is container


@pytest.mark.parametrize(
    ("path", "text", "read_as"),
    [
        ((), "", ""),
        (("messages", 9, "content"), "/messages/9/content", "messages[9].content"),
        (("a/b", "m~n"), "/a~1b/m~0n", "a/b.m~n"),
        (("", 0), "//0", "[0]"),
        (("007",), "/007", "007"),
    ],
)
def test_a_path_is_written_as_a_pointer_and_for_people(path: Path, text: str, read_as: str):
    assert (pointer(path), parse_pointer(text), dotted(path)) == (text, path, read_as)


def test_an_escaped_slash_is_unescaped_once():
    assert parse_pointer("/~01") == ("~1",)


def test_a_pointer_without_a_slash_is_refused():
    with pytest.raises(ValueError, match="begins with '/'"):
        parse_pointer("messages")


def test_a_number_finds_a_key_of_an_object_that_looks_like_one():
    assert value_at({"7": {"a": [10, 20]}}, (7, "a", 1)) == 20


@pytest.mark.parametrize(
    ("path", "missing"),
    [
        (("b",), "/b"),
        (("a", 2), "/a/2"),
        (("a", "x", "y"), "/a/x"),
        (("a", 0, 0), "/a/0/0"),
        (("t", 0), "/t/0"),
        (("n", "x"), "/n/x"),
    ],
)
def test_a_place_that_is_not_there_is_a_key_error_that_names_it(path: Path, missing: str):
    with pytest.raises(KeyError, match=missing):
        value_at({"a": [1, 2], "t": "text", "n": None}, path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("$.plan[1].status", ("plan", 1, "status")),
        ("$", ()),
        (".plan[1]", ("plan", 1)),
        ("plan.1.status", ("plan", 1, "status")),
        ("plan/1/status", ("plan", 1, "status")),
        ("#/plan/1", ("plan", 1)),
        ("$/plan/1", ("plan", 1)),
        ("files/a-b.md", ("files", "a-b.md")),
        ("$['a b'][\"c\"].d", ("a b", "c", "d")),
        ('files."a/b.md"[0]', ("files", "a/b.md", 0)),
        ("messages[-1].role", ("messages", -1, "role")),
        ("a-b", ("a-b",)),
        ("cost>0.1", None),
        ("messages[?x]", None),
        ("length(messages)", None),
        ("a..b", None),
        ("a b", None),
        ("plan[1", None),
        ("plan[*]", None),
    ],
)
def test_a_path_in_another_language_is_read_where_it_is_one(text: str, path: Path | None):
    assert foreign_path(text) == path


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True)


@given(st.lists(st.one_of(names, st.integers(0, 99)), min_size=1).map(tuple))
def test_a_path_of_names_and_indexes_is_read_from_each_form_that_it_may_have(path: Path):
    dots = ".".join(map(str, path))

    assert foreign_path(f"${''.join(f'[{key!r}]' for key in path)}") == path
    assert foreign_path(dots) == path
    assert foreign_path(f"${pointer(path)}") == path
    assert foreign_path(jmespath_of(path)) == path


@given(any_text)
def test_no_text_makes_reading_a_path_in_another_language_fail(text: str):
    path = foreign_path(text)

    assert path is None or isinstance(path, tuple)
