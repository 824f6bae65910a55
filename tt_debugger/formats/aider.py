"""Aider: the Markdown history of its chats, several of them in one file.

A line `# aider chat started at TIME` begins a session, lines that begin with `#### ` are the
user's, those with `> ` tell what Aider itself did, and all else is the model's: so Aider reads the
file again too. There are no ids, and the times of the beginnings name no zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import msgspec

from tt_debugger.core.changes import Append, Change, Drop
from tt_debugger.core.findings import Code, finding
from tt_debugger.core.model import Head, Kind, SessionId, Usage
from tt_debugger.core.text import summary_line
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Place
from tt_debugger.formats.shared.transcript import (
    Beside,
    Entry,
    Piece,
    Told,
    Transcript,
    message_entry,
)
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.store import Match, Probe

_STARTED = b"# aider chat started at "
_COMMIT = re.compile(r"> Commit ([0-9a-f]{4,40})\b ?(.*)")
_REMOVED = re.compile(r"> Removed: ([0-9a-f]{4,40})\b")
_MODEL = re.compile(r"> (?:Main )?[Mm]odel: (\S+)(?: with .*)?$", re.MULTILINE)
_TOKENS = re.compile(r"> Tokens: (.+?)\.(?: Cost: \$([0-9.]+) message.*)?$", re.MULTILINE)
_COUNT = re.compile(r"([0-9.]+)([kM]?) (sent|cache write|cache hit|received)")
_ALONE = frozenset(("started", "commit"))
"""Kinds of lines of which each stands for itself."""
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}


class _Text(msgspec.Struct, frozen=True):
    """Lines that belong together: who wrote them, and where they stand."""

    kind: str
    lines: tuple[str, ...]
    place: Place


class Aider(TranscriptFile):
    """The chats in a history of Aider."""

    format: ClassVar[str] = "aider"
    about: ClassVar[str] = "chats of Aider, with the commits they name (Markdown)"
    verified: ClassVar[str] = "its published source; no agent was run"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a history by its first line; others quote such a line further down."""
        if probe.head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(_STARTED):
            return Match(95, "a line that says when an aider chat was started")
        return None

    def sessions(self) -> Sequence[SessionId]:
        """Give the chats by when they were started, in the order of the file."""
        self.look()
        return [SessionId(name) for name, _ in _chats(self._whole())]

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give one chat; what stands beside it in the file belongs to others."""
        chats = list(_chats(data))
        names = [name for name, _ in chats]
        own = names[-1] if wanted is None else str(wanted)
        if own not in names:
            raise CannotReadError(f"cannot read {self.location}: there is no chat {own}")
        pieces: list[Piece] = []
        for name, texts in chats:
            pieces += _pieces(texts) if name == own else [_another(texts)] if texts else []
        said = (each for each in pieces if isinstance(each, Entry))
        title = next((each.head.summary for each in said if each.head.name == "user"), None)
        told = finding(Code.BAD_UTF8, "the file holds bytes that are no UTF-8")
        return Transcript(
            id=own,
            pieces=pieces,
            size=len(data),
            start={"title": title, "commits": []},
            title=title,
            findings=() if _is_utf8(data) else (told,),
        )


def _chats(data: bytes) -> Iterator[tuple[str, list[_Text]]]:
    """Give each chat with its lines by who wrote them, called by when it was started.

    What stands before the first beginning is a chat of its own.
    """
    seen: dict[str, int] = {}
    chats: list[tuple[str, list[_Text]]] = []
    for text in _texts(data):
        if text.kind == "started" or not chats:
            start = _first(text).removeprefix(_STARTED.decode()).strip()
            name = start.replace(" ", "T").replace(":", "") if text.kind == "started" else "before"
            seen[name] = seen.get(name, 0) + 1
            again = f".{seen[name]}" if seen[name] > 1 else ""
            chats.append((f"{name}{again}", []))
        chats[-1][1].append(text)
    yield from chats or [("before", [])]


def _texts(data: bytes) -> Iterator[_Text]:
    """Give the lines of a file in runs of one kind; a blank line belongs to what is before it."""
    kind, lines, begin, number, offset = "", list[str](), 0, 1, 0
    for place, line in enumerate(_lines(data), 1):
        bare = line.removeprefix(BYTE_ORDER_MARK) if place == 1 else line
        own = _kind(bare) if bare.strip() else kind
        if kind and bare.strip() and (own != kind or own in _ALONE):
            yield _Text(kind, tuple(lines), Place(number, 1, begin, offset - begin))
            lines, begin, number = [], offset, place
        kind = own
        lines.append(bare.decode(errors="replace").rstrip("\r\n"))
        offset += len(line)
    if kind:
        yield _Text(kind, tuple(lines), Place(number, 1, begin, offset - begin))


def _lines(data: bytes) -> Iterator[bytes]:
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin) + 1 or len(data)
        yield data[begin:end]
        begin = end


def _first(text: _Text) -> str:
    """Give the first line that is not blank: blank ones may stand before it in the file."""
    return next(line for line in text.lines if line.strip())


def _kind(line: bytes) -> str:
    if line.startswith(_STARTED):
        return "started"
    if line.startswith(b"#### ") or line.rstrip() == b"####":
        return "user"
    if line.startswith(b"> ") or line.rstrip() == b">":
        return "commit" if _COMMIT.match(line.decode(errors="replace")) else "status"
    return "model"


def _pieces(texts: Iterable[_Text]) -> Iterator[Piece]:
    commits: list[str] = []
    for text in texts:
        match text.kind:
            case "started":
                yield Beside("started", text.place)
            case "user":
                said = "\n".join(line.removeprefix("####").strip() for line in text.lines)
                yield message_entry({"role": "user", "content": said.strip()}, text.place)
            case "commit":
                commit = _commit_in(text)
                commits.append(commit["hash"])
                yield _commit(text, commit)
            case "status":
                yield _status(text, _undone(text, commits))
            case _:
                said = "\n".join(text.lines).strip("\n")
                if said.strip():
                    yield message_entry({"role": "assistant", "content": said}, text.place)
                else:
                    yield Beside("blank", text.place)


def _commit_in(text: _Text) -> dict[str, str]:
    found = _COMMIT.match(_first(text))
    return {"hash": found[1], "message": found[2].strip()} if found else {"hash": ""}


def _commit(text: _Text, commit: dict[str, str]) -> Entry:
    return Entry(
        head=Head(Kind.COMMIT, None, "commit", summary_line(" ".join(commit.values()))),
        body={"commit": commit, "text": _unmarked(text)},
        told=Told(changes=(Append(("commits",), commit),)),
        place=text.place,
    )


def _undone(text: _Text, commits: list[str]) -> tuple[Change, ...]:
    """Take a commit that Aider says it has removed out of those that there are."""
    removed = [found[1] for found in map(_REMOVED.match, text.lines) if found]
    places = [place for place, commit in enumerate(commits) if commit in removed]
    for place in reversed(places):
        del commits[place]
    return tuple(Drop(("commits", place)) for place in reversed(places))


def _status(text: _Text, undone: tuple[Change, ...]) -> Entry:
    """Give what Aider said of itself: its model and what was used are facts of the state."""
    whole, said = "\n".join(line.rstrip() for line in text.lines), _unmarked(text)
    model = _MODEL.search(whole)
    return Entry(
        head=Head(Kind.CUSTOM, None, "aider", summary_line(said), usage=_usage(whole)),
        body={"text": said},
        told=Told(puts={"model": model[1]} if model else {}, changes=undone),
        place=text.place,
    )


def _unmarked(text: _Text) -> str:
    return "\n".join(line.removeprefix(">").strip() for line in text.lines).strip()


def _usage(status: str) -> Usage | None:
    found = _TOKENS.search(status)
    if found is None:
        return None
    counts = {what: _number(count, unit) for count, unit, what in _COUNT.findall(found[1])}
    sent, received = int(counts.get("sent", 0)), int(counts.get("received", 0))
    hit, written = int(counts.get("cache hit", 0)), int(counts.get("cache write", 0))
    return Usage(
        sent, received, hit, written, sent + received + hit + written, _number(found[2] or "", "")
    )


def _number(text: str, unit: str) -> float:
    try:
        return round(float(text) * _UNITS[unit], 10)
    except ValueError:
        return 0.0


def _another(texts: Sequence[_Text]) -> Beside:
    first, last = texts[0].place, texts[-1].place
    length = last.offset + last.length - first.offset
    return Beside("another chat", msgspec.structs.replace(first, length=length))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


STORE = Aider
