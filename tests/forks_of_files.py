"""Forks of session files, made at a fixed time with ids that repeat, and written as they would be.

Nothing of `tt_debugger.storage` writes here: what a draft says is put together by hand.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import UnionType
from typing import Any

import msgspec
from builders import FIXTURES

from tt_debugger.core.between import keys_between
from tt_debugger.core.changes import Append, Change, Drop, Put
from tt_debugger.core.fork.edits import edited
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import IndexLine, MoreLines, NewFile
from tt_debugger.core.model import Kind
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UnsupportedError, UsageError

TIME = 1767225600.25
LATER = 1_900_000_000.0
SAMPLES = Path(__file__).parent.parent / "sample_sessions"
_AROUND = ("The following is a summary", "Previous conversation summary:\n")


def files_of(name: str) -> list[Path]:
    """Give the fixtures of a format that are not empty, and its sample."""
    found = [*sorted((FIXTURES / name).glob("*.jsonl")), SAMPLES / f"{name}.jsonl"]
    return [path for path in found if path.stat().st_size]


def plan_of(debugger: Debugger, row: int, edits: Sequence[Change] = (), **more: Any) -> Plan:
    """Give the plan of a fork whose ids depend on its row alone."""
    state = debugger.state(row)
    fresh = random.Random(row).randbytes  # noqa: S311 - they are to repeat
    origin = debugger.ref(row)
    wanted = edited(state, edits)
    return Plan(row, state, wanted, tuple(edits), origin, TIME, fresh, **more)


def drafted_later(
    debugger: Debugger, row: int, edits: Sequence[Change] = (), **wish: Any
) -> tuple[Plan, Draft]:
    """Draft a fork long after its session, with ids that are always the same."""
    fresh = random.Random(7).randbytes  # noqa: S311 - they are to repeat
    plan = plan_of(debugger, row, edits, **wish)
    plan = msgspec.structs.replace(plan, time=LATER, fresh=fresh)
    return plan, debugger.draft(plan)


def lines_of(draft: Draft, kind: type[NewFile] | UnionType = NewFile) -> list[dict[str, Any]]:
    """Give what a draft of one write of a kind writes, line by line."""
    (made,) = draft.writes
    assert isinstance(made, kind)
    assert isinstance(made, NewFile | MoreLines)
    assert all(each.data.endswith(b"\n") for each in made.records)
    return [json.loads(each.data) for each in made.records]


def rows_of(debugger: Debugger) -> list[int]:
    """Give the rows that a session can be forked at."""
    heads = debugger.session.heads
    known = range(len(debugger.session))
    return [row for row in known if heads.kind(row) not in (Kind.GAP, Kind.UNREADABLE)]


def other_text(state: Any, place: int) -> Change | None:
    """Give an edit that lets a message say something else, None where it says no text."""
    message = state["messages"][place]
    content = message.get("content")
    if "summary" in message:
        return Put(("messages", place, "summary"), "Edited.")
    if isinstance(content, str):
        if not content.startswith(_AROUND):
            return Put(("messages", place, "content"), "Edited.")
        is_branch = content.startswith(_AROUND[0])
        text = content[: content.index("\n") + 1]
        text += "<summary>\nEdited.\n</summary>" if is_branch else "Edited."
        return Put(("messages", place, "content"), text)
    for at, block in enumerate(content or ()):
        if block.get("type") == "text":
            return Put(("messages", place, "content", at, "text"), "Edited.")
    return None


def ways_to_edit(debugger: Debugger, row: int) -> Iterator[tuple[Change, ...]]:
    """Give edits of many kinds at a row: of one message, of what else there is, and none."""
    state = debugger.state(row)
    messages = state["messages"]
    yield ()
    said = debugger.message(state, "And then?", TIME)
    yield (said,)
    yield (
        Put(("model",), "another"),
        Put(("provider",), "other"),
        Put(("thinking_level",), "low"),
        Put(("title",), "Tried again"),
    )
    if not messages:
        return
    place = row * 7 % len(messages)
    yield (Drop(("messages", place)),)
    yield (Put(("messages",), messages[: place + 1]), said)
    new = said.value if isinstance(said, Append) else None
    yield (Put(("messages",), [*messages[:place], new, *messages[place:]]),)
    edit = other_text(state, place)
    if edit is not None:
        yield (edit, said)


def drafted(debugger: Debugger, row: int, edits: Sequence[Change], **more: Any) -> Draft | None:
    """Give the draft of a fork, None where the format cannot make it."""
    try:
        return debugger.draft(plan_of(debugger, row, edits, **more))
    except (UnsupportedError, UsageError):
        return None


def written(draft: Draft, folder: Path, name: str | None = None) -> Path:
    """Write a draft into a folder; give the path of what can be opened then."""
    target = folder / (name or Path(draft.location).name)
    for each in draft.writes:
        match each:
            case NewFile(records=records):
                target.write_bytes(b"".join(record.data for record in records))
            case MoreLines(path=path, records=records):
                before = Path(path).read_bytes()
                assert len(before) == each.size
                target.write_bytes(before + b"".join(record.data for record in records))
            case IndexLine(path=path, record=record):
                with (folder / Path(path).name).open("ab") as index:
                    index.write(record.data)
            case _:
                raise AssertionError(each)
    return target


def assert_lawful(path: Path, folder: Path) -> Counter[str]:
    """Fork a file at every node in many ways, and see that each fork is what a fork must be.

    Give how many there were of each kind.
    """
    made: Counter[str] = Counter()
    before = path.read_bytes()
    with Debugger.open(str(path)) as debugger:
        debugger.session.take_in()
        for row in rows_of(debugger):
            for number, edits in enumerate(ways_to_edit(debugger, row)):
                in_place = (row + number) % 2 == 1
                draft = drafted(debugger, row, edits, in_place=in_place)
                if draft is None:
                    made["refused"] += 1
                    continue
                made["in place" if in_place else "new"] += 1
                _check(debugger, draft, edited(debugger.state(row), edits), written(draft, folder))
    assert path.read_bytes() == before
    return made


def _check(debugger: Debugger, draft: Draft, wanted: Any, fork: Path) -> None:
    in_place = isinstance(draft.writes[0], MoreLines)
    with Debugger.open(str(fork)) as found:
        session, origin = found.session, debugger.session
        session.take_in()
        assert session.active is not None
        assert session.ids[session.active] == draft.point
        state = found.state(session.active)
        assert set(keys_between(wanted, state)) <= set(draft.own)
        assert len(set(session.ids)) == len(session)
        told = Counter(each.code for each in session.findings)
        assert not told - Counter(each.code for each in origin.findings)
        if in_place:
            assert session.ids[: len(origin)] == origin.ids
        else:
            assert session.id == draft.session != origin.id


class Case(msgspec.Struct, frozen=True):
    """A fork that was written: from which node, by which edits, and what it is to be."""

    path: Path
    node: str
    place: int
    """The place of the node among all nodes of its file."""
    state: Any
    point: str
    notes: tuple[str, ...]
    is_edited: bool
    is_safe: bool
    """Whether no tool call is parted from its result."""
    in_place: bool

    def asked(self, **more: Any) -> dict[str, Any]:
        """Give the question to an agent of what it makes of the file."""
        return {"path": str(self.path), "leaf": None, "append": True, **more}


def cases_of(path: Path, folder: Path) -> list[Case]:
    """Fork a file at each node that holds a message or a summary, as it is and edited."""
    found: list[Case] = []
    with Debugger.open(str(path)) as debugger:
        heads = debugger.session.heads
        for row in (each for each in rows_of(debugger) if heads.kind(each) in _TELLING):
            for edits in _some_edits(debugger, row):
                for in_place in (False, True):
                    draft = drafted(debugger, row, edits, in_place=in_place)
                    if draft is None:
                        continue
                    found.append(
                        Case(
                            written(draft, folder, f"{len(found)}.jsonl"),
                            debugger.session.ids[row],
                            row,
                            edited(debugger.state(row), edits),
                            draft.point,
                            draft.notes,
                            bool(edits),
                            _is_safe(debugger, row),
                            in_place,
                        )
                    )
    return found


_TELLING = (
    Kind.MESSAGE,
    Kind.TOOL_CALL,
    Kind.TOOL_RESULT,
    Kind.COMPACTION,
    Kind.BRANCH_SUMMARY,
)


def cases_of_all(files: Iterable[Path], folder: Path) -> dict[str, list[Case]]:
    """Fork each of some files everywhere, each in a folder of its own."""
    found: dict[str, list[Case]] = {}
    for path in files:
        place = folder / path.stem
        place.mkdir()
        found[path.stem] = cases_of(path, place)
    return found


def _is_safe(debugger: Debugger, row: int) -> bool:
    try:
        return debugger.safe_row(row) == row
    except UsageError:
        return False


def _some_edits(debugger: Debugger, row: int) -> Iterator[tuple[Change, ...]]:
    """Give no edit, and another text for a message here or there, with one more at the end."""
    state = debugger.state(row)
    yield ()
    said = debugger.message(state, "And then?", TIME)
    count = len(state["messages"])
    found = (other_text(state, (row * 7 + place) % count) for place in range(count))
    edit = next((each for each in found if each is not None), None)
    yield (said,) if edit is None else (edit, said)
