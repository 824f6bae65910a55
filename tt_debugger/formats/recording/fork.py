"""Forking a recording: a new one with the entries of a path, or a branch at the end of its file.

The entries of the path are kept to the byte. A `fork` entry hangs on the last of them, and what
was edited is one `change`. The fork ends in a snapshot only where the recorder would else go on
with less: without what other branches know of effects, or past an entry that it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath

import msgspec

from tt_debugger.core.between import changes_between, is_same
from tt_debugger.core.findings import Code
from tt_debugger.core.fork.minting import stamp
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import How, NewFile, Record
from tt_debugger.core.json import text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    SCHEMA_VERSION,
    Changed,
    Continues,
    EffectNoted,
    Forked,
    Header,
    Labelled,
    Snapshotted,
    decoded,
    encoded_header,
)
from tt_debugger.core.recording.entries import Entry as Recorded
from tt_debugger.core.recording.restoring import Restored, effect_noted, restored
from tt_debugger.core.replay import Replay
from tt_debugger.core.text import counted
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.recording.reading import RecordingSession
from tt_debugger.formats.shared.fork_files import (
    WITHOUT_IN_PLACE,
    Holds,
    as_line,
    place_for,
    refuse_target,
)
from tt_debugger.formats.shared.fork_paths import absolute
from tt_debugger.formats.shared.fork_states import name_of_fork
from tt_debugger.formats.shared.forked_entries import (
    Chain,
    Entry,
    fresh_id,
    kept_entries,
    more_lines,
)
from tt_debugger.formats.shared.recording import Memo
from tt_debugger.storage.stdin import STDIN

Effects = Mapping[str, Effect]


def draft(store: Holds, replay: Replay, plan: Plan) -> Draft:
    """Give all that a fork would write. Raises UnsupportedError, UsageError."""
    if not isinstance(plan.wanted, dict):
        raise UsageError("the state of a recording is an object", "edit what is in it")
    return _in_place(store, replay, plan) if plan.in_place else _anew(store, replay, plan)


def _anew(store: Holds, replay: Replay, plan: Plan) -> Draft:
    """Give the draft of a recording of its own."""
    session = replay.session
    chain = Chain(session, "parent", None, _mint(session, plan))
    _keep(store, session, plan, chain)
    _label(session, plan, chain)
    effects = _effects(store, session)
    _branch(plan, chain)
    is_whole = _settle(replay, plan, chain, effects, ())
    header = _header(store.location, session, plan)
    name = f"{name_of_fork(PurePath(store.location).stem, plan.fresh)}.jsonl"
    path = place_for(store.location, name, plan.target)
    first = Record(as_line(encoded_header(header)), How.ADDED)
    return Draft(
        (NewFile(path, (first, *chain.records())),),
        path,
        header.session_id,
        _point(chain),
        _resumed(path),
        _notes(effects, is_whole=is_whole),
    )


def _in_place(store: Holds, replay: Replay, plan: Plan) -> Draft:
    """Give the draft of a branch in the file itself, whose writer holds a lock on it."""
    refuse_target(plan)
    session = replay.session
    _check_in_place(session)
    path = session.tree.path_to(plan.row)
    chain = Chain(session, "parent", None, _mint(session, plan), path)
    effects = _effects(store, session)
    _branch(plan, chain)
    is_whole = _settle(replay, plan, chain, effects, _newest_first(store, session))
    return Draft(
        (more_lines(store.location, chain.records(), "the recorder", absolute(store.location)),),
        store.location,
        session.id,
        _point(chain),
        _resumed(absolute(store.location)),
        _notes(effects, is_whole=is_whole),
    )


def _check_in_place(session: Session) -> None:
    own: RecordingSession = session.own
    version = own.header.get("schema_version", SCHEMA_VERSION)
    if type(version) is not int or version > SCHEMA_VERSION:
        raise UnsupportedError(
            f"the file is of version {version}, and lines of version {SCHEMA_VERSION} would be"
            " added to it",
            WITHOUT_IN_PLACE,
        )
    for each in session.findings:
        if each.code is Code.HEADER:
            raise UnsupportedError(
                f"the recorder does not open this file: {each.message}", WITHOUT_IN_PLACE
            )


def _keep(store: Holds, session: Session, plan: Plan, chain: Chain) -> None:
    """Take over the entries of the path; a label on what is not in the fork is left out."""
    for entry in kept_entries(store, session, session.tree.path_to(plan.row)):
        if entry.value("type") == "label":
            target = chain.id_at(entry.value("target"))
            if target is None:
                continue
            entry.put("target", target)
        chain.add(entry)


def _label(session: Session, plan: Plan, chain: Chain) -> None:
    """Say once more which labels the entries have that other branches gave or took away."""
    given: dict[str, str | None] = {}
    for entry in chain.entries:
        if entry.value("type") == "label":
            given[str(entry.value("target"))] = text_or_none(entry.value("label")) or None
    for row, name in chain.ids.items():
        label = session.labels.get(row)
        if given.get(name) != label:
            time = stamp(plan.time)
            _add(chain, Labelled(id="", parent=None, time=time, target=name, label=label))


def _branch(plan: Plan, chain: Chain) -> None:
    """Begin the branch, and say what was edited."""
    time = stamp(plan.time)
    _add(chain, Forked(id="", parent=None, time=time, note=plan.note))
    changes = changes_between(plan.state, plan.wanted)
    if changes:
        _add(chain, Changed(id="", parent=None, time=time, name="edit", changes=changes))


def _settle(
    replay: Replay,
    plan: Plan,
    chain: Chain,
    effects: Effects,
    before: Iterable[Recorded],
) -> bool:
    """Add a snapshot where the recorder would else go on with less; tell whether that is so.

    `before` are the entries that stand in the file already, the newest first.
    """
    if _goes_on_with(_newest(chain, before), plan, effects):
        return False
    memo: Memo = replay.memo(plan.row)
    snapshot = Snapshotted(
        id="",
        parent=None,
        time=stamp(plan.time),
        state=plan.wanted,
        version=memo.version,
        effects=tuple(effects.values()),
        why="moved",
    )
    _add(chain, snapshot)
    return True


def _goes_on_with(newest_first: Iterable[Recorded], plan: Plan, effects: Effects) -> bool:
    """Tell whether the recorder restores what is wanted, and knows all effects."""
    try:
        found = restored(newest_first)
    except (LookupError, TypeError, AttributeError):
        # A change that cannot be made: it is left out here, but stops the recorder.
        return False
    if not isinstance(found, Restored) or not is_same(found.state, plan.wanted):
        return False
    return dict(found.effects) == dict(effects)


def _newest(chain: Chain, before: Iterable[Recorded]) -> Iterator[Recorded]:
    for entry in reversed(chain.entries):
        yield from _read(entry.record().data)
    yield from before


def _newest_first(store: Holds, session: Session) -> Iterator[Recorded]:
    """Give the entries of the original as the recorder reads them, from the end on."""
    for row in reversed(range(len(session))):
        if not session.heads.is_gap(row):
            yield from _read(store.raw(session, row))


def _read(line: bytes) -> Iterator[Recorded]:
    """Give the entry of a line; one that the recorder cannot read it passes over."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        yield decoded(line)


def _effects(store: Holds, session: Session) -> Effects:
    """Give what is known of effects at the end of the file, on whatever branch."""
    own: RecordingSession = session.own
    known: dict[str, Effect] = {}
    for row in own.effects:
        for entry in _read(store.raw(session, row)):
            if isinstance(entry, EffectNoted):
                known[entry.key] = effect_noted(known.get(entry.key), entry)
            elif isinstance(entry, Snapshotted):
                known |= {each.key: each for each in entry.effects}
    return known


def _add(chain: Chain, entry: Recorded) -> None:
    chain.add(Entry(None, msgspec.to_builtins(entry), How.ADDED))


def _point(chain: Chain) -> str:
    return str(chain.entries[-1].value("id"))


def _mint(session: Session, plan: Plan) -> Callable[[], str]:
    return fresh_id(session, lambda: plan.fresh(8).hex())


def _header(location: str, session: Session, plan: Plan) -> Header:
    own: RecordingSession = session.own
    version = own.header.get("schema_version")
    continues = Continues(absolute(location), session.ids[plan.row])
    return Header(
        name_of_fork(session.id, plan.fresh),
        stamp(plan.time),
        # What is kept may have the shape of a later version.
        max(version, SCHEMA_VERSION) if type(version) is int else SCHEMA_VERSION,
        session.title,
        None if location == STDIN else continues,
    )


def _resumed(path: str) -> str:
    """Give the lines of a program that goes on from a recording."""
    return f"from tt_debugger import Recorder\nrecorder = Recorder.open({path!a})"


def _notes(effects: Effects, *, is_whole: bool) -> tuple[str, ...]:
    unknown = sum(each.status is Status.UNKNOWN for each in effects.values())
    notes: list[str] = []
    if is_whole:
        notes.append("it ends in a snapshot, so that the recorder knows all that it must")
    if unknown:
        what = counted(unknown, "effect")
        notes.append(f"of {what} nobody knows whether they happened: the recorder says so")
    return tuple(notes)
