"""Exporting: the one way from points to a page."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from tt_debugger.errors import UsageError
from tt_debugger.exports.forms import FORMS, Form, What
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

_RENDERERS: dict[type[Any], str] = {
    Transcript: "transcript",
    StateAt: "state",
    TwoStates: "difference",
}


def exported(
    points: Sequence[At], what: What, form: str, gate: Gate, *, mask: bool = True
) -> Page:
    """Give an export of one or two points; a bundle has a form of its own.

    Raises UsageError where the form is not one of what is asked for, or that is not of so many
    points; CannotReadError where the session cannot be read, CannotWriteError where anything else
    went wrong on the way.
    """
    with refusing():
        whole_path = not gate.redacts
        match what, *points:
            case What.TRANSCRIPT, at:
                subject = transcript_of(at, whole_path=whole_path)
            case What.STATE, at:
                subject = state_of(at, whole_path=whole_path)
            case What.DIFF, a, b:
                subject = two_states(a, b, mask=mask, whole_path=whole_path)
            case What.BUNDLE, a, *others:
                from tt_debugger.exports.bundle import bundle_page, bundled

                two = [two_states(a, b, mask=mask, whole_path=whole_path) for b in others[:1]]
                return bundle_page(bundled(points, *two), gate)
            case _:
                raise UsageError(
                    f"a {what} is of {'two points' if what is What.DIFF else 'one point'}"
                )
        return page_of(subject, FORMS[form], gate)


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
