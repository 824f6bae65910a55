"""Commits: what the bytes of one say, and what a log of many says of each."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import compress, count
from operator import attrgetter, eq, lt
from typing import Any

import msgspec

from tt_debugger.core.model import iso_time
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.git_commits.agents import crediting, is_agent
from tt_debugger.formats.git_commits.mentions import Mentions
from tt_debugger.formats.git_commits.trailers import trailers_of
from tt_debugger.formats.git_commits.transcripts import MENTIONED, sessions_in
from tt_debugger.formats.shared.git_fields import whole_fields

FIELDS = "%H%x00%P%x00%ct%x00%an%x00%ae%x00%B"
"""What is asked of each commit of a log."""
_COUNT = 6
_LONGEST = 1 << 18
"""Bytes of a message from which on its middle is not looked at."""
_LONGEST_NAME = 1000
_LONGEST_PARENTS = 24 * 41 * 65 - 1
"""Bytes of parents that count: whole hashes of either length, far more than any merge has."""
_SIGNED = re.compile(rb"([^<\n]*)<([^>\n]*)>(?: (-?[0-9]{1,18}))?")
# No more than these: some codecs of Python unpack, or execute what they read.
_ENCODING = re.compile(
    r"(?:utf-?8|us-ascii|latin-?1|iso-?8859-[0-9]{1,2}|(?:cp|windows-)12[0-9]{2}|koi8-[ru]|gbk"
    r"|gb18030|gb2312|big5|euc-(?:jp|kr)|shift[-_]jis|iso-2022-jp)",
    re.IGNORECASE,
)
_HASH = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_DIGITS = 19


class Signed(msgspec.Struct, frozen=True):
    """Who wrote or committed something, and when, in seconds since 1970."""

    name: str
    mail: str
    time: int

    @property
    def text(self) -> str:
        """Name and mail as git writes them."""
        return f"{self.name} <{self.mail}>"


class Record(msgspec.Struct, frozen=True):
    """What the bytes of a commit say; its hash is not among that."""

    tree: str
    parents: tuple[str, ...]
    author: Signed
    committer: Signed
    message: str

    @property
    def body(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "tree": self.tree,
            "parents": list(self.parents),
            "author": self.author.text,
            "authored": iso_time(self.author.time),
            "committer": self.committer.text,
            "time": iso_time(self.committer.time),
            "message": self.message,
            "trailers": trailers_of(self.message),
        }


class Commit(msgspec.Struct, frozen=True, gc=False):
    """What an index keeps of a commit; `parents` are hashes as they stand, with spaces between."""

    name: str
    parents: str
    time: int
    author: str
    subject: str
    by_agent: bool
    sessions: tuple[str, ...] = ()
    """What its message calls the sessions that made it."""

    @property
    def first(self) -> str:
        """The hash of its first parent, empty for none."""
        return self.parents.partition(" ")[0]


def commits_in(parts: Iterable[bytes]) -> Iterator[Commit]:
    """Give the commits of a log, whose answer comes in parts."""
    for fields in whole_fields(parts, _COUNT, _LONGEST):
        yield from _commits(*(fields[place::_COUNT] for place in range(_COUNT)))


def commit_of(name: str, data: bytes) -> Commit:
    """Give what an index keeps of a commit, by its bytes."""
    record = record_of(data)
    author, mail, message = record.author.name, record.author.mail, record.message
    parents = " ".join(record.parents)
    time = str(record.committer.time)
    said = (each.encode(errors="replace") for each in (name, parents, time, author, mail, message))
    return next(_commits(*([each] for each in said)))


def _commits(
    names: Sequence[bytes],
    parents: Sequence[bytes],
    times: Sequence[bytes],
    authors: Sequence[bytes],
    mails: Sequence[bytes],
    messages: Sequence[bytes],
) -> Iterator[Commit]:
    """Give commits by columns: there are very many, and nearly all of them say little."""
    own = list(map(bytes.decode, names))
    people = [
        _who(author[:_LONGEST_NAME], mail[:_LONGEST_NAME])
        for author, mail in zip(authors, mails, strict=True)
    ]
    lowered = Mentions(list(map(bytes.lower, messages)))
    by_agent = [is_agent for _, is_agent in people]
    for place in crediting(lowered):
        by_agent[place] = True
    sessions: list[tuple[str, ...]] = [()] * len(own)
    for place in lowered.of(MENTIONED):
        sessions[place] = sessions_in(messages[place], own[place])
    return map(
        Commit,
        own,
        (each[:_LONGEST_PARENTS].decode() for each in parents),
        map(_seconds, times),
        [who for who, _ in people],
        map(summary_line, map(_subject, messages)),
        by_agent,
        sessions,
    )


def _subject(message: bytes) -> str:
    """Give the first paragraph."""
    return message.lstrip(b"\n").partition(b"\n\n")[0].decode(errors="replace")


@lru_cache(10_000)
def _who(author: bytes, mail: bytes) -> tuple[str, bool]:
    """Give the name of an author, and whether that is an agent: few people write all commits."""
    name = author.decode(errors="replace")
    return name, is_agent(name, mail.decode(errors="replace"))


def record_of(data: bytes) -> Record:
    """Read the bytes of a commit; what is not there is empty, and what is odd is replaced."""
    head, _, message = data.partition(b"\n\n")
    fields: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        # A line that begins with a space goes on with a signature.
        key, _, value = line.partition(b" ")
        fields.setdefault(key, []).append(value)
    named = fields.get(b"encoding", [b"utf-8"])[0].decode(errors="replace")
    encoding = named if _ENCODING.fullmatch(named) else "utf-8"
    return Record(
        _hash(fields.get(b"tree", [b""])[0]),
        tuple(filter(None, map(_hash, fields.get(b"parent", [])))),
        _signed(fields.get(b"author", [b""])[0], encoding),
        _signed(fields.get(b"committer", [b""])[0], encoding),
        _decoded(message, encoding),
    )


def in_order(commits: Iterable[Commit]) -> tuple[list[Commit], array[int]]:
    """Give commits parents first and else the oldest first, with the row of each first parent.

    The order depends on the commits alone: one that is newer than all others is the last. Those
    that are among their own ancestors, as no commits are, are left out with all that follow them.
    """
    every = list(commits)
    # A log tells the newest first: what is nearly sorted is sorted soon.
    every.reverse()
    every.sort(key=attrgetter("time"))
    rows = {each.name: row for row, each in enumerate(every)}
    firsts = _firsts(every, rows)
    if not _is_in_order(every, firsts, rows):
        every = _sorted(every, rows)
        firsts = _firsts(every, {each.name: row for row, each in enumerate(every)})
    return every, array("q", firsts)


def _firsts(every: Sequence[Commit], rows: dict[str, int]) -> list[int]:
    """Give the rows of the first parents."""
    # Nearly all have one parent, whose hash is then the whole of `parents`.
    found = list(map(rows.get, map(attrgetter("parents"), every)))
    return [
        rows.get(each.first, NO_ROW) if row is None else row
        for row, each in zip(found, every, strict=True)
    ]


def _is_in_order(every: Sequence[Commit], firsts: Sequence[int], rows: dict[str, int]) -> bool:
    """Tell whether commits sorted by time are in the only order there is."""
    if not all(map(lt, firsts, count())):
        return False
    times = list(map(attrgetter("time"), every))
    # At one time as the one before it, and after it only if that is its parent.
    together = compress(count(1), map(eq, times, times[1:]))
    if any(firsts[row] != row - 1 for row in together):
        return False
    merges = ((row, each) for row, each in enumerate(every) if " " in each.parents)
    return all(rows.get(name, -1) < row for row, each in merges for name in each.parents.split())


def _sorted(every: Sequence[Commit], rows: dict[str, int]) -> list[Commit]:
    """Give commits in order where times alone do not tell it."""
    waits_for = [0] * len(every)
    children: dict[int, list[int]] = {}
    for row, each in enumerate(every):
        for name in dict.fromkeys(each.parents.split()):
            parent = rows.get(name)
            if parent is not None:
                waits_for[row] += 1
                children.setdefault(parent, []).append(row)
    ready = [(each.time, each.name, row) for row, each in enumerate(every) if not waits_for[row]]
    heapify(ready)
    found: list[Commit] = []
    while ready:
        _, _, row = heappop(ready)
        found.append(every[row])
        for child in children.get(row, ()):
            waits_for[child] -= 1
            if not waits_for[child]:
                heappush(ready, (every[child].time, every[child].name, child))
    return found


def _signed(line: bytes, encoding: str) -> Signed:
    match = _SIGNED.match(line)
    if match is None:
        return Signed(_decoded(line, encoding), "", 0)
    name, mail = (_decoded(match[place], encoding).strip() for place in (1, 2))
    return Signed(name, mail, _seconds(match[3] or b"0"))


def _hash(value: bytes) -> str:
    return value.decode() if _HASH.fullmatch(value) else ""


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return data.decode(errors="replace")


def _seconds(digits: bytes) -> int:
    """Give a time; one that no clock will show is 0, as git takes it."""
    try:
        return int(digits) if len(digits) < _MOST_DIGITS else 0
    except ValueError:
        return 0
