"""The exporter: renders exports in threads for the dialog, writes them, and posts what came of it.

An answer carries its question, so that the dialog can drop one it no longer wants.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import msgspec
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.redact.redactor import Redactor
from tt_debugger.core.refs import Point
from tt_debugger.debugger import Debugger, split_location
from tt_debugger.errors import TtdbgError
from tt_debugger.exports.forms import What, exported
from tt_debugger.exports.gate import Gate, Page, refusing
from tt_debugger.exports.owner import owner_here
from tt_debugger.exports.subjects import At
from tt_debugger.exports.writing import write


class Place(msgspec.Struct, frozen=True):
    """A checkpoint: a row of the session that is open, or one of another by its ref."""

    row: int
    ref: str | None = None


class Wanted(msgspec.Struct, frozen=True):
    """An export: of one or two places, what of them, and in which form."""

    places: tuple[Place, ...]
    what: What
    form: str = ""
    is_masked: bool = True
    structure_only: bool = False


class Rendered(Message):
    """An export is rendered, and redacted."""

    def __init__(self, wanted: Wanted, page: Page) -> None:
        super().__init__()
        self.wanted = wanted
        self.page = page


class RenderFailed(Message):
    """An export cannot be rendered, or was refused."""

    def __init__(self, wanted: Wanted, error: TtdbgError) -> None:
        super().__init__()
        self.wanted = wanted
        self.error = error


class Written(Message):
    """An export stands in a file now."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path


class WriteFailed(Message):
    """An export cannot be written."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class Exporter:
    """Exports what stands in an open session, beside what stands in others."""

    def __init__(self, screen: Screen[Any], debugger: Debugger) -> None:
        self._screen = screen
        self._debugger = debugger

    @property
    def file(self) -> str:
        """The name of the file of the open session."""
        return PurePath(self._debugger.location).stem or "session"

    def render(self, wanted: Wanted) -> None:
        """Begin to render an export; what was asked for before is no longer of use."""
        self._begin("render", self._render, wanted)

    def write(self, path: Path, page: Page) -> None:
        """Begin to write a page to a name that is free."""
        self._begin("write", self._write, path, page)

    def _begin(self, group: str, work: Callable[..., None], *arguments: object) -> None:
        self._screen.run_worker(
            partial(work, *arguments), thread=True, group=group, exclusive=True
        )

    def _render(self, wanted: Wanted) -> None:
        worker = get_current_worker()
        try:
            with self._points(wanted.places) as points:
                with refusing():
                    gate = Gate(Redactor(owner_here(), structure_only=wanted.structure_only))
                page = exported(points, wanted.what, wanted.form, gate, mask=wanted.is_masked)
                answer: Message = Rendered(wanted, page)
        except TtdbgError as error:
            answer = RenderFailed(wanted, error)
        if not worker.is_cancelled:
            self._screen.post_message(answer)

    def _write(self, path: Path, page: Page) -> None:
        try:
            write(path, page.text)
        except TtdbgError as error:
            self._screen.post_message(WriteFailed(error))
        else:
            self._screen.post_message(Written(path))

    @contextmanager
    def _points(self, places: tuple[Place, ...]) -> Generator[list[At]]:
        """Give the session and the row of each place; others are open for so long only."""
        with ExitStack() as stack:
            points: list[At] = []
            for place in places:
                if place.ref is None:
                    points.append(At(self._debugger, place.row))
                    continue
                location, fragment = split_location(place.ref)
                other = stack.enter_context(Debugger.open(location, fragment.session))
                point = fragment.points[0] if fragment.points else Point(None, "@")
                points.append(At(other, other.row(point)))
            yield points
