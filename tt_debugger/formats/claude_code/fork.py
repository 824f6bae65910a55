"""Forks of Claude Code: the lines of one path as a session of their own, or more lines of theirs.

The lines of a path are written in the order of the file, each hanging on the one before. So every
version of the agent takes the last of them for the leaf and sends all that stands above it, also
what several tools did side by side (measured with 1.0.120, 2.0.76, 2.1.19 and 2.1.197).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change
from tt_debugger.core.fork.minting import uuid4
from tt_debugger.core.fork.plan import Draft, Plan, other_edits
from tt_debugger.core.fork.writes import How, NewFile, Record
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Aside
from tt_debugger.core.replay import Replay
from tt_debugger.core.text import summary_line
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.claude_code.entries import entry_of, text_in
from tt_debugger.formats.claude_code.fork_chain import Names, chained, timed
from tt_debugger.formats.claude_code.forked_path import (
    HoldsBytes,
    Way,
    Written,
    is_boundary,
    nothing_left,
)
from tt_debugger.formats.claude_code.heads import is_prompt
from tt_debugger.formats.shared.context import MESSAGES
from tt_debugger.formats.shared.fork_files import (
    WITHOUT_IN_PLACE,
    line_of,
    place_for,
    refuse_target,
    resumed_in,
)
from tt_debugger.formats.shared.fork_origin import OURS, told_origin
from tt_debugger.formats.shared.fork_paths import title_wanted
from tt_debugger.formats.shared.forked_entries import more_lines

_SNAPSHOT = "file-history-snapshot"


def said(text: str) -> Change:
    """Give the edit that adds what the user says."""
    return Append(MESSAGES, {"role": "user", "content": text})


def draft(store: HoldsBytes, replay: Replay, plan: Plan) -> Draft:
    """Give what a fork would write: a new session, or in place lines that branch off.

    Raises UnsupportedError, UsageError.
    """
    title = title_wanted(other_edits(plan), "Claude Code")
    way = Way(store, replay, plan)
    if plan.in_place:
        if title is not None:
            raise UnsupportedError("a branch in place has no title of its own", WITHOUT_IN_PLACE)
        return _in_place(way, plan)
    return _new_session(way, plan, title)


def _new_session(way: Way, plan: Plan, title: str | None) -> Draft:
    session, names = uuid4(plan.fresh), Names(plan)
    lines = list(way.lines())
    if not lines:
        raise nothing_left()
    _mend_segments(way, lines)
    chained(way, lines, names, session, None)
    timed(way, lines)
    records = list(_with_snapshots(way, lines, names))
    named = title or f"{way.session.title or way.session.id} (fork)"
    about = {"type": "custom-title", "customTitle": named, "sessionId": session}
    told = line_of({**about, OURS: told_origin(plan)})
    # The agent looks for it at the end; only before the lines does it count for all of them.
    records = [*([] if title is None else [line_of(about)]), *records, told]
    records.append(line_of(_last_prompt(lines, session)))
    location = way.store.location
    folder = _folder_of(location)
    path = place_for(str(folder / Path(location).name), f"{session}.jsonl", plan.target)
    _note_what_stays(way, records)
    is_found = Path(path).parent.parent.name == "projects" and Path(path).stem == session
    is_told = title is not None and summary_line(title) == title
    return Draft(
        (NewFile(path, tuple(records)),),
        path,
        Path(path).stem,
        _point(lines, way),
        resumed_in(_cwd(way), "claude", "--resume", session if is_found else path),
        tuple(way.notes),
        (*way.told_otherwise, *(() if is_told else ("title",))),
    )


def _cwd(way: Way) -> str | None:
    found = (text_or_none(record.get("cwd")) for row in way.rows for record in way.records[row])
    return way.session.cwd or next((each for each in found if each), None)


def _folder_of(location: str) -> Path:
    """Give the folder of the project that a file is of: those of subagents lie two below."""
    folder = Path(location).resolve().parent
    is_below = folder.name == "subagents" and Path(location).name.startswith("agent-")
    return folder.parent.parent if is_below else folder


def _point(lines: Sequence[Written], way: Way) -> str:
    """Give the uuid of the row at the end of the path: it is that of its last line."""
    written = {each.row for each in lines}
    left = [(place, row) for place, row in enumerate(way.rows) if row in written]
    place, row = left[-1] if left else (-1, None)
    is_added_behind = any(key is not None and key >= place for key in way.alterations.added)
    chosen = lines[-1]
    if left and not is_added_behind:
        chosen = [each for each in lines if each.row == row][-1]
    return str(chosen.value("uuid"))


def _last_prompt(lines: Sequence[Written], session: str) -> dict[str, Any]:
    """Give the line that says where the agent goes on, and what was asked there last."""
    asked = ""
    for each in reversed(lines):
        record = {key: each.value(key) for key in each.fields}
        if is_prompt(record):
            asked = text_in(as_map(record.get("message")).get("content"))
            break
    leaf = lines[-1].value("uuid")
    return {"type": "last-prompt", "lastPrompt": asked, "leafUuid": leaf, "sessionId": session}


def _mend_segments(way: Way, lines: Sequence[Written]) -> None:
    """Let what a compaction keeps begin and end with messages that are still there."""
    written = {each.row: each for each in reversed(lines) if each.row is not None}
    for each in lines:
        about = as_map(each.value("compactMetadata"))
        segment = as_map(about.get("preservedSegment"))
        if not segment:
            continue
        rows = {
            end: way.session.row_of(name)
            for end in ("head", "anchor", "tail")
            if (name := text_or_none(segment.get(f"{end}Uuid"))) is not None
        }
        first, last, anchor = rows.get("head"), rows.get("tail"), rows.get("anchor")
        if anchor in way.rows and anchor not in written:
            raise UnsupportedError(
                "a summary cannot be taken away behind which messages stand that it kept",
                "edit it instead",
            )
        if first not in way.rows or last not in way.rows or {first, last} <= written.keys():
            continue
        span = way.rows[way.rows.index(first) : way.rows.index(last) + 1]
        left = [row for row in span if row in written]
        if not left:
            about.pop("preservedSegment")
        else:
            ends = {"headUuid": written[left[0]], "tailUuid": written[left[-1]]}
            names = {key: line.old_ids[-1] for key, line in ends.items() if line.old_ids}
            about["preservedSegment"] = {**segment, **names}
        each.put("compactMetadata", {**about})


def _with_snapshots(way: Way, lines: Sequence[Written], names: Names) -> Iterator[Record]:
    """Give the lines as records, behind each what is known of files as they were then."""
    snapshots = _snapshots_of(way)
    for each in lines:
        yield each.record()
        for old in each.old_ids:
            for record in snapshots.get(old, ()):
                own = names.meant_by(old)
                inner = {**as_map(record.get("snapshot")), "messageId": own}
                yield line_of({**record, "messageId": own, "snapshot": inner}, How.KEPT)


def _snapshots_of(way: Way) -> dict[str, list[dict[str, Any]]]:
    """Give the lists of saved files by the line that each is of."""
    found: dict[str, list[dict[str, Any]]] = {}
    for each in way.session.asides:
        record = _aside(way.store, each) if each.name == _SNAPSHOT else {}
        name = text_or_none(record.get("messageId"))
        if name is not None:
            found.setdefault(name, []).append(record)
    return found


def _aside(store: HoldsBytes, aside: Aside) -> dict[str, Any]:
    try:
        return as_map(msgspec.json.decode(store.stored(aside.offset, aside.length)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _note_what_stays(way: Way, records: Sequence[Record]) -> None:
    """Say what belongs to the original and is not copied."""
    if any(b'"backupFileName":"' in each.data for each in records if each.row is None):
        way.notes.append(
            "saved copies of files stay with the original: rewinding in the fork gives back what"
            " was said, not the files"
        )
    if any(row in way.session.subsessions for row in way.rows):
        way.notes.append("what subagents wrote stays with the original; it is not needed to go on")
    if any(record.get("isSidechain") is True for record in way.records[way.rows[-1]]):
        way.notes.append(
            "the subagent becomes a session of its own, with the tools of the agent itself"
        )


def _in_place(way: Way, plan: Plan) -> Draft:
    """Give lines that branch off within the file, and the one that lets the agent go on there."""
    refuse_target(plan)
    last = way.records[way.rows[-1]][-1]
    if last.get("isSidechain") is True:
        raise UnsupportedError(
            "a subagent is not resumed, so a branch leads nowhere", WITHOUT_IN_PLACE
        )
    first = _first_new(way)
    lines = list(way.lines(first))
    for each in lines:
        row = each.row
        if row is not None and not _may_stand_twice(way.records[row][0]):
            raise UnsupportedError(
                "Claude Code sends all lines of one answer, with all results of its calls: no copy"
                " of them can stand in the same file",
                WITHOUT_IN_PLACE,
            )
    above = None if first == 0 else text_or_none(way.records[way.rows[first - 1]][-1].get("uuid"))
    names = Names(plan)
    session = text_or_none(last.get("sessionId")) or way.session.id
    chained(way, lines, names, session, above)
    if not lines and way.alterations:
        raise UnsupportedError(
            "without a message of its own a branch would lead on to what is taken away",
            f"add a message, or {WITHOUT_IN_PLACE}",
        )
    if lines:
        timed(way, lines)
        pin = _last_prompt(lines, session)
    else:
        pin = _last_prompt(list(way.lines()), session)
        pin["leafUuid"] = last.get("uuid")
    added = [*lines, Written(None, pin, How.ADDED)]
    path = str(Path(way.store.location).resolve())
    is_found = Path(path).parent.parent.name == "projects"
    return Draft(
        (more_lines(way.store.location, [each.record() for each in added], "Claude Code"),),
        path,
        way.session.id,
        str(pin["leafUuid"]),
        resumed_in(_cwd(way), "claude", "--resume", way.session.id if is_found else path),
        tuple(way.notes),
        (*way.told_otherwise, "title"),
        agent="claude",
    )


def _first_new(way: Way) -> int:
    """Give the place on the path from which lines are written anew; its end for none."""
    changed = way.alterations
    places = [*changed.rewritten, *(0 if key is None else key + 1 for key in changed.added)]
    if places:
        return min(places)
    is_leaf = not way.session.tree.child_count(way.plan.row)
    return len(way.rows) - (0 if is_leaf else 1)


def _may_stand_twice(record: dict[str, Any]) -> bool:
    entry = entry_of(record)
    return entry.type != "assistant" and not entry.answers and not is_boundary(record)
