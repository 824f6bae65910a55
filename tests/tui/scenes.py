"""The scenes: each screen of the UI as the tests compare it and as `screenshots/` shows it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import msgspec
from textual.pilot import Pilot
from tui.driving import SAMPLES, press, settled

from tt_debugger import forking
from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.plan import Forked
from tt_debugger.core.refs import Fragment, parse_fragment
from tt_debugger.discovery import EVERYWHERE
from tt_debugger.errors import CannotReadError, TtdbgError
from tt_debugger.tui import app as ui
from tt_debugger.tui import edit_texts
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.themes import NAMED

SIZES = ((80, 24), (120, 36), (160, 50))
"""Columns and rows for which the layout is made."""
FOLDER = SAMPLES.name
HOME = "home"
EMPTY = "new-project"
"""The folder in that home in which one stands: nothing is in it yet."""
KEPT = {
    "claude-code": ".claude/projects/-home-dev-shop",
    "codex": ".codex/sessions/2026/09/13",
    "copilot": ".copilot/session-state/0c8b7a52",
    "gemini": ".gemini/tmp/7f3a/chats",
    "pi": ".pi/agent/sessions/--home-dev-weather--",
    "tau": ".tau/sessions/importer",
}
"""Where agents keep which sample."""
NOW = 1_789_660_800.0
"""The time on the clock: some days after the samples were recorded."""
WRITTEN = NOW - 6 * 24 * 3600
"""When the files on the stage were written, which is all that is known where they tell no time."""

Ui = ui.TtdbgApp
Size = tuple[int, int]
Seen = TypeVar("Seen")


class Scene(msgspec.Struct, frozen=True):
    """A screen: what is opened, where, and the keys that lead to what is to be seen."""

    name: str
    keys: tuple[str, ...] = ()
    ref: str = ""
    location: str = f"{FOLDER}/pi.jsonl"
    then: Callable[[Pilot[TtdbgError]], Awaitable[None]] | None = None
    """What happens after the keys, where no key leads there."""
    forks: tuple[Operation, ...] = ()
    """The forks that were made before."""

    @property
    def command(self) -> str:
        """The command that opens what is seen."""
        return f"ttdbg open {self.location}{'#' if self.ref else ''}{self.ref}"


async def _cannot_read(pilot: Pilot[TtdbgError]) -> None:
    hint = "it may have been moved or deleted; press r to look again"
    error = CannotReadError(f"cannot read {FOLDER}/gone.jsonl: no such file", hint)
    await pilot.app.push_screen(ErrorScreen(error, NAMED, pilot.app._glyphs))


async def _write_fork(pilot: Pilot[TtdbgError]) -> None:
    # Not before it is seen what would be written.
    await press(pilot, "ctrl+s")


FORKS = tuple(
    Operation(
        id=name,
        time=NOW - age,
        origin=f"{FOLDER}/pi.jsonl#9ad9150d",
        location=f"/home/dev/.pi/agent/sessions/--home-dev-weather--/{name}.jsonl",
        session=f"01a09f{name}",
        point="1fc4cd9d",
        resume_command=f"pi --session {name}",
        note=note,
        is_finished=True,
        undone=undone,
    )
    for name, age, note, undone in (
        ("5d20aa17", 7200.0, "is the first way quicker?", None),
        ("b8716f0e", 4000.0, "with the large model", NOW - 3900),
        ("e03c9921", 600.0, None, None),
    )
)

SCENES = (
    Scene("timeline", ref="row=22"),
    Scene("timeline-tau", location=f"{FOLDER}/tau.jsonl"),
    Scene("claude-code", ("2",), "row=9", f"{FOLDER}/claude-code.jsonl"),
    Scene("subagent", ("enter",), "row=9", f"{FOLDER}/claude-code.jsonl"),
    Scene("codex", (), "@", f"{FOLDER}/codex.jsonl"),
    Scene("langgraph", (), "refund-7731:@", f"{FOLDER}/langgraph.sqlite"),
    Scene(
        "langgraph-state",
        ("3", "tab", "enter"),
        "refund-7731:step=5",
        f"{FOLDER}/langgraph.sqlite",
    ),
    Scene("tables", ("4",), "row=6", f"{FOLDER}/checkpoints.sqlite"),
    Scene("git", (), "add9", f"{FOLDER}/shop.git"),
    Scene(
        "git-transcript",
        ("d", "colon", *f"{FOLDER}/claude-code.jsonl#line=61", "enter"),
        "label=v0.3",
        f"{FOLDER}/shop.git",
    ),
    Scene("message", ("2",), "row=16"),
    Scene("state", ("3", "tab", "enter"), "row=50"),
    Scene("meta", ("4",), "row=54"),
    Scene("raw", ("5",), "row=34"),
    Scene("fold", ("H",), "row=22"),
    Scene("unfolded", ("L",), "row=38"),
    Scene("search", ("slash", *"flush", "enter", "n"), "row=32"),
    Scene("scrubber", ("s", "l", "l"), "row=32"),
    Scene("bisect", ("B", "enter", "plus", "minus", "0", "plus"), "row=50"),
    Scene("bisect-condition", ("B", *"cost>0.05", "enter"), "row=50"),
    Scene("watch", ("w", *"model", "enter", "w", *"usage.cost", "enter", "R", "r"), "row=50"),
    Scene("watch-ask", ("w", *"usage."), "row=50"),
    Scene("watch-condition", ("w", *"messages>10", "enter", "r"), "row=50"),
    Scene("blame", ("3", "tab", "g", "enter", "G"), "@"),
    Scene("stats", ("t",)),
    Scene("filters", ("v",), "row=50"),
    Scene("go-to", ("colon", *"label=dead"), "row=50"),
    Scene("palette", ("ctrl+p", *"branch"), "row=50"),
    Scene("help", ("question_mark",), "row=50"),
    Scene("themes", ("T",), "row=50"),
    Scene("copy", ("y",), "row=16"),
    Scene("compare", ("d", "@", *("n",) * 14), "row=23"),
    Scene("compare-step", ("d", "d"), "row=50"),
    Scene("compare-other", ("d", "colon", *f"{FOLDER}/tau.jsonl", "enter"), "row=23"),
    Scene("diff", ("d",), "row=23"),
    Scene("sessions", location=FOLDER),
    Scene("picker", location=EVERYWHERE),
    Scene("error", location=FOLDER, then=_cannot_read),
    Scene("fork", ("f",), "row=20"),
    Scene("fork-say", ("f", "3", *" And why?"), "row=40"),
    Scene("fork-message", ("f", "4", *" Then the others."), "row=13"),
    Scene("fork-refused", ("f", "6", *'model="example/coder'), "row=40"),
    Scene("forked", ("f",), "row=20", then=_write_fork),
    Scene("forks", ("4",), "row=10", forks=FORKS),
    Scene("undo", ("Z",), "row=10", forks=FORKS),
)
"""Every screen, in the order in which one meets them."""


def stage(folder: Path) -> Path:
    """Lay the samples alone into a folder, so that no other path is seen; give the folder.

    Beside them stands a home in which agents keep some of them.
    """
    repository = folder / FOLDER / "shop.git"
    shutil.copytree(SAMPLES / "shop.git", repository)
    for each in (repository, *repository.rglob("*")):
        os.utime(each, (WRITTEN, WRITTEN))
    for sample in (*SAMPLES.rglob("*.jsonl"), *SAMPLES.glob("*.sqlite")):
        own = sample.relative_to(SAMPLES)
        _copy(sample, folder / FOLDER / own)
        name, *rest = own.parts
        if name.split(".")[0] in KEPT:
            _copy(sample, folder / HOME / KEPT[name.split(".")[0]] / Path(name, *rest))
    (folder / HOME / EMPTY).mkdir()
    return folder


def _copy(sample: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(sample, copy)
    os.utime(copy, (WRITTEN, WRITTEN))


async def play(
    scene: Scene, size: Size, environment: dict[str, str], seen: Callable[[Ui], Seen]
) -> Seen:
    """Give what is made of a scene once all is shown. The stage is the working directory."""
    fragment = parse_fragment(scene.ref) if scene.ref else Fragment()
    app = Ui(
        scene.location,
        fragment,
        environment,
        clock=lambda: NOW,
        shows_sessions=scene.location in (FOLDER, EVERYWHERE),
    )
    with _at_home(scene), _forks_of(scene):
        return await _seen(app, scene, size, seen)


@contextmanager
def _at_home(scene: Scene) -> Iterator[None]:
    """Let the home on the stage be that of the person, where all sessions are looked for."""
    if scene.location != EVERYWHERE:
        yield
        return
    before, home = os.environ.get("HOME"), Path(HOME).resolve()
    os.environ["HOME"] = str(home)
    try:
        with chdir(home / EMPTY):
            yield
    finally:
        if before is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = before


@contextmanager
def _forks_of(scene: Scene) -> Iterator[None]:
    """Let forks be the same on every run, and none be written where others are."""
    begun: list[int] = []

    def fresh(count: int) -> bytes:
        begun.append(count)
        return bytes((37 * len(begun) + 11 * place) % 256 for place in range(count))

    def drafted(*asked: Any, rehearses: bool) -> forking.Drafted:
        begun.clear()
        with patch("os.urandom", fresh), patch("time.time", lambda: NOW):
            made = forking.drafted(*asked, rehearses=rehearses)
        return msgspec.structs.replace(made, draft=_moved_home(made.draft))

    def edits_of(*asked: Any) -> Any:
        return edit_texts.edits_of(*asked[:-1], NOW)

    def forked(made: forking.Drafted) -> Forked:
        draft = made.draft
        ref = forking.ref_of(draft)
        return Forked(
            draft.location, draft.session, ref, draft.resume_command, "5d20aa17", draft.notes
        )

    class Log:
        damaged = 0

        def all(self) -> list[Operation]:
            return [*scene.forks]

        def of_origin(self, location: str) -> tuple[Operation, ...]:
            return tuple(each for each in scene.forks if each.can_be_undone)

    with ExitStack() as stack:
        for own in (edits_of, drafted, forked):
            stack.enter_context(patch(f"tt_debugger.tui.forker.{own.__name__}", own))
        stack.enter_context(patch("tt_debugger.tui.undoer.Operations", Log))
        yield


def _moved_home(value: Any) -> Any:
    """Give a value as it were if the stage stood in the home of someone."""
    match value:
        case Enum():
            return value
        case str():
            return value.replace(str(Path.cwd()), "/home/dev")
        case bytes():
            return value.replace(str(Path.cwd()).encode(), b"/home/dev")
        case tuple():
            return tuple(map(_moved_home, value))
        case msgspec.Struct():
            moved = {name: _moved_home(getattr(value, name)) for name in value.__struct_fields__}
            return msgspec.structs.replace(value, **moved)
        case _:
            return value


async def _seen(app: Ui, scene: Scene, size: Size, seen: Callable[[Ui], Seen]) -> Seen:
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await press(pilot, *scene.keys)
        if scene.then is not None:
            await scene.then(pilot)
            await settled(pilot)
        return seen(app)
