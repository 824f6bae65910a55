"""The gate lets nothing pass but through itself, and refuses where anything goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import FILES
from exported import pages
from hostile_files import MADE, SAMPLES, STORED

from tt_debugger.core.redact.redactor import Owner, Redactor
from tt_debugger.core.text import acting
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.exports.exporting import exported, page_of
from tt_debugger.exports.forms import FORMS, What
from tt_debugger.exports.gate import Gate, Passed, Redaction
from tt_debugger.exports.subjects import At, Origin, StateAt, Transcript, TwoStates


def test_only_the_gate_lets_a_subject_pass(origin: Origin):
    with pytest.raises(TypeError):
        Passed(StateAt(origin, {}), Redaction({}), object())


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


def test_who_exports_may_have_the_name_of_a_field(origin: Origin):
    owner = Owner("/home/origin", "origin")

    passed = Gate.redacting(owner).passed(StateAt(origin, {"said": "by origin"}))

    assert "by origin" not in repr(passed.subject)
    assert passed.subject.origin.session_id == "s"


@pytest.mark.parametrize("name", ["markdown", "html", "svg", "unified"])
def test_of_structure_alone_a_page_says_that_it_is(origin: Origin, name: str):
    gate = Gate.redacting(Owner(), structure_only=True)
    said = {"messages": [{"role": "user", "content": "the quick fox"}]}
    subject = TwoStates(origin, origin, {"messages": []}, said, notes=("they part",))

    text = page_of(subject, FORMS[name], gate).text.replace("\N{NO-BREAK SPACE}", " ")

    assert "Structure only: all content is left out" in text.replace("&#160;", " ")
    assert "nothing was found" not in text
    assert "‹text 9 chars›" not in text


@pytest.mark.parametrize("what", [What.TRANSCRIPT, What.STATE, What.DIFF])
def test_what_is_not_of_so_many_points_is_refused(what: What):
    with Debugger.open(str(SAMPLES / "pi.jsonl")) as debugger:
        points = [At(debugger, 0)] * (1 if what is What.DIFF else 2)
        with pytest.raises(UsageError, match="is of"):
            exported(points, what, "markdown", Gate(None))


@pytest.mark.parametrize("form", [form for form in FORMS.values() if form.needs_two])
def test_a_form_of_two_points_is_refused_for_one(origin: Origin, form: Any):
    with pytest.raises(UsageError):
        page_of(Transcript(origin, ()), form, Gate(None))


def test_every_field_of_a_subject_passes_the_redactor(origin: Origin):
    class Shouting(Redactor):
        def value(self, value: Any, place: str = "") -> Any:
            if isinstance(value, dict):
                return {key: self.value(each) for key, each in value.items()}
            if isinstance(value, list):
                return [self.value(each) for each in value]
            return value.upper() if isinstance(value, str) else value

    state = {"said": "hello"}
    subject = TwoStates(origin, origin, state, state, "abc", ("they part",))
    passed = Gate(Shouting()).passed(subject)

    told = repr(passed.subject)
    values = ("hello", "abc", "they part", "a title", "s.jsonl", "/work", "hi")
    assert [each for each in values if each in told.lower()] == list(values)
    assert [each for each in values if each in told] == []


SHOWN = [path for _, path in FILES if path.stat().st_size]


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_fixture_of_every_format_is_exported_in_every_form(path: Path):
    with Debugger.open(str(path)) as debugger:
        rows = len(debugger.session)
    if not rows:
        pytest.skip("nothing to show")
    found = pages(path, rows // 2, rows - 1)

    assert all(page.text.strip() and not acting(page.text) for page in found.values())


@pytest.mark.parametrize("name", [name for name in MADE if name.startswith("E0")])
def test_no_character_that_acts_is_in_any_export_of_a_file_that_attacks(name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(MADE[name]())

    for name_of_page, page in pages(path, 1, 3).items():
        assert acting(page.text) == set(), name_of_page


@pytest.mark.parametrize("name", ["H01_osc52", "H05_c1", "H14_bidi_trojan", "H15_zero_width_tags"])
def test_no_character_that_acts_is_in_any_export_of_a_hostile_file(name: str):
    for name_of_page, page in pages(STORED / f"{name}.jsonl", 0, 0).items():
        assert acting(page.text) == set(), name_of_page
