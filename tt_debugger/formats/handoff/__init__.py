"""Handoffs: Markdown that one session leaves to the next, with its next step and what blocks it.

A handoff is one checkpoint, whose state is its fields and its text. The checkpoint that it names
is linked to it; where that is not there, is no session or was written to since, a finding says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, ClassVar

from tt_debugger.core.changes import Snapshot, State
from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Head, Kind, Session, SessionId, iso_time
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.text import summary_line
from tt_debugger.errors import TtdbgError
from tt_debugger.formats.handoff.fields import LONGEST, document_of, names_in, opening_of
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Place, moment_of
from tt_debugger.formats.shared.transcript import Entry, Look, Transcript
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.storage.probe import probe as look_at
from tt_debugger.store import Match, Probe, Store

FORMAT = "handoff"
READ_AT_MOST = 32 << 20
"""Bytes of a checkpoint that is read to see when it was written to; of others the file tells."""
GRACE = 60.0
"""Seconds in which a session may end after it has written its handoff."""

_DAY = 86_400.0
_SUFFIXES = (".md", ".markdown")
_OTHERS = frozenset(("readme", "changelog", "contributing", "license"))
_CALLED = re.compile(r"hand[-_ ]?off|(?:session|agent)[-_ ]?state|progress", re.IGNORECASE)
_STRONG = frozenset(
    ("next_step", "blockers", "decisions", "completed_steps", "pending_steps", "checkpoint_path")
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
_NO_PATH = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|\\\\|//|[0-9a-f]{7,40}\Z")
"""Addresses, shares and commits: nothing that is looked for among the files of this machine."""


class HandoffRules:
    """What a handoff says is the state."""

    def start(self, session: Session) -> tuple[State, None]:
        """Give the state before the handoff: there is none."""
        return {}, None

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what the handoff says."""
        return Step((Snapshot(as_map(body)),), None)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: whoever goes on reads the text."""
        return Resumed(replay.state(row))


class Handoff(TranscriptFile):
    """A handoff."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = (
        "state and handoff files that agents write for the next session (Markdown)"
    )
    verified: ClassVar[str] = "hand-made files; there is no one form"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._stamps: tuple[Any, ...] = ()
        self._named: str | None = None
        """The checkpoint that was named when the file looked so."""
        self._read: tuple[bytes, dict[str, Any]] | None = None
        """The bytes that were read last, and what they say."""

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a handoff by the fields it names; a few of them stand in many a document."""
        name = PurePath(probe.name)
        if name.suffix.lower() not in _SUFFIXES or name.stem.lower() in _OTHERS:
            return None
        text = probe.head.removeprefix(BYTE_ORDER_MARK).decode(errors="replace")
        found, has_path = names_in(text)
        strong = found & _STRONG
        first = next((line for line in text.splitlines() if line.startswith("#")), "")
        is_called = bool(_CALLED.search(name.stem) or _CALLED.search(first))
        told = ", ".join(sorted(each.replace("_", " ") for each in strong))
        if len(strong) > 1 and (has_path or (is_called and "checkpoint_path" in strong)):
            return Match(80, f"Markdown that names a checkpoint: {told}")
        if is_called and "next_step" in strong and len(strong) > 1:
            return Match(70, f"Markdown that is called a handoff: {told}")
        if {"next_step", "blockers"} <= strong and len(strong) > 2:  # noqa: PLR2004 - a third one
            return Match(60, f"Markdown with the fields of a handoff: {told}")
        return None

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give the handoff."""
        bare = data.removeprefix(BYTE_ORDER_MARK)
        document = self._said(data)
        named: str | None = document["checkpoint_path"]
        written = _moment(document["written_at"])
        target = self._target(named or "")
        store = None if target is None else self._store_at(target[0])
        is_other = target is not None and store is None
        entry = Entry(
            head=Head(Kind.HANDOFF, None, "handoff", summary_line(opening_of(document))),
            body=document,
            time=written,
            place=Place(1, 1, 0, len(data)),
            findings=tuple(self._wrong(named, written, target, store)),
            subsessions=(named,) if named and not is_other else (),
        )
        told: list[Finding] = []
        if document["text"].encode() != bare:
            told.append(finding(Code.BAD_UTF8, "the file holds bytes that are no UTF-8"))
        if len(document["text"]) > LONGEST:
            what = f"fields are looked for in the first {LONGEST:,} characters alone"
            told.append(finding(Code.UNKNOWN_RECORD, what, severity=Severity.NOTE))
        return Transcript(
            id=PurePath(self.location).stem,
            pieces=[entry] if bare.strip() else [],
            size=len(data),
            title=document["title"],
            findings=tuple(told),
        )

    def rules(self, session: Session, *, uncompacted: bool = False) -> HandoffRules:  # pyright: ignore[reportIncompatibleMethodOverride] - its state is a document, not a talk
        """Give the rules: a handoff is all of its state."""
        return HandoffRules()

    def look(self) -> Look:
        """See the file, and the checkpoint it names: either makes it stale or not."""
        own = super().look()
        if own.stamps != self._stamps or not own.has_settled:
            self._stamps = own.stamps
            self._named = self._said(self._whole())["checkpoint_path"]
        target = self._target(self._named or "")
        stamp = _stamp(target[0]) if target else None
        return Look((*own.stamps, stamp), own.has_settled)

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the location of the checkpoint that the handoff names, None where there is none."""
        target = self._target(name)
        if target is None or self._store_at(target[0]) is None:
            return None
        path, ref = target
        return f"{path}#{ref}" if ref else str(path)

    def _said(self, data: bytes) -> dict[str, Any]:
        """Give what the bytes of a handoff say: to look at it and to read it ask for the same."""
        if self._read is None or self._read[0] != data:
            bare = data.removeprefix(BYTE_ORDER_MARK)
            self._read = data, document_of(bare.decode(errors="replace"))
        return self._read[1]

    def _wrong(
        self,
        named: str | None,
        written: float | None,
        target: tuple[Path, str] | None,
        store: type[Store] | None,
    ) -> Iterator[Finding]:
        """Say where the checkpoint is none, or has gone on since the handoff was written."""
        if not named or _NO_PATH.match(named):
            return
        if target is None or store is None:
            why = "is not there" if target is None else "is no session"
            if target is not None and self._is_own(target[0]):
                why = "is the handoff itself"
            yield finding(
                Code.NO_CHECKPOINT,
                f"the handoff names the checkpoint {named!r:.200}, which {why}",
                hint="whoever goes on from it has this text alone",
            )
            return
        own = self._file.status().st_mtime if written is None else written
        newest = _newest(target[0], store)
        if newest is not None and newest > own + GRACE:
            yield finding(
                Code.STALE_HANDOFF,
                f"the handoff is stale: it was written at {iso_time(own)}, and its session went on"
                f" until {iso_time(newest)}",
                hint="its next step may be done already; look at the end of the session",
            )

    def _store_at(self, path: Path) -> type[Store] | None:
        """Give the format of another session at a path, None where no format reads one there."""
        return None if self._is_own(path) else _format_of(path)

    def _is_own(self, path: Path) -> bool:
        try:
            return path.samefile(self.location)
        except (OSError, ValueError):
            return False

    def _target(self, named: str) -> tuple[Path, str] | None:
        """Give the path that is named, and the ref behind it, None where nothing is there."""
        if not named or _NO_PATH.match(named):
            return None
        before, _, ref = named.partition("#")
        for text, rest in ((named, ""), (before, ref)):
            try:
                path = Path(self.location).parent / Path(text).expanduser()
                if text and (path.is_file() or path.is_dir()):
                    return path, rest
            except (OSError, ValueError, RuntimeError):
                continue
        return None


def _format_of(path: Path) -> type[Store] | None:
    # The formats are not known before all their modules, of which this is one.
    from tt_debugger.formats import best_match

    try:
        claim = best_match(look_at(str(path)))
    except TtdbgError:
        return None
    return None if claim is None else claim[0]


def _newest(path: Path, store: type[Store]) -> float | None:
    """Give when a session was last written to: by its own records, else by its file."""
    stamp = _stamp(path)
    if stamp is None:
        return None
    if stamp[0] <= READ_AT_MOST:
        try:
            recorded = _recorded(str(path), store)
        except TtdbgError:
            recorded = None
        if recorded is not None:
            return recorded
    return stamp[1] / 1e9


def _recorded(location: str, store_type: type[Store]) -> float | None:
    """Give the time of the newest record of a session, None where none says one."""
    # Handoffs may name each other.
    if store_type.format == FORMAT:
        return None
    store = store_type.open(location)
    try:
        heads = store.load(store.sessions()[-1]).session.heads
        times = (heads.time(row) for row in range(len(heads)))
        return max((time for time in times if time is not None), default=None)
    finally:
        store.close()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _moment(text: Any) -> float | None:
    """Give the time that a handoff says; a day alone lasts until its end."""
    if not isinstance(text, str):
        return None
    moment = moment_of(text)
    return moment + _DAY - 1 if moment is not None and _DATE.match(text) else moment


STORE = Handoff
