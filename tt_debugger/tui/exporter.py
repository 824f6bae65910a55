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
from time import sleep
from typing import TYPE_CHECKING, Any

import msgspec
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.refs import Fragment, parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotWriteError, TtdbgError
from tt_debugger.exports.exporting import exported
from tt_debugger.exports.forms import What
from tt_debugger.exports.gate import Gate, Page, refusing
from tt_debugger.exports.owner import owner_here
from tt_debugger.exports.subjects import At
from tt_debugger.exports.writing import write
from tt_debugger.opening import exists, split_location
from tt_debugger.tui.sparing import sparingly

if TYPE_CHECKING:
    from tt_debugger.tui.comparer import Aim

PAUSE = 0.15
"""Seconds that one stays with a choice before it is rendered."""


class Wanted(msgspec.Struct, frozen=True):
    """An export: of one or two checkpoints, what of them, and in which form."""

    aims: tuple[Aim, ...]
    what: What
    form: str = ""
    is_masked: bool = True
    structure_only: bool = False


class Rendered(Message):
    """An export is rendered, and redacted; `size` is in bytes."""

    def __init__(self, wanted: Wanted, page: Page, size: int) -> None:
        super().__init__()
        self.wanted = wanted
        self.page = page
        self.size = size


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

    def write(self, name: str, page: Page) -> None:
        """Begin to write a page to a name that is free; `~` in it is the home of someone."""
        self._begin("write", self._write, name, page)

    def _begin(self, group: str, work: Callable[..., None], *arguments: object) -> None:
        self._screen.run_worker(
            sparingly(partial(work, *arguments)), thread=True, group=group, exclusive=True
        )

    def _render(self, wanted: Wanted) -> None:
        worker = get_current_worker()
        # Nothing stops it once it has begun, and the cursor passes choices on its way.
        sleep(PAUSE)
        if worker.is_cancelled:
            return
        try:
            with self._points(wanted.aims) as points:
                with refusing():
                    gate = Gate.redacting(owner_here(), structure_only=wanted.structure_only)
                page = exported(points, wanted.what, wanted.form, gate, mask=wanted.is_masked)
                answer: Message = Rendered(wanted, page, len(page.text.encode()))
        except TtdbgError as error:
            answer = RenderFailed(wanted, error)
        if not worker.is_cancelled:
            self._screen.post_message(answer)

    def _write(self, name: str, page: Page) -> None:
        try:
            path = _path(name)
            write(path, page.text)
        except TtdbgError as error:
            self._screen.post_message(WriteFailed(error))
        else:
            self._screen.post_message(Written(path))

    @contextmanager
    def _points(self, aims: tuple[Aim, ...]) -> Generator[list[At]]:
        """Give the session and the row of each aim; other sessions are open for so long only."""
        with ExitStack() as stack:
            others: dict[tuple[str, str | None], Debugger] = {}
            points: list[At] = []
            for aim in aims:
                if isinstance(aim, int):
                    points.append(At(self._debugger, aim))
                    continue
                location, fragment = self._split(aim)
                key = location, fragment.session
                if key not in others:
                    others[key] = self._opened(location, fragment, stack)
                points.append(At(others[key], others[key].point(fragment)))
            yield points

    def _split(self, aim: str) -> tuple[str, Fragment]:
        """Split LOCATION#REF; a ref alone is one in the session that is open."""
        location, fragment = split_location(aim)
        if location and exists(location):
            return location, fragment
        return self._debugger.location, parse_fragment(aim.removeprefix("#"))

    def _opened(self, location: str, fragment: Fragment, stack: ExitStack) -> Debugger:
        own = self._debugger
        if location == own.location and fragment.session in {None, own.session.id}:
            return own
        return stack.enter_context(Debugger.open(location, fragment.session))


def _path(name: str) -> Path:
    """Give the path that a name means. Raises CannotWriteError where it is that of nobody."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise CannotWriteError(f"cannot write {name}: {error}") from error
