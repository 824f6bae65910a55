"""The listing: sessions in one line each, put in order, and found again by a few letters."""

from __future__ import annotations

import enum
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from tt_debugger.core.model import Kind, Role, Session, Usage
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import common_start

Key = tuple[str, int]
"""What an entry is known by: its location, and its place among those there."""
ALIKE = 75
"""How much of a word must be in a text, in percent, where it is not there letter for letter."""
SHORTEST_ALIKE = 4
"""Letters that a word needs before one that is only alike is good enough."""
SHORT_ID = 8
"""Letters of an id that are shown at least."""

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_SPOKEN = frozenset((Kind.MESSAGE, Kind.SUPER_STEP))
"""What the words of a user stand in."""
_TIME = re.compile(r"\A\d{4}-\d\d-\d\dT[\dZ-]+_")


class Facts(msgspec.Struct, frozen=True):
    """What the index of a session tells at a glance. Times are seconds since 1970 or None."""

    title: str | None = None
    cwd: str = ""
    """The folder in which the agent worked."""
    first_words: str = ""
    """The beginning of the user's first message."""
    began: float | None = None
    ended: float | None = None
    checkpoints: int = 0
    branches: int = 0
    errors: int = 0
    compactions: int = 0
    findings: int = 0
    tokens: int = 0
    cost: float = 0.0
    models: tuple[str, ...] = ()
    id: str = ""
    forked_from: str = ""
    """The id or the path of the session that this one was forked from, as it says itself."""
    openings: tuple[str, ...] = ()
    """Digests of how it began, of which a copy has at least one too."""
    started: tuple[str, ...] = ()
    """The locations of the sessions that it started."""
    made: tuple[str, ...] | None = None
    """Words that its index says and its file does not, None where that is not known."""

    @property
    def project(self) -> str:
        """The last part of the folder in which the agent worked."""
        return last_part(self.cwd)


class Entry(msgspec.Struct, frozen=True):
    """One session of a listing. `facts` are None until its index was read.

    `session` is its id where the location holds several, None for the only one; `place` counts
    those of one location, the newest first. `failed` says why it cannot be read. `is_kept` says
    that its agent keeps it, so that its id alone names it.
    """

    location: str
    format: str
    size: int
    modified: float
    session: str | None = None
    place: int = 0
    facts: Facts | None = None
    failed: str | None = None
    is_kept: bool = False

    @property
    def key(self) -> Key:
        """What stays the same while more becomes known."""
        return self.location, self.place

    @property
    def version(self) -> tuple[Key, int, float]:
        """What is another when the file changed."""
        return self.key, self.size, self.modified

    @property
    def name(self) -> str:
        """The name of the file, with the session's id where there are several."""
        file = last_part(self.location)
        return file if self.session is None else f"{file}#{self.session}"

    @property
    def title(self) -> str:
        """The title, else how the user began, else the name of the file."""
        facts = self.facts
        return (facts and (facts.title or facts.first_words)) or self.name

    @property
    def id(self) -> str:
        """The id of the session; until its index was read, what the name of its file says."""
        facts = self.facts
        return (facts.id if facts else self.session) or named_id(self.location)

    def ref(self, short: Mapping[str, str]) -> str:
        """Give what opens it again: a short id if its agent keeps it, else its location.

        Of the ids that are known `short` has what is enough of them.
        """
        if not self.is_kept:
            return self.location if self.session is None else f"{self.location}#{self.scope}"
        # An id that no name of a file told may have a twin among files that were not read.
        own = self.session or self.id
        return quoted(short.get(own, own))

    @property
    def scope(self) -> str:
        """What stands before a point in its location: its id where there are several."""
        return "" if self.session is None else f"{quoted(self.session)}:"

    @property
    def cwd(self) -> str:
        """The folder in which the agent worked, empty where it is not known."""
        return self.facts.cwd if self.facts else ""

    @property
    def project(self) -> str:
        """The project, empty where it is not known."""
        return self.facts.project if self.facts else ""

    @property
    def time(self) -> float:
        """The time of the last checkpoint, else when the file was written."""
        ended = self.facts.ended if self.facts else None
        return self.modified if ended is None else ended


def last_part(path: str) -> str:
    """Give the last part of a path, whichever system wrote it."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def named_id(path: str) -> str:
    """Give the id that the name of a session's file says: a UUID at its end, or what agents write.

    That is all of the name, or what follows its time.
    """
    stem = last_part(path).partition(".jsonl")[0].removesuffix(".json").removesuffix(".ndjson")
    found = _UUID.search(stem)
    return found[0] if found else _TIME.sub("", stem)


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Give the shortest beginning of each id that no other one has, of at least some letters."""
    in_order = sorted(set(ids))
    short: dict[str, str] = {}
    for place, name in enumerate(in_order):
        others = (*in_order[max(place - 1, 0) : place], *in_order[place + 1 : place + 2])
        needed = max((common_start(name, other) + 1 for other in others), default=1)
        short[name] = name[: max(needed, SHORT_ID)]
    return short


def facts_of(
    session: Session, started: Iterable[str] = (), made: tuple[str, ...] | None = None
) -> Facts:
    """Give the facts of a session, in one walk over its index.

    `started` are the locations of the sessions that it started, `made` the words that only the
    index says.
    """
    began = ended = asked = None
    first_words = first_answer = ""
    errors = compactions = 0
    used = Usage()
    models: dict[str, None] = {}
    for row in range(len(session)):
        head = session.heads[row]
        if head.time is not None:
            began = head.time if began is None else min(began, head.time)
            ended = head.time if ended is None else max(ended, head.time)
        if not first_words and head.kind in _SPOKEN and head.role is Role.USER:
            first_words, asked = head.summary, head.time
        if first_words and not first_answer and head.role is Role.ASSISTANT:
            first_answer = f"{head.name} {head.summary}".strip()
        if head.kind is Kind.MODEL_CHANGE and head.summary:
            models[head.summary] = None
        if head.usage is not None:
            used += head.usage
        compactions += head.kind is Kind.COMPACTION
        errors += head.failed
    return Facts(
        session.title,
        session.cwd or "",
        first_words,
        began,
        ended,
        len(session),
        len(session.tree.leaves()),
        errors,
        compactions,
        len(session.findings),
        used.total or used.context,
        used.cost,
        tuple(models),
        session.id,
        session.forked_from or "",
        tuple(_openings(first_words, asked, first_answer)),
        tuple(started),
        made,
    )


def _openings(question: str, asked: float | None, answer: str) -> Iterator[str]:
    """Give digests of the first question with its time, and with its answer.

    Some agents give what they copy another time, and an answer may be cut where it is copied.
    """
    for said in (answer, "" if asked is None else f"{asked:.3f}"):
        if question and said:
            text = f"{question}\0{said}".encode(errors="replace")
            yield hashlib.sha256(text).hexdigest()[:16]


class Sort(enum.StrEnum):
    """What a listing is ordered by."""

    NEWEST = "newest"
    NAME = "name"
    PROJECT = "project"
    CHECKPOINTS = "checkpoints"
    TOKENS = "tokens"
    COST = "cost"
    SIZE = "size"
    BRANCHES = "branches"
    ERRORS = "errors"
    FINDINGS = "findings"
    FORMAT = "agent"

    @property
    def is_rising(self) -> bool:
        """Whether the smallest comes first: so it is for words, while numbers begin big."""
        return self in {Sort.NAME, Sort.PROJECT, Sort.FORMAT}


def ordered(entries: Iterable[Entry], sort: Sort, *, reverse: bool = False) -> list[Entry]:
    """Give entries in order, of equal ones the newest first; what is not known comes last."""
    newest_first = sorted(entries, key=_by_time)
    values = [_sort_value(each, sort) for each in newest_first]
    known = [place for place, value in enumerate(values) if value is not None]
    # A reversed sort is as stable as another, so equal ones stay as they were.
    known.sort(key=lambda place: values[place], reverse=sort.is_rising is reverse)  # pyright: ignore[reportArgumentType, reportCallIssue]
    unknown = [place for place, value in enumerate(values) if value is None]
    return [newest_first[place] for place in (*known, *unknown)]


def _by_time(entry: Entry) -> tuple[float, str, int]:
    return -entry.time, entry.location, entry.place


def _sort_value(entry: Entry, sort: Sort) -> float | str | None:
    """Give what an entry is ordered by, None where it is not known."""
    facts = entry.facts
    match sort:
        case Sort.NEWEST:
            return entry.time
        case Sort.SIZE:
            return entry.size
        case Sort.FORMAT:
            return entry.format
        case Sort.NAME:
            return entry.title.casefold()
        case Sort.PROJECT:
            return entry.project.casefold() or None
        case _:
            return None if facts is None else getattr(facts, sort.value)


def filtered(entries: Sequence[Entry], query: str) -> list[Entry]:
    """Give the entries that a query finds: those with all its words first, in their order.

    Behind them come those with words that are alike, the most alike first. The words may stand
    in project, title, file name and agent; case does not matter.
    """
    words = query.casefold().split()
    if not words:
        return list(entries)
    texts = [searched_text(each) for each in entries]
    exact = [place for place, text in enumerate(texts) if all(word in text for word in words)]
    return [entries[place] for place in (*exact, *_alike(words, texts, frozenset(exact)))]


def searched_text(entry: Entry) -> str:
    """Give what a filter looks through."""
    facts = entry.facts or Facts()
    parts = (facts.project, facts.title or facts.first_words, entry.name, entry.format)
    return " ".join(filter(None, parts)).casefold()


def _alike(words: Sequence[str], texts: Sequence[str], exact: frozenset[int]) -> Iterator[int]:
    """Give the places of the texts that have all words or something alike, the best first."""
    # Slow to import, and only a reader who types needs it.
    from rapidfuzz import fuzz, process

    places = [place for place in range(len(texts)) if place not in exact]
    scores = dict.fromkeys(places, 0.0)
    for word in words:
        rest = {place: texts[place] for place in scores}
        if len(word) < SHORTEST_ALIKE:
            matches = {place: 100.0 for place, text in rest.items() if word in text}
        else:
            found = process.extract(
                word, rest, scorer=fuzz.partial_ratio, score_cutoff=ALIKE, limit=None
            )
            matches = {place: score for _, score, place in found}
        scores = {place: scores[place] + score for place, score in matches.items()}
    yield from sorted(scores, key=lambda place: (-scores[place], place))
