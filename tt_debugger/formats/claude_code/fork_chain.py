"""Lines of a fork of Claude Code, each made to hang on the one before, with new ids and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_debugger.core.fork.minting import stamp, uuid4
from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.fork.writes import How
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.formats.claude_code.forked_path import Way, Written, is_boundary

_ENVELOPE = ("isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "entrypoint")
"""What a new line has as its neighbour has it."""


class Names:
    """New uuids for old ones, the same wherever an old one is named."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._new: dict[str, str] = {}
        self._given: set[str] = set()

    def fresh(self) -> str:
        """Give a new uuid."""
        return uuid4(self._plan.fresh)

    def meant_by(self, old: str) -> str:
        """Give the new uuid of what an old one names; in place only copies have one."""
        if old not in self._new and not self._plan.in_place:
            self._new[old] = self.fresh()
        return self._new.get(old, old)

    def of_line(self, olds: Sequence[str]) -> str:
        """Give the new uuid of a line, which no other line has."""
        if not olds or olds[-1] in self._given:
            return self.fresh()
        own = self.fresh()
        for each in olds:
            self._given.add(each)
            self._new[each] = own
        return own


def chained(
    way: Way, lines: Sequence[Written], names: Names, session: str, parent: str | None
) -> None:
    """Let each line hang on the one before, under its new name."""
    own = [names.of_line(each.old_ids) for each in lines]
    for place, line in enumerate(lines):
        if line.how is How.ADDED:
            _put_around(line, _neighbour(way, lines, place))
        _remap(line, names)
        if line.begins_with is not None:
            parent = line.begins_with
        if is_boundary({"subtype": line.value("subtype")}):
            line.put("parentUuid", None)
            line.put("logicalParentUuid", parent)
        else:
            line.put("parentUuid", parent)
        line.put("uuid", own[place])
        if line.value("isSidechain") is not False:
            line.put("isSidechain", value=False)
            line.drop("agentId")
        if not way.plan.in_place:
            line.put("sessionId", session)
            if "session_id" in line.fields:
                line.put("session_id", session)
            if line.old_ids:
                origin = {"sessionId": way.origin_of(line.row), "messageUuid": line.old_ids[-1]}
                line.put("forkedFrom", origin)
        parent = own[place]


def _neighbour(way: Way, lines: Sequence[Written], place: int) -> Mapping[str, Any]:
    """Give the line before one that is new, or the next one that is not."""
    if place:
        return lines[place - 1].fields
    told = (each.fields for each in lines if each.how is not How.ADDED)
    return next(told, way.records[way.rows[-1]][-1] if way.rows else {})


def _put_around(line: Written, neighbour: Mapping[str, Any]) -> None:
    """Give a new line what its neighbour says of the session, and its time."""
    around = {key: neighbour[key] for key in _ENVELOPE if key in neighbour}
    time = neighbour.get("timestamp")
    line.fields = {"parentUuid": None, **around, **line.fields, "uuid": None, "timestamp": time}


def _remap(line: Written, names: Names) -> None:
    """Let a line name others by their new uuids."""
    for key in ("logicalParentUuid", "sourceToolAssistantUUID", "leafUuid"):
        old = text_or_none(line.value(key))
        if old is not None:
            line.put(key, names.meant_by(old))
    replaced = line.value("supersedesUuids")
    if isinstance(replaced, list):
        olds = [each for each in as_list(replaced) if isinstance(each, str)]
        line.put("supersedesUuids", [names.meant_by(each) for each in olds])
    about = as_map(line.value("compactMetadata"))
    segment = as_map(about.get("preservedSegment"))
    if segment:
        ends = {
            key: names.meant_by(each) if key.endswith("Uuid") and isinstance(each, str) else each
            for key, each in segment.items()
        }
        line.put("compactMetadata", {**about, "preservedSegment": ends})


def timed(way: Way, lines: Sequence[Written]) -> None:
    """Give the last line the time of the fork, or a later one than all others; others keep theirs.

    Without a time the agent finds no conversation, so a line without has that of one before it.
    """
    heads = way.session.heads
    newest = max((heads.time(row) or 0 for row in way.rows), default=0)
    now = max(way.plan.time, newest + 0.001)
    before = stamp(min((heads.time(row) or now for row in way.rows), default=now))
    for each in lines:
        time = text_or_none(each.value("timestamp"))
        if time is None:
            each.put("timestamp", before)
        else:
            before = time
    if lines[-1].begins_with is None:
        lines[-1].put("timestamp", stamp(now))
