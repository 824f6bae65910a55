"""Sessions exported in every form at once, for tests of what holds of all of them."""

from __future__ import annotations

from pathlib import Path

from tt_debugger.core.redact.redactor import Redactor
from tt_debugger.debugger import Debugger
from tt_debugger.exports.exporting import exported
from tt_debugger.exports.forms import FORMS, What
from tt_debugger.exports.gate import Gate, Page
from tt_debugger.exports.subjects import At


def redacting() -> Gate:
    return Gate(Redactor())


def pages(path: Path, a: int, b: int, gate: Gate | None = None) -> dict[str, Page]:
    """Give all exports of a file: of its row b, and of what differs between the rows a and b.

    Each passes a gate of its own, unless one is given.
    """
    found: dict[str, Page] = {}
    with Debugger.open(str(path)) as debugger:
        one, two = [At(debugger, b)], [At(debugger, a), At(debugger, b)]
        for form in FORMS.values():
            for what in () if form.needs_two else (What.TRANSCRIPT, What.STATE):
                page = exported(one, what, form.name, gate or redacting())
                found[f"{what}{form.ending}"] = page
            found[f"diff{form.ending}"] = exported(two, What.DIFF, form.name, gate or redacting())
        found["bundle.jsonl"] = exported(two, What.BUNDLE, "", gate or redacting())
    return found
