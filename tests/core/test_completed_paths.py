"""Completed paths: what a path that is being typed may become."""

from __future__ import annotations

import pytest
from hypothesis import given
from strategies import json_values

from tt_debugger.core.completed_paths import completed_paths
from tt_debugger.core.expressions import JmesPath
from tt_debugger.core.paths import jmespath_of, value_at

STATE = {
    "model": "large",
    "messages": [{"role": "user"}, {"role": "tool"}],
    "files": {"src/io.py": "x", "a b": {"c": 1}},
}


def offered(typed: str) -> list[str]:
    return [text for text, _ in completed_paths(STATE, typed)]


@pytest.mark.parametrize(
    ("typed", "texts"),
    [
        ("", ["model", "messages", "files"]),
        ("m", ["model", "messages"]),
        ("M", ["model", "messages"]),
        ("messages", ["messages", "messages[1]", "messages[0]"]),
        ("messages[", ["messages[1]", "messages[0]"]),
        ("messages[1].", ["messages[1].role"]),
        ("messages[1].ro", ["messages[1].role"]),
        ("files.", ['files."src/io.py"', 'files."a b"']),
        ('files."a b".', ['files."a b".c']),
        ("/", ["/model", "/messages", "/files"]),
        ("/mo", ["/model"]),
        ("/files/src~1", ["/files/src~1io.py"]),
        ("/messages/1", ["/messages/1", "/messages/1/role"]),
        ("nothing", []),
        ("length(messages)", []),
        ("model.x", []),
    ],
)
def test_what_is_typed_becomes_what_there_is(typed, texts):
    assert offered(typed) == texts


def test_the_paths_lead_to_what_they_name():
    assert dict(completed_paths(STATE, "files.")) == {
        'files."src/io.py"': ("files", "src/io.py"),
        'files."a b"': ("files", "a b"),
    }


@given(json_values)
def test_each_path_that_is_offered_is_read_as_that_path(state):
    for text, path in completed_paths(state, ""):
        assert JmesPath.parse(text).path == path
        assert jmespath_of(path) == text
        value_at(state, path)
