"""Aider: the Markdown history of its chats, several of them in one file.

A line `# aider chat started at TIME` begins a session, lines that begin with `#### ` are the
user's, those with `> ` tell what Aider itself did, and all else is the model's: so Aider reads the
file again too. There are no ids, and the times of the beginnings name no zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
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
    Look,
    Piece,
    Told,
    Transcript,
    message_entry,
)
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.store import Match, Probe, Progress

_STARTED = b"# aider chat started at "
_STARTS = re.compile(rb"^" + re.escape(_STARTED), re.MULTILINE)
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


class _History(msgspec.Struct, frozen=True):
    """Where each chat of a file stands, in their order, called by when it was started."""

    chats: dict[str, Place]
    size: int
    is_utf8: bool


class Aider(TranscriptFile):
    """The chats in a history of Aider."""

    format: ClassVar[str] = "aider"
    about: ClassVar[str] = "chats of Aider, with the commits they name (Markdown)"
    verified: ClassVar[str] = "its published source; no agent was run"

    _known: tuple[Look, _History] | None = None
    """The chats of the file, and how it looked: to read each of them is to read it once."""

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a history by its first line; others quote such a line further down."""
        if probe.head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(_STARTED):
            return Match(95, "a line that says when an aider chat was started")
        return None

    def sessions(self) -> Sequence[SessionId]:
        """Give the chats by when they were started, in the order of the file."""
        return [SessionId(name) for name in self._history().chats]

    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read one chat, and no more of the file where that is known."""
        history = self._history()
        name = self._name(history, wanted)
        place = history.chats[name]
        return _transcript(history, name, self._file.read(place.offset, place.length))

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give one chat; what stands beside it in the file belongs to others."""
        history = _history_of(data)
        name = self._name(history, wanted)
        place = history.chats[name]
        return _transcript(history, name, data[place.offset : place.offset + place.length])

    def _history(self) -> _History:
        look = self.look()
        if self._known is not None:
            before, history = self._known
            if before.has_settled and before.stamps == look.stamps:
                return history
        history = _history_of(self._whole())
        self._known = look, history
        return history

    def _name(self, history: _History, wanted: SessionId | None) -> str:
        name = next(reversed(history.chats)) if wanted is None else str(wanted)
        if name not in history.chats:
            raise CannotReadError(f"cannot read {self.location}: there is no chat {name}")
        return name


def _history_of(data: bytes) -> _History:
    """Find the chats; what stands before the first beginning is a chat of its own."""
    bare = data.removeprefix(BYTE_ORDER_MARK)
    hidden = len(data) - len(bare)
    begins = [hidden + found.start() for found in _STARTS.finditer(bare)]
    first = len(data) - len(bare.lstrip())
    names = [_name_of(data, begin) for begin in begins]
    if begins[:1] == [first]:
        # Blank lines belong to what is before them, but there is nothing.
        begins[0] = 0
    else:
        begins.insert(0, 0)
        names.insert(0, "before")
    seen: dict[str, int] = {}
    chats: dict[str, Place] = {}
    line = 1
    for name, (begin, end) in zip(names, pairwise((*begins, len(data))), strict=True):
        own = name
        while own in chats:
            seen[name] = seen.get(name, 1) + 1
            own = f"{name}.{seen[name]}"
        chats[own] = Place(line, 1, begin, end - begin)
        line += data.count(b"\n", begin, end)
    return _History(chats, len(data), _is_utf8(data))


def _name_of(data: bytes, begin: int) -> str:
    """Give the name of the chat that a line begins: when it was started."""
    end = data.find(b"\n", begin)
    line = data[begin : len(data) if end < 0 else end].decode(errors="replace")
    return line.removeprefix(_STARTED.decode()).strip().replace(" ", "T").replace(":", "")


def _transcript(history: _History, name: str, data: bytes) -> Transcript:
    """Give the chat of a name, which is these bytes of the file."""
    place = history.chats[name]
    end = place.offset + place.length
    pieces: list[Piece] = list(_pieces(_texts(data, place)))
    said = (each for each in pieces if isinstance(each, Entry))
    title = next((each.head.summary for each in said if each.head.name == "user"), None)
    if place.offset:
        pieces.insert(0, Beside("other chats", Place(1, 1, 0, place.offset)))
    if end < history.size:
        line = place.line + data.count(b"\n")
        pieces.append(Beside("other chats", Place(line, 1, end, history.size - end)))
    told = finding(Code.BAD_UTF8, "the file holds bytes that are no UTF-8")
    return Transcript(
        id=name,
        pieces=pieces,
        size=history.size,
        start={"title": title, "commits": []},
        title=title,
        findings=() if history.is_utf8 else (told,),
    )


def _texts(data: bytes, chat: Place) -> Iterator[_Text]:
    """Give the lines of a chat in runs of one kind; a blank line belongs to what is before it."""
    kind, lines, begin, number, offset = "", list[str](), chat.offset, chat.line, chat.offset
    for place, line in enumerate(_lines(data), chat.line):
        bare = line.removeprefix(BYTE_ORDER_MARK) if offset == 0 else line
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


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


STORE = Aider
