"""The forms that exports come in, and the one way from a subject to a page."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from tt_debugger.errors import UsageError
from tt_debugger.exports.gate import Gate, Page, Passed, refusing
from tt_debugger.exports.subjects import (
    At,
    StateAt,
    Subject,
    Transcript,
    TwoStates,
    state_of,
    transcript_of,
    two_states,
)


class Form(msgspec.Struct, frozen=True):
    """A form: its name, the ending of its files, and the module that renders it."""

    name: str
    ending: str
    about: str
    module: str
    needs_two: bool = False
    """Whether it is only of two states."""


FORMS = {
    form.name: form
    for form in (
        Form("markdown", ".md", "to be read on a code host", "markdown"),
        Form("html", ".html", "one page for any browser", "html"),
        Form("json", ".json", "for other programs", "json_forms"),
        Form(
            "json-patch", ".patch.json", "RFC 6902: makes A into B", "json_patch", needs_two=True
        ),
        Form("unified", ".diff", "a diff as text", "unified", needs_two=True),
        Form("svg", ".svg", "a picture", "svg"),
    )
}
_RENDERERS: dict[type[Any], str] = {
    Transcript: "transcript",
    StateAt: "state",
    TwoStates: "difference",
}


class What(StrEnum):
    """What is exported: of one point its transcript or its state, of two what differs.

    A bundle is of one or two.
    """

    TRANSCRIPT = "transcript"
    STATE = "state"
    DIFF = "diff"
    BUNDLE = "bundle"


def exported(
    points: Sequence[At], what: What, form: str, gate: Gate, *, mask: bool = True
) -> Page:
    """Give an export of one or two points; a bundle has a form of its own.

    Raises UsageError where the form is not one of what is asked for, CannotReadError where the
    session cannot be read, CannotWriteError where anything else went wrong on the way.
    """
    with refusing():
        whole_path = not gate.redacts
        two = two_states(*points, mask=mask, whole_path=whole_path) if len(points) > 1 else None
        if what is What.BUNDLE:
            from tt_debugger.exports.bundle import bundle_page, bundled

            return bundle_page(bundled(points, two), gate)
        if two is not None:
            return page_of(two, FORMS[form], gate)
        make = state_of if what is What.STATE else transcript_of
        return page_of(make(points[0], whole_path=whole_path), FORMS[form], gate)


def page_of(subject: Subject, form: Form, gate: Gate) -> Page:
    """Give a subject as a page of a form.

    Raises UsageError where the form is not one of such a subject, CannotWriteError where anything
    went wrong on the way.
    """
    if form.needs_two and not isinstance(subject, TwoStates):
        raise UsageError(
            f"{form.name} is a form of what differs between two points",
            "name a second one, or choose markdown, html, json or svg",
        )
    with refusing():
        # Only what is asked for is loaded.
        renderers = importlib.import_module(f"{__package__}.{form.module}")
        render: Callable[[Passed[Any]], str] = getattr(renderers, _RENDERERS[type(subject)])
        return gate.page(render(gate.passed(subject)))
