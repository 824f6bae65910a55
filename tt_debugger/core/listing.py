"""The listing: sessions in one line each, put in order, and found again by a few letters."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tt_debugger.core.model import Kind, Role, Session, Usage

Key = tuple[str, int]
"""What an entry is known by: its location, and its place among those there."""
ALIKE = 75
"""How much of a word must be in a text, in percent, where it is not there letter for letter."""
SHORTEST_ALIKE = 4
"""Letters that a word needs before one that is only alike is good enough."""


class Facts(msgspec.Struct, frozen=True):
    """What the index of a session tells at a glance. Times are seconds since 1970 or None."""

    title: str | None = None
    project: str = ""
    """The last part of the folder in which the agent worked."""
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


class Entry(msgspec.Struct, frozen=True):
    """One session of a listing. `facts` are None until its index was read.

    `session` is its id where the location holds several, None for the only one; `place` counts
    those of one location, the newest first. `failed` says why it cannot be read.
    """

    location: str
    format: str
    size: int
    modified: float
    session: str | None = None
    place: int = 0
    facts: Facts | None = None
    failed: str | None = None

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


def facts_of(session: Session) -> Facts:
    """Give the facts of a session, in one walk over its index."""
    began = ended = None
    first_words = ""
    errors = compactions = 0
    used = Usage()
    models: dict[str, None] = {}
    for row in range(len(session)):
        head = session.heads[row]
        if head.time is not None:
            began = head.time if began is None else min(began, head.time)
            ended = head.time if ended is None else max(ended, head.time)
        if not first_words and head.kind is Kind.MESSAGE and head.role is Role.USER:
            first_words = head.summary
        if head.kind is Kind.MODEL_CHANGE and head.summary:
            models[head.summary] = None
        if head.usage is not None:
            used += head.usage
        compactions += head.kind is Kind.COMPACTION
        errors += head.failed
    return Facts(
        session.title,
        last_part(session.cwd or ""),
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
    )


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
