"""What can be exported, and the forms that it comes in: data, for who offers and who renders."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class What(StrEnum):
    """What is exported: of one point its transcript or its state, of two what differs.

    A bundle is of one or two.
    """

    TRANSCRIPT = "transcript"
    STATE = "state"
    DIFF = "diff"
    BUNDLE = "bundle"


class Form(msgspec.Struct, frozen=True):
    """A form: its name, the ending of its files, and the module that renders it."""

    name: str
    ending: str
    about: str
    module: str
    needs_two: bool = False
    """Whether it is only of two states."""


FORMS: Mapping[str, Form] = {
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
