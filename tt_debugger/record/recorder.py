"""Recorder: checkpoints of an agent of one's own, step by step, in whatever keeps them.

What a step did to the state is written as changes, so a step costs what it changed and not what
the state is. A state is written whole at the start, and again when what was changed since weighs
more than the state itself: restoring it then never costs much more than reading it once.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Self, Unpack

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.fork.minting import stamp, uuid4
from tt_debugger.core.json import as_list
from tt_debugger.core.model import Usage
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    MESSAGES,
    MOST_DROPPED,
    SCHEMA_VERSION,
    BranchSummarised,
    Changed,
    Compacted,
    EffectNoted,
    Entry,
    Failure,
    Forked,
    HandedOff,
    Header,
    Labelled,
    Phase,
    Recovered,
    Said,
    changes_of,
)
from tt_debugger.core.recording.restoring import Broken, Restored, restored
from tt_debugger.errors import (
    CannotReadError,
    NewerStateError,
    ReadOnlyError,
    TtdbgError,
    UnsupportedError,
    UsageError,
)
from tt_debugger.record.backends import has_several, opened
from tt_debugger.record.backends.thinning import Thins
from tt_debugger.record.branch import Branch
from tt_debugger.record.checking import must_be_readable
from tt_debugger.record.journal import Journal
from tt_debugger.record.merging import Update, fields_that_differ, merged
from tt_debugger.record.migrating import migrated
from tt_debugger.record.models import json_of, update_json
from tt_debugger.record.policies import EveryStep
from tt_debugger.record.retention import Retention, kept_entries
from tt_debugger.record.settings import (
    Schema,
    Settings,
    StepSettings,
    options_of,
    schema_of,
)
from tt_debugger.record.step import About, Step

if TYPE_CHECKING:
    from tt_debugger.core.diff.side_by_side import SideBySide
    from tt_debugger.core.model import Checkpoint
    from tt_debugger.record.questions import Questions
    from tt_debugger.record.resuming import Resumed
    from tt_debugger.store import Records


class Recorder:
    """One branch of a session that is being recorded; its methods may be called from any thread.

    It is a context manager: at its end all is written and the log is closed.
    """

    def __init__(
        self,
        journal: Journal,
        schema: Schema,
        clock: Callable[[], float],
        fresh: Callable[[int], bytes],
        there: Restored | None = None,
    ) -> None:
        self._journal = journal
        self._schema = schema
        self._clock = clock
        self._fresh = fresh
        self._branch = Branch(journal, schema.version, clock, fresh, there)
        self._refusal: str | None = None
        self._questions: Questions | None = None

    @classmethod
    def open(cls, location: str, **settings: Unpack[Settings]) -> Self:
        """Open a session to go on with it, or begin one where there is none.

        Where it is gone on with, the state is the last one recorded, and `state` is not looked
        at. Raises UsageError, CannotReadError, CannotWriteError.
        """
        options, schema = options_of(settings), schema_of(settings)
        clock = settings.get("clock", time.time)
        records = opened(str(location), options)
        journal = Journal(records, settings.get("when", EveryStep()), clock)
        try:
            recorder = cls(journal, schema, clock, settings.get("fresh", os.urandom))
            named = options.session if has_several(location) else settings.get("session")
            recorder._go_on(records, settings, named)
        except BaseException:
            # It may have gone on in another log meanwhile.
            journal.records.close()
            raise
        return recorder

    # What there is

    @property
    def location(self) -> str:
        """What `ttdbg open` shows the session by."""
        return self._journal.records.location

    @property
    def session(self) -> str:
        """The id of the session."""
        header = self._journal.records.header
        return "" if header is None else header.session_id

    @property
    def durability(self) -> str:
        """What is promised of a step that was written, in a sentence."""
        return self._journal.records.durability

    @property
    def leaf(self) -> str:
        """The id of the last entry of the branch."""
        return self._branch.leaf or ""

    @property
    def state(self) -> Any:
        """The state now, in the type of its model: a copy, to do with as one likes."""
        return self._schema.model.from_json(self._branch.state)

    @property
    def recorded_state(self) -> State:
        """The state now, as JSON has it; shared, never to be changed."""
        return self._branch.state

    @property
    def read_only(self) -> str | None:
        """Why nothing can be recorded, None where it can."""
        return self._refusal

    @property
    def effects(self) -> Mapping[str, Effect]:
        """What is known of each effect of the session, by its key, on whatever branch it was."""
        return self._journal.effects

    @property
    def unsaved(self) -> tuple[Entry, ...]:
        """The entries that are not written yet, in their order."""
        return self._journal.waiting

    @property
    def failure(self) -> TtdbgError | None:
        """Why writing in the background failed last; None where it has worked since."""
        return self._journal.failure

    # What is recorded

    def step(self, name: str = "", **more: Unpack[StepSettings]) -> Step:
        """Give the step that an agent is about to take, to be used in a `with` block."""
        return Step(self, About(name, **more))

    def record(
        self, fields: Mapping[str, Any], name: str = "", **more: Unpack[StepSettings]
    ) -> str:
        """Record a step that is over already: what it gives for fields of the state, merged.

        Gives the id of its entry. Raises CannotWriteError; the step counts all the same then, and
        is kept until it can be written (see `unsaved`).
        """
        with self.step(name, **more) as step:
            step.update(fields)
        return self.leaf

    def save(self, state: Any, name: str = "", **more: Unpack[StepSettings]) -> str:
        """Record that the state is this one now, as far as it differs. Gives the entry's id."""
        with self.step(name, **more) as step:
            step.save(state)
        return self.leaf

    def message(self, message: Any, *, usage: Usage | None = None) -> str:
        """Record a message, added to the state's messages. Gives the id of its entry.

        One that has the id of a message that is there is not added again.
        """
        told = update_json(self._schema.model, {MESSAGES: [message]})[MESSAGES][0]
        with self._writing():
            changes = self._changes_of([{MESSAGES: [told]}])
            entry = Said(**self._branch.head(About(usage=usage)), message=told)
            if changes != changes_of(entry):
                entry = Changed(**self._branch.head(About(usage=usage)), changes=changes)
            return self._branch.put(entry)

    def compact(self, message: Any, *, first: int = 0, keep_last: int = 0) -> str:
        """Record that messages gave way to one that sums them up. Gives the id of the entry.

        Those from `first` on, but for the last ones of them all. What they said stays in the log.
        """
        told = update_json(self._schema.model, {MESSAGES: [message]})[MESSAGES][0]
        with self._writing():
            messages = as_list(self._branch.state.get(MESSAGES))
            count = len(messages) - keep_last - first
            if count < 1 or first < 0 or keep_last < 0:
                raise UsageError(
                    f"there is nothing to compact: {len(messages)} messages, of which the first "
                    f"{first} and the last {keep_last} stay",
                    "compact when there are more messages",
                )
            replaces = self._branch.origins.between(first, first + count)
            return self._branch.put(
                Compacted(
                    **self._branch.head(About()),
                    replaces=replaces,
                    index=first,
                    count=count,
                    message=told,
                )
            )

    def summarise_branch(self, ref: str, message: Any) -> str:
        """Record what came of another branch, as a message. Gives the id of the entry."""
        told = update_json(self._schema.model, {MESSAGES: [message]})[MESSAGES][0]
        branch = self.questions.id_of(ref)
        with self._writing():
            if changes := self._changes_of([{MESSAGES: []}]):
                # There is no list yet that it could be added to.
                self._branch.put(Changed(**self._branch.head(About()), changes=changes))
            return self._branch.put(
                BranchSummarised(**self._branch.head(About()), branch=branch, message=told)
            )

    def label(self, label: str | None, ref: str | None = None) -> str:
        """Give a checkpoint a name, or take it away again; the last one where none is named."""
        target = self.leaf if ref is None else self.questions.id_of(ref)
        with self._writing():
            return self._branch.put(
                Labelled(**self._branch.head(About()), target=target, label=label)
            )

    def settle(self, key: str, *, done: bool, result: Any = None) -> Effect:
        """Say of an effect whether it happened; for who has looked. Gives what is known now."""
        if key not in self.effects:
            raise UsageError(f"there is no effect {key!r}", "see `recorder.effects`")
        about = About(tool=self.effects[key].tool, effect_key=key)
        self.note_effect(about, "done" if done else "not_done", result=result)
        return self.effects[key]

    def fork(self, ref: str, note: str | None = None) -> Self:
        """Give a recorder of a new branch that goes on from a checkpoint; the log is shared.

        Nothing is copied: the branch begins with an entry that names the checkpoint.
        """
        point = self.questions.id_of(ref)
        with self._writing():
            self._journal.flush()
            there = restored(self._journal.records.newest_first(), point)
            if not isinstance(there, Restored):
                raise _broken(self.location, there)
            twin = type(self)(self._journal, self._schema, self._clock, self._fresh, there)
            twin.begin_branch(there, note)
            return twin

    def handoff(
        self,
        path: str | os.PathLike[str],
        *,
        next_step: str | None = None,
        blockers: Sequence[str] = (),
        decisions: Sequence[str] = (),
    ) -> str:
        """Leave a handoff to the next session: Markdown, and the checkpoint that it names.

        The text is in the log, with the state that it speaks of, before it is a file; `resume`
        writes the file anew where it is older. Gives the id of the checkpoint. Raises
        CannotWriteError.
        """
        # Who leaves none need not import what reads and writes them.
        from tt_debugger.record.handing_off import Facts, composed, state_digest
        from tt_debugger.record.resuming import write_handoff

        place = FilePath(path).absolute()
        with self._writing():
            head = self._branch.head(About())
            header = self._journal.records.header
            text = composed(
                Facts(
                    session=self.session,
                    location=self.location,
                    checkpoint=head["id"],
                    digest=state_digest(self._branch.state),
                    time=head["time"],
                    next_step=next_step,
                    blockers=tuple(blockers),
                    decisions=tuple(decisions),
                    effects=tuple(
                        each for each in self.effects.values() if each.status is not Status.DONE
                    ),
                    title=None if header is None else header.title,
                )
            )
            self._branch.put(
                HandedOff(
                    **head,
                    path=str(place),
                    text=text,
                    digest=sha256(text.encode()).hexdigest(),
                    next_step=next_step,
                    blockers=tuple(blockers),
                    decisions=tuple(decisions),
                )
            )
            write_handoff(place, text)
            return head["id"]

    @classmethod
    def resume(cls, path: str | os.PathLike[str], **settings: Unpack[Settings]) -> Resumed:
        """Open the session that a handoff was left by, and give what to go on with.

        Raises CannotReadError, UsageError for a text that is no handoff, and what opening raises.
        """
        from tt_debugger.record.resuming import handoff_at, log_of, resumed

        place = FilePath(path).absolute()
        text, handoff = handoff_at(place)
        location, session = log_of(handoff, place)
        recorder = cls.open(location, **{**session, **settings})
        try:
            return resumed(recorder, place, text, handoff)
        except BaseException:
            recorder.close()
            raise

    def prune(self, retention: Retention) -> int:
        """Forget checkpoints, but for those that are to be kept; give how many went.

        What is known of effects stays known. Raises UnsupportedError where the log cannot forget.
        """
        with self._writing():
            self._journal.flush()
            records = self._journal.records
            if not isinstance(records, Thins):
                raise UnsupportedError(
                    f"{records.location} only grows: nothing can be taken out of it",
                    "record to a database, or to a new file from time to time",
                )
            entries = [*records.newest_first()][::-1]
            return records.thin(kept_entries(retention, entries))

    def entries_from_end(self) -> Iterator[Entry]:
        """Give the entries of the log, the last one first, all branches."""
        with self._journal.lock:
            self._journal.flush()
            return self._journal.records.newest_first()

    def flush(self) -> None:
        """Write all that is not written yet. Raises CannotWriteError."""
        self._journal.flush()

    def close(self) -> None:
        """Write all that is not written yet, and let go of the log. Raises CannotWriteError."""
        with self._journal.lock:
            if self._questions is not None:
                self._questions.close()
                self._questions = None
            try:
                if self._refusal is None:
                    self._branch.end()
            finally:
                self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What is asked

    @property
    def questions(self) -> Questions:
        """What answers questions about the past, with what is not written yet."""
        from tt_debugger.record.questions import Questions

        with self._journal.lock:
            self._journal.flush()
            location = self.location
            asked = self._questions
            if asked is None or asked.location != location:
                # The log may have gone on in another file.
                if asked is not None:
                    asked.close()
                self._questions = asked = Questions(location)
            return asked

    def history(self) -> list[Checkpoint]:
        """Give the checkpoints of the session in the order of their writing, all branches."""
        return self.questions.history()

    def inspect(self, point: str | datetime) -> State:
        """Give the state at a ref, or as it was at a time; as JSON has it, to be read only."""
        return self.questions.inspect(point)

    def diff(self, old: str | datetime, new: str | datetime) -> SideBySide:
        """Compare the states and paths at two points, as `ttdbg diff` does."""
        return self.questions.diff(old, new)

    def replay(
        self, first: str | datetime, last: str | datetime
    ) -> Iterator[tuple[Checkpoint, tuple[Change, ...]]]:
        """Give each checkpoint from one to a later one on its path, with what it changed."""
        return self.questions.replay(first, last)

    # What steps say

    def alone(self) -> threading.RLock:
        """Give the lock under which nobody else records. Raises ReadOnlyError."""
        return self._writing()

    def as_json(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give an update as JSON has it. Raises UsageError for what JSON has no form for."""
        return update_json(self._schema.model, fields)

    def fields_that_differ(self, base: State, state: Any) -> Mapping[str, Any]:
        """Give the fields of a state that are other than before, each to be put in its place."""
        model = self._schema.model
        return fields_that_differ(base, model.to_json(state), model.keys)

    def note_step(
        self,
        about: About,
        updates: Sequence[Update],
        *,
        failure: Failure | None = None,
    ) -> None:
        """Record a step that has ended, with what it changed."""
        with self._writing():
            changes = self._changes_of(updates)
            self._branch.put(Changed(**self._branch.head(about, failure), changes=changes))

    def note_effect(
        self,
        about: About,
        phase: Phase,
        *,
        result: Any = None,
        input_hash: str | None = None,
        updates: Sequence[Update] = (),
    ) -> None:
        """Record how far an effect came; it is written at once."""
        told = None if result is None else _told(result)
        with self._writing():
            self._branch.put(
                EffectNoted(
                    **self._branch.head(msgspec.structs.replace(about, event="effect")),
                    key=about.effect_key or "",
                    phase=phase,
                    input_hash=input_hash,
                    result=told,
                    changes=self._changes_of(updates),
                )
            )

    # How it is done

    def begin_branch(self, there: Restored, note: str | None) -> None:
        """Record that a branch begins where this recorder stands, and in whose version."""
        self._branch.put(Forked(**self._branch.head(About()), note=note))
        self._migrate(there)

    def _go_on(self, records: Records, settings: Settings, named: str | None) -> None:
        """Take up what stands in the log, or begin it."""
        header = records.header
        if header is not None and header.schema_version > SCHEMA_VERSION:
            self._refusal = (
                f"{records.location} is written in version {header.schema_version} of the format; "
                f"this ttdbg knows versions up to {SCHEMA_VERSION}"
            )
            return
        if header is None:
            # A file is the session itself, whatever it is called.
            session = named or uuid4(self._fresh)
            title = settings.get("title")
            header = Header(session, stamp(self._clock()), title=title)
            must_be_readable(header)
            records.begin(header)
        there = restored(records.newest_first())
        if isinstance(there, Broken):
            raise _broken(records.location, there)
        if there is None:
            self._begin(settings)
            self._journal.flush()
            return
        self._branch.take_up(there)
        self._journal.take_up(there.leaf, there.effects)
        if there.version > self._schema.version:
            self._refusal = (
                f"the states in {records.location} have version {there.version} of their schema; "
                f"this code knows versions up to {self._schema.version}"
            )
            return
        dropped = getattr(records, "dropped", b"")
        if dropped:
            digest = sha256(dropped).hexdigest()
            self._branch.put(
                Recovered(
                    **self._branch.head(About()),
                    dropped=len(dropped),
                    digest=digest,
                    data=dropped[:MOST_DROPPED],
                )
            )
        self._migrate(there)

    def _begin(self, settings: Settings) -> None:
        model = self._schema.model
        state = settings.get("state")
        given = state is not None and not isinstance(state, type)
        begin = model.to_json(state) if given else model.defaults() or {}
        self._branch.put_whole(begin, "start")

    def _migrate(self, there: Restored) -> None:
        """Bring the state to the version of the code, where it is older."""
        if there.version == self._schema.version:
            return
        try:
            state, migration = migrated(
                there.state,
                there.version,
                self._schema.version,
                self._schema.migrations,
                self._schema.model.defaults(),
            )
        except NewerStateError as error:
            self._refusal = error.message
            return
        self._branch.put_whole(state, "migration", migration)

    def _changes_of(self, updates: Sequence[Update]) -> tuple[Change, ...]:
        return merged(self._branch.state, updates, self._schema.reducers)

    def _writing(self) -> threading.RLock:
        """Let nobody else record meanwhile. Raises ReadOnlyError."""
        if self._refusal is not None:
            raise ReadOnlyError(
                f"nothing can be recorded: {self._refusal}",
                "update the code that records, or record to another place",
            )
        return self._journal.lock


def _told(result: Any) -> Any:
    """Give the result of an effect as JSON has it, or what it was where JSON has no form for it.

    The effect has happened: that must be recorded, whatever it gave.
    """
    try:
        return json_of(result)
    except UsageError:
        return {"$opaque": f"{type(result).__module__}.{type(result).__qualname__}"}


def _broken(location: str, there: Broken | None) -> CannotReadError:
    missing = "" if there is None or there.missing is None else f": {there.missing} is missing"
    if there is not None and there.damage is not None:
        return CannotReadError(
            f"no state can be made of {location}: {there.damage}",
            f"see `ttdbg doctor {location}`",
        )
    return CannotReadError(
        f"no state can be made of {location}{missing}",
        f"see `ttdbg doctor {location}`",
    )
