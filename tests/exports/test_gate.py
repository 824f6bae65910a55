"""The gate lets nothing pass but through itself, and refuses where anything goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from exported import pages
from hostile_files import MADE, SAMPLES, STORED

from tt_debugger.core.redact.redactor import Redactor
from tt_debugger.core.text import acting
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.exports.forms import FORMS, page_of
from tt_debugger.exports.gate import Gate, Passed
from tt_debugger.exports.subjects import Origin, StateAt, Transcript, TwoStates


def test_only_the_gate_lets_a_subject_pass(origin: Origin):
    with pytest.raises(TypeError):
        Passed(StateAt(origin, {}), {}, object())


class Refusing(Redactor):
    """A redactor that fails, at the one place or at the other."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self._at = at

    def value(self, value: Any, place: str = "") -> Any:
        if self._at == "value":
            raise ValueError("the secret is swordfish")
        return super().value(value, place)

    def finished(self, text: str, place: str = "") -> str:
        if self._at == "finished":
            raise RecursionError
        return super().finished(text, place)


@pytest.mark.parametrize("at", ["value", "finished"])
@pytest.mark.parametrize("form", [form for form in FORMS.values() if not form.needs_two])
def test_an_export_is_refused_where_redaction_fails(origin: Origin, form: Any, at: str):
    with pytest.raises(CannotWriteError) as error:
        page_of(StateAt(origin, {"a": "b"}), form, Gate(Refusing(at)))

    assert "swordfish" not in f"{error.value.message}{error.value.hint}"
    assert error.value.hint == "nothing was written"


def test_a_value_of_a_type_that_the_gate_does_not_know_is_refused():
    class Odd(msgspec.Struct):
        what: Any

    with pytest.raises(TypeError):
        Gate(Redactor()).passed(Odd({1, 2}))


def test_a_page_with_a_character_that_acts_is_refused():
    with pytest.raises(CannotWriteError, match=r"U\+001B"):
        Gate(Redactor()).page("a\x1b[2Jb")


def test_what_passed_without_a_redactor_says_so_on_every_page(origin: Origin):
    subject = StateAt(origin, {"a": "b"})

    for name in ("markdown", "html", "svg"):
        text = page_of(subject, FORMS[name], Gate(None)).text
        assert "Not" in text
        assert "redacted" in text
    assert '"redacted": null' in page_of(subject, FORMS["json"], Gate(None)).text


@pytest.mark.parametrize("form", [form for form in FORMS.values() if form.needs_two])
def test_a_form_of_two_points_is_refused_for_one(origin: Origin, form: Any):
    with pytest.raises(UsageError):
        page_of(Transcript(origin, ()), form, Gate(None))


def test_every_field_of_a_subject_passes_the_redactor(origin: Origin):
    class Shouting(Redactor):
        def value(self, value: Any, place: str = "") -> Any:
            if isinstance(value, dict):
                return {key: self.value(each) for key, each in value.items()}
            return value.upper() if isinstance(value, str) else value

    state = {"said": "hello"}
    passed = Gate(Shouting()).passed(TwoStates(origin, origin, state, state, "abc", "they part"))

    told = repr(passed.subject)
    values = ("hello", "abc", "they part", "a title", "s.jsonl", "/work", "hi")
    assert [each for each in values if each in told.lower()] == list(values)
    assert [each for each in values if each in told] == []


@pytest.mark.parametrize(
    "sample", ["pi.jsonl", "tau.jsonl", "agent-state.jsonl", "requests.jsonl"]
)
def test_samples_of_every_format_are_exported_in_every_form(sample: str):
    found = pages(SAMPLES / sample, 5, 11)

    assert all(page.text.strip() and not acting(page.text) for page in found.values())


@pytest.mark.parametrize("name", [name for name in MADE if name.startswith("E0")])
def test_no_character_that_acts_is_in_any_export_of_a_file_that_attacks(name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(MADE[name]())

    for exported, page in pages(path, 1, 3).items():
        assert acting(page.text) == set(), exported


@pytest.mark.parametrize("name", ["H01_osc52", "H05_c1", "H14_bidi_trojan", "H15_zero_width_tags"])
def test_no_character_that_acts_is_in_any_export_of_a_hostile_file(name: str):
    for exported, page in pages(STORED / f"{name}.jsonl", 0, 0).items():
        assert acting(page.text) == set(), exported
