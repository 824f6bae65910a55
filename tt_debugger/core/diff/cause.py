"""Why two sides part: the nearest cause of the first thing that they do otherwise.

What comes from outside of the model, such as a prompt or the result of a tool, is a cause where
it differs. Where the model itself goes another way, what was set otherwise before it may be the
cause; where nothing was, that is the answer. Nothing is made up: each cause is two values that are
recorded, with the rows where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import count, islice, zip_longest
from typing import Any, NamedTuple

import msgspec

from tt_debugger.core.changes import touches
from tt_debugger.core.diff.acts import Act, From, acts
from tt_debugger.core.diff.called import are_same_calls, first_other, next_calls, outcomes
from tt_debugger.core.diff.divergence import Divergence
from tt_debugger.core.diff.meaning import About
from tt_debugger.core.diff.side import Side
from tt_debugger.core.diff.stage import Differing, differing
from tt_debugger.core.inspection import FARTHEST
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.paths import Path, pointer

UNSET = msgspec.UNSET


class CauseKind(StrEnum):
    """What two sides part over."""

    MODEL = "model"
    PROVIDER = "provider"
    THINKING_LEVEL = "thinking_level"
    SYSTEM = "system_text"
    TOOLS = "tools"
    """The tools that the model is offered."""
    SETTING = "setting"
    """Anything else that is set, or a value of the state, before they part."""
    PROMPT = "prompt"
    RESULT = "result"
    """What a tool gave back for the same call."""
    EDIT = "edit"
    """Somebody wrote into the state, or changed a message in a copy."""
    INTERRUPT = "interrupt"
    COMPACTION = "compaction"
    SUMMARY = "summary"
    """A summary of a branch that was left."""
    ERROR = "error"
    MESSAGE = "message"
    """A message that is neither of the user nor of the model, such as one of an extension."""
    TOOL = "tool"
    """The model calls another tool, or none."""
    ARGUMENTS = "arguments"
    """The model calls the same tool with other arguments."""
    ANSWER = "answer"
    STEP = "step"
    """Another step of a graph ran."""
    STATE = "state"
    """A step wrote another value."""
    UNTOLD = "untold"
    """What is recorded does not tell."""


class Certainty(StrEnum):
    """How sure it is that a cause is one."""

    TOLD = "told"
    """It is the first thing that differs, and it came from outside of the model."""
    LIKELY = "likely"
    """It differed before the first thing that was done otherwise."""
    OPEN = "open"
    """It is what was done otherwise; why, nothing before it tells."""


class Cause(msgspec.Struct, frozen=True):
    """The nearest cause: two values and the rows that they stand at; UNSET where a side has none.

    `subject` says what it is about: the call of a result, the tool of arguments, the place of a
    value. `before` are the values that differed as both sides began to do otherwise.
    """

    kind: CauseKind
    old: Any
    new: Any
    old_row: int
    new_row: int
    certainty: Certainty
    subject: str = ""
    before: tuple[Differing, ...] = ()


def cause(old: Side, new: Side, found: Divergence) -> Cause | None:
    """Give why two sides part, None where one of them ends and the other only goes on."""
    if not (found.old_after and found.new_after):
        return None
    mine, theirs = _acts(old, found.old_after, new), _acts(new, found.new_after, old)
    have_waited = _waits(old, found.old_point) and _waits(new, found.new_point)
    before: tuple[Differing, ...] = ()
    for number in count():
        one, other = next(mine, None), next(theirs, None)
        rows = (
            found.old_after[-1] if one is None else one.row,
            found.new_after[-1] if other is None else other.row,
        )
        before = before if number else differing(old, rows[0], new, rows[1])
        pair = _Pair(old, new, found, *rows, before, have_waited)
        if one is None or other is None:
            return pair.at_an_end(is_first=not number)
        if not _are_alike(one, other):
            more = ([one, *islice(mine, FARTHEST)], [other, *islice(theirs, FARTHEST)])
            return _of_acts(pair, *more)
        # Both do the same: what was set otherwise before that is all that differs yet.
        setting = None if number else pair.setting(Certainty.TOLD)
        if setting is not None:
            return setting
        have_waited = one.waits and other.waits
    return None


def mirrored(cause: Cause) -> Cause:
    """Give a cause as it is with the sides exchanged."""
    return msgspec.structs.replace(
        cause,
        old=cause.new,
        new=cause.old,
        old_row=cause.new_row,
        new_row=cause.old_row,
        before=tuple(Differing(each.path, each.new, each.old) for each in cause.before),
    )


class _Pair(NamedTuple):
    """Two sides, and a row of each that are looked at beside each other.

    `before` is what was set otherwise before them; `have_waited` tells whether both waited there
    for a human.
    """

    old: Side
    new: Side
    found: Divergence
    old_row: int
    new_row: int
    before: tuple[Differing, ...]
    have_waited: bool

    def part(
        self,
        kind: CauseKind,
        old: Any,
        new: Any,
        *,
        certainty: Certainty = Certainty.TOLD,
        subject: str = "",
    ) -> Cause:
        """Give the cause that stands at both rows."""
        rows = self.old_row, self.new_row
        return Cause(kind, old, new, *rows, certainty, subject, self.before)

    def untold(self) -> Cause:
        """Give that nothing tells why."""
        return self.part(CauseKind.UNTOLD, UNSET, UNSET, certainty=Certainty.OPEN)

    def setting(self, certainty: Certainty) -> Cause | None:
        """Give the first thing that is set otherwise and that what is done may hang on."""
        first = next((each for each in self.before if each.is_input), None)
        if first is None:
            return None
        kind = _OF_SETTINGS.get(str(first.path[0]), CauseKind.SETTING)
        pair, place = self, pointer(first.path)
        if certainty is Certainty.TOLD:
            pair = self._replace(
                old_row=_set_at(self.old, self.found.old_after, self.old_row, first.path),
                new_row=_set_at(self.new, self.found.new_after, self.new_row, first.path),
            )
        return pair.part(kind, first.old, first.new, certainty=certainty, subject=place)

    def at_an_end(self, *, is_first: bool) -> Cause | None:
        """Give why two sides part of which one does nothing more."""
        if None in self.found.first:
            return None
        return (self.setting(Certainty.TOLD) if is_first else None) or self.untold()

    @property
    def is_copied(self) -> Certainty | None:
        """How sure it is that one row is the other in a copy of its session, None if it is not."""
        old, new = self.old.session, self.new.session
        times = old.heads[self.old_row].time, new.heads[self.new_row].time
        if old is new or times[0] is None or times[0] != times[1]:
            return None
        if _is_from(new, self.old) or _is_from(old, self.new):
            return Certainty.TOLD
        has_one_id = old.ids[self.old_row] == new.ids[self.new_row]
        return Certainty.LIKELY if has_one_id else None


_OF_SETTINGS = {
    "model": CauseKind.MODEL,
    "provider": CauseKind.PROVIDER,
    "thinking_level": CauseKind.THINKING_LEVEL,
    "system": CauseKind.SYSTEM,
    "system_prompt": CauseKind.SYSTEM,
    "instructions": CauseKind.SYSTEM,
    "tools": CauseKind.TOOLS,
}
_ORDER = tuple(From)
_SPOKEN = frozenset((From.SYSTEM, From.USER, From.TOOL, From.MODEL))
"""Whose messages people change in a copy."""


def _acts(side: Side, rows: Sequence[int], other: Side) -> Iterator[Act]:
    """Give what a side does; of two formats without system texts, which not all keep."""
    has_all = side.session.format == other.session.format
    return (each for each in acts(side, rows) if has_all or each.source is not From.SYSTEM)


def _waits(side: Side, row: int | None) -> bool:
    return row is not None and side.session.heads.kind(row) is Kind.INTERRUPT


def _are_alike(one: Act, other: Act) -> bool:
    mine, theirs = ((each.written, each.waits, each.error) for each in (one, other))
    return one.says_as(other) and mine == theirs


def _is_from(session: Session, other: Side) -> bool:
    """Tell whether a session says that it was forked from that of a side, by its id or file."""
    noted = session.forked_from
    if noted is None:
        return False
    file = _last_part(other.name.partition("#")[0])
    return noted == other.session.id or (bool(file) and _last_part(noted) == file)


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _set_at(side: Side, rows: Sequence[int], row: int, path: Path) -> int:
    """Give the last of some rows up to one that wrote what stands at a path; else that one."""
    lead = rows[: rows.index(row) + 1]
    along = zip(lead, side.changes_along(lead), strict=True)
    wrote = [at for at, changes in along if any(touches(each, path) for each in changes)]
    return wrote[-1] if wrote else row


def _of_acts(pair: _Pair, mine: Sequence[Act], theirs: Sequence[Act]) -> Cause:
    """Give the cause of two acts that differ; behind each stands what comes after it."""
    one, other = mine[0], theirs[0]
    if one.says_as(other) and one.source is not From.EDIT:
        return _of_ends(pair, one, other)
    copied = pair.is_copied
    if copied is not None and one.source is other.source and one.source in _SPOKEN:
        return pair.part(CauseKind.EDIT, one.text, other.text, certainty=copied)
    return _CAUSES[min((one.source, other.source), key=_ORDER.index)](pair, mine, theirs)


def _of_ends(pair: _Pair, one: Act, other: Act) -> Cause:
    """Give the cause of two acts that say the same: what came of them, or what else they wrote."""
    if one.error != other.error:
        return pair.part(CauseKind.ERROR, one.error or UNSET, other.error or UNSET)
    if one.waits is not other.waits:
        sides = ((pair.old, one), (pair.new, other))
        asked = [
            side.session.heads[act.row].summary if act.waits else UNSET for side, act in sides
        ]
        return pair.part(CauseKind.INTERRUPT, *asked)
    return _of_human(pair, one) or pair.setting(Certainty.LIKELY) or _of_steps(pair, one, other)


def _of_human(pair: _Pair, act: Act) -> Cause | None:
    """Give that a human answered otherwise, which is not recorded: only what was made of it."""
    if not pair.have_waited or act.source not in {From.MODEL, From.STEP}:
        return None
    return pair.part(CauseKind.INTERRUPT, UNSET, UNSET, certainty=Certainty.LIKELY)


_ToCause = Callable[[_Pair, Sequence[Act], Sequence[Act]], Cause]


def _of_messages(kind: CauseKind, source: From) -> _ToCause:
    """Give how messages of a source are told that one side has alone, or otherwise."""

    def told(pair: _Pair, mine: Sequence[Act], theirs: Sequence[Act]) -> Cause:
        firsts = mine[0], theirs[0]
        texts = [each.text if each.source is source else UNSET for each in firsts]
        return pair.part(kind, *texts)

    return told


def _of_edits(pair: _Pair, mine: Sequence[Act], theirs: Sequence[Act]) -> Cause:
    """Give the first value that was written into the state of one side, or otherwise in both."""
    firsts = mine[0], theirs[0]
    are_edits = [each.source is From.EDIT for each in firsts]
    wrote = [
        each.written if is_edit else {} for each, is_edit in zip(firsts, are_edits, strict=True)
    ]
    path = _written_otherwise(*wrote)
    if path is None:
        return _of_messages(CauseKind.EDIT, From.EDIT)(pair, mine, theirs)
    values = [each.get(path, UNSET) for each in wrote]
    return pair.part(CauseKind.EDIT, *values, subject=pointer(path))


def _of_system(pair: _Pair, mine: Sequence[Act], theirs: Sequence[Act]) -> Cause:
    one, other = mine[0], theirs[0]
    said = frozenset(one.said) ^ frozenset(other.said)
    is_tools = one.source is other.source and {each.about for each in said} == {About.TOOL}
    kind = CauseKind.TOOLS if is_tools else CauseKind.SYSTEM
    return _of_messages(kind, From.SYSTEM)(pair, mine, theirs)


def _of_results(pair: _Pair, mine: Sequence[Act], theirs: Sequence[Act]) -> Cause:
    is_exact = pair.old.session.format == pair.new.session.format
    one = outcomes(pair.old, mine, is_exact=is_exact)
    other = outcomes(pair.new, theirs, is_exact=is_exact)
    if not (one and other):
        first = next(iter((one or other).values()), None)
        if first is None:
            return pair.untold()
        texts = (first.text, UNSET) if one else (UNSET, first.text)
        return pair.part(CauseKind.RESULT, *texts, subject=first.call)
    same_call = first_other(one, other)
    if same_call is None:
        return pair.untold()
    before, after = one[same_call], other[same_call]
    pair = pair._replace(old_row=before.row, new_row=after.row)
    call = min(before.call, after.call)
    return pair.part(CauseKind.RESULT, before.text, after.text, subject=call)


def _of_answers(pair: _Pair, mine: Sequence[Act], theirs: Sequence[Act]) -> Cause:
    """Give what was set otherwise before two answers or steps, else what they do otherwise."""
    one, other = mine[0], theirs[0]
    before = _of_human(pair, one) or pair.setting(Certainty.LIKELY)
    if before is not None:
        return before
    is_model = one.source is other.source is From.MODEL
    return _of_calls(pair, mine, theirs) if is_model else _of_steps(pair, one, other)


def _of_calls(pair: _Pair, mine: Sequence[Act], theirs: Sequence[Act]) -> Cause:
    """Give what a model did otherwise: another tool, other arguments, another answer."""
    is_open = Certainty.OPEN
    for one, other in zip_longest(next_calls(mine), next_calls(theirs)):
        if one is None or other is None or one.name != other.name:
            names = [UNSET if each is None else each.name for each in (one, other)]
            return pair.part(CauseKind.TOOL, *names, certainty=is_open)
        if not are_same_calls(one, other):
            given = one.arguments, other.arguments
            return pair.part(CauseKind.ARGUMENTS, *given, certainty=is_open, subject=one.name)
    return pair.part(CauseKind.ANSWER, mine[0].text, theirs[0].text, certainty=is_open)


def _of_steps(pair: _Pair, one: Act, other: Act) -> Cause:
    """Give what two steps did otherwise: another one ran, or it wrote other values."""
    path = _written_otherwise(one.written, other.written)
    if one.name != other.name or path is None:
        return pair.part(CauseKind.STEP, one.name, other.name, certainty=Certainty.OPEN)
    values = [each.written.get(path, UNSET) for each in (one, other)]
    place = pointer(path)
    return pair.part(CauseKind.STATE, *values, certainty=Certainty.OPEN, subject=place)


def _written_otherwise(one: dict[Path, Any], other: dict[Path, Any]) -> Path | None:
    """Give the first path at which two sides wrote other values, None where there is none."""
    paths = sorted(one.keys() | other.keys(), key=pointer)
    return next((each for each in paths if one.get(each, UNSET) != other.get(each, UNSET)), None)


_CAUSES: dict[From, _ToCause] = {
    From.EDIT: _of_edits,
    From.INTERRUPT: _of_messages(CauseKind.INTERRUPT, From.INTERRUPT),
    From.COMPACTION: _of_messages(CauseKind.COMPACTION, From.COMPACTION),
    From.SUMMARY: _of_messages(CauseKind.SUMMARY, From.SUMMARY),
    From.ERROR: _of_messages(CauseKind.ERROR, From.ERROR),
    From.SYSTEM: _of_system,
    From.USER: _of_messages(CauseKind.PROMPT, From.USER),
    From.TOOL: _of_results,
    From.OTHER: _of_messages(CauseKind.MESSAGE, From.OTHER),
    From.MODEL: _of_answers,
    From.STEP: _of_answers,
    From.UNKNOWN: lambda pair, _mine, _theirs: pair.untold(),
}
