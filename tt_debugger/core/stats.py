"""Statistics of a session: tokens, cost, time and errors by branch, tool and model.

They come from the index alone, but for what only bodies tell: which tools a message calls beside
its first, and which model gave an answer (`core.answers`). A checkpoint that several branches
share is counted once in the total, and with each of them in what they are as a whole. What a
file does not tell is None, never 0: an index cannot tell a cost of nothing from none, so that
is None too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import mul, sub
from statistics import median

import msgspec

from tt_debugger.core.answers import Answers
from tt_debugger.core.durations import Took, durations, is_answer
from tt_debugger.core.loops import Loop, loops_of
from tt_debugger.core.model import FAILED, KIND_BITS, KIND_NUMBERS, Kind, Session, Usage
from tt_debugger.core.sayings import SUMMARIES
from tt_debugger.core.tree import NO_ROW

_DIGITS = 6
_DOLLAR, _SECOND = 10**10, 10**_DIGITS
"""Parts in which sums are kept: whole numbers, so that what is taken away again leaves no rest."""
_CALL, _RESULT = KIND_NUMBERS[Kind.TOOL_CALL], KIND_NUMBERS[Kind.TOOL_RESULT]
_MODEL_CHANGE = KIND_NUMBERS[Kind.MODEL_CHANGE]
_MESSAGES = (KIND_NUMBERS[Kind.MESSAGE], _CALL, _RESULT)
_STATES = tuple(
    KIND_NUMBERS[each]
    for each in (Kind.SNAPSHOT, Kind.SUPER_STEP, Kind.INTERRUPT, Kind.TURN, Kind.COMMIT)
)
_IS_MESSAGE = bytes(each & KIND_BITS in _MESSAGES for each in range(256))
_IS_FAILED = bytes(bool(each & FAILED) for each in range(256))


class Tally(msgspec.Struct, frozen=True):
    """What some checkpoints come to; `messages` are those that are one, tool results too.

    `model_seconds` passed until an answer was there, `tool_seconds` until a tool had run; while
    several ran side by side the time passed once.
    """

    checkpoints: int = 0
    messages: int = 0
    calls: int = 0
    errors: int = 0
    tokens: Usage | None = None
    cost: float | None = None
    model_seconds: float | None = None
    tool_seconds: float | None = None

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.checkpoints + other.checkpoints,
            self.messages + other.messages,
            self.calls + other.calls,
            self.errors + other.errors,
            _added(self.tokens, other.tokens),
            _summed(self.cost, other.cost),
            _summed(self.model_seconds, other.model_seconds),
            _summed(self.tool_seconds, other.tool_seconds),
        )


class Branch(msgspec.Struct, frozen=True):
    """A leaf and its path: all of it, and what is its own, below where the last other leaves it.

    `fork_point` is that row, NO_ROW where no other branch shares anything; `seconds` lie between
    the first and the last time on the path.
    """

    leaf: int
    fork_point: int
    is_active: bool
    whole: Tally
    own: Tally
    seconds: float | None


class ToolTally(msgspec.Struct, frozen=True):
    """The calls of one tool; the times are those of the calls of which both ends are known.

    `longest_row` is that of the result which took the longest, the first of several.
    """

    tool: str
    calls: int
    errors: int
    seconds: float | None = None
    median_seconds: float | None = None
    longest_seconds: float | None = None
    longest_row: int | None = None


class ModelTally(msgspec.Struct, frozen=True):
    """The answers of one model; its name is None for what no model is told of.

    Of that, what compactions and summaries of branches used is told apart.
    """

    model: str | None
    answers: int
    tokens: Usage | None
    cost: float | None
    is_of_summaries: bool = False


class Stats(msgspec.Struct, frozen=True):
    """The statistics of a session; what cost most, or else is the most, comes first.

    `shared` is the part of the total that several branches have. Where bodies were not read
    (`has_bodies`), a message counts as one call, and there are no loops.
    """

    session: Session
    total: Tally
    shared: Tally
    seconds: float | None
    branches: tuple[Branch, ...]
    tools: tuple[ToolTally, ...]
    models: tuple[ModelTally, ...]
    loops: tuple[Loop, ...]
    has_bodies: bool
    unread: int = 0
    """Checkpoints whose bodies cannot be read."""

    @property
    def is_of_states(self) -> bool:
        """Whether it has whole states and no messages of their own.

        Nothing counted there says only that nothing was recorded one by one.
        """
        kinds = {each & KIND_BITS for each in set(self.session.traits)}
        return not self.total.messages and not kinds.isdisjoint(_STATES)


def stats_of(session: Session, answers: Answers | None = None) -> Stats:
    """Give the statistics of a session, with its answers to be exact in what bodies tell."""
    heads, rows = session.heads, range(len(session))
    took, used = durations(session), heads.usages()
    times = [time for row in rows if (time := heads.time(row)) is not None]
    sums = _Sums(session, _columns(session, answers, took, used))
    found = _branches(session, sums, has_times=bool(times))
    branches = sorted(found, key=lambda each: _weight(each.own), reverse=True)
    shared = sums.total
    for each in branches:
        shared = list(map(sub, shared, sums.own(each.leaf, each.fork_point)))
    tools = _tools_by_index(session, took) if answers is None else _tools(session, answers, took)
    return Stats(
        session,
        _tally(sums.total),
        _tally(shared),
        round(max(times) - min(times), _DIGITS) if times else None,
        tuple(branches),
        tuple(sorted(tools, key=lambda each: (-(each.seconds or 0), -each.calls, each.tool))),
        tuple(sorted(_models(session, answers, used), key=_model_weight, reverse=True)),
        () if answers is None else loops_of(answers),
        answers is not None,
        0 if answers is None else answers.unread,
    )


def _added(one: Usage | None, other: Usage | None) -> Usage | None:
    return one + other if one and other else one or other


def _summed(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return round(one + other, 10)


def _weight(tally: Tally) -> tuple[float, ...]:
    """Give what a branch is put in order by: what it cost, else what it is."""
    return tally.cost or 0, _size(tally.tokens), tally.calls, tally.checkpoints


def _model_weight(model: ModelTally) -> tuple[float, ...]:
    return model.cost or 0, _size(model.tokens), model.answers


def _size(tokens: Usage | None) -> int:
    return 0 if tokens is None else tokens.context


def _columns(
    session: Session,
    answers: Answers | None,
    took: Sequence[Took | None],
    used: Sequence[Usage | None],
) -> list[Sequence[int]]:
    """Give for each row what `_tally` takes, as whole numbers."""
    traits, rows = session.traits, range(len(session))
    known = [each or _NOTHING for each in used]
    times = [0 if each is None else round(each.waited * _SECOND) for each in took]
    of_tools = [each is not None and each.is_tool for each in took]
    of_model = [each is not None and not each.is_tool for each in took]
    calls: Sequence[int]
    if answers is None:
        calls = [each & KIND_BITS == _CALL for each in traits]
    else:
        made = Counter(call.row for call in answers.calls)
        calls = [made[row] for row in rows]
    return [
        [1] * len(rows),
        traits.translate(_IS_MESSAGE),
        calls,
        traits.translate(_IS_FAILED),
        [each is not None for each in used],
        *([getattr(each, name) for each in known] for name in _TOKENS),
        [round(each.cost * _DOLLAR) for each in known],
        list(map(mul, times, of_model)),
        list(map(mul, times, of_tools)),
        of_model,
        of_tools,
    ]


_NOTHING = Usage()
_TOKENS = ("input", "output", "cache_read", "cache_write", "total")


def _tally(sums: Sequence[int]) -> Tally:
    checkpoints, messages, calls, errors, told, *used = sums
    *tokens, cost, of_model, of_tools, answers, results = used
    return Tally(
        checkpoints,
        messages,
        calls,
        errors,
        Usage(*tokens, cost=cost / _DOLLAR) if told else None,
        cost / _DOLLAR if cost else None,
        of_model / _SECOND if answers else None,
        of_tools / _SECOND if results else None,
    )


class _Sums:
    """The sums of some columns along the path to any row.

    The tree is taken by stretches of rows that follow each other; what lies above each is known.
    """

    def __init__(self, session: Session, columns: Sequence[Sequence[int]]) -> None:
        self._sums = [[0, *accumulate(each)] for each in columns]
        self._begins = [each for each in session.tree.hung if each]
        self._above: dict[int, list[int]] = {}
        if len(session):
            self._begins.insert(0, 0)
        self._roots: dict[int, int] = {}
        for begin in sorted(self._begins, key=session.positions.__getitem__):
            parent = session.parents[begin]
            self._above[begin] = self.along(parent)
            self._roots[begin] = begin if parent == NO_ROW else self.root(parent)

    @property
    def total(self) -> list[int]:
        """The sums of all rows."""
        return [each[-1] for each in self._sums]

    def along(self, row: int) -> list[int]:
        """Give the sums from the root to a row, both included; nothing for NO_ROW."""
        if row == NO_ROW:
            return [0] * len(self._sums)
        begin = self._begin(row)
        above = self._above[begin]
        return [
            before + each[row + 1] - each[begin]
            for before, each in zip(above, self._sums, strict=True)
        ]

    def root(self, row: int) -> int:
        """Give the root that a row descends from."""
        return self._roots[self._begin(row)]

    def _begin(self, row: int) -> int:
        return self._begins[bisect_right(self._begins, row) - 1]

    def own(self, leaf: int, fork_point: int) -> list[int]:
        """Give the sums from below a fork point to a leaf."""
        return list(map(sub, self.along(leaf), self.along(fork_point)))


def _branches(session: Session, sums: _Sums, *, has_times: bool) -> Iterator[Branch]:
    forks = session.tree.forks()
    for leaf in session.tree.leaves():
        fork_point = _fork_above(session, forks, leaf)
        yield Branch(
            leaf,
            fork_point,
            leaf == session.active,
            _tally(sums.along(leaf)),
            _tally(sums.own(leaf, fork_point)),
            _span(session, sums.root(leaf), leaf) if has_times else None,
        )


def _fork_above(session: Session, forks: Sequence[int], leaf: int) -> int:
    """Give the nearest row above a leaf that another branch has too, NO_ROW where none has."""
    for begin, end in session.tree.stretches_above(leaf):
        place = bisect_left(forks, end) - 1
        if place >= 0 and forks[place] >= begin:
            return forks[place]
    return NO_ROW


def _span(session: Session, root: int, leaf: int) -> float | None:
    """Give the seconds from the first time on a path to the last, None where they run back."""
    heads, tree = session.heads, session.tree
    began = heads.time(root)
    if began is None:
        times = map(heads.time, tree.path_to(leaf))
        began = next((time for time in times if time is not None), None)
    times = map(heads.time, tree.ancestors(leaf))
    ended = next((time for time in times if time is not None), None)
    if began is None or ended is None or ended < began:
        return None
    return round(ended - began, _DIGITS)


_Taken = defaultdict[str, list[tuple[float, int]]]
"""Of each tool how many seconds its results took, and their rows."""


def _tools(session: Session, answers: Answers, took: Sequence[Took | None]) -> Iterator[ToolTally]:
    """Give the calls of each tool, by the calls themselves."""
    heads = session.heads
    results = Counter(call.result_row for call in answers.calls)
    calls, failed = Counter[str](), Counter[str]()
    taken = _Taken(list)
    for call in answers.calls:
        tool, row = answers.tool(call), call.result_row
        calls[tool] += 1
        if row == NO_ROW or heads.kind(row) is not Kind.TOOL_RESULT:
            failed[tool] += call.failed
            continue
        # A row of several results failed if one of them did.
        failed[tool] += call.failed or (results[row] == 1 and heads.failed(row))
        if (known := took[row]) is not None:
            taken[tool].append((known.seconds, row))
    return _tallies(calls, failed, taken)


def _tools_by_index(session: Session, took: Sequence[Took | None]) -> Iterator[ToolTally]:
    """Give the calls of each tool as far as the index tells them: the first of each message."""
    calls, failed = Counter[str](), Counter[str]()
    taken = _Taken(list)
    names = session.heads.texts(slice(None))
    for row, each in enumerate(session.traits):
        tool = names[row]
        if each & KIND_BITS == _CALL:
            calls[tool] += 1
        elif each & KIND_BITS == _RESULT:
            failed[tool] += bool(each & FAILED)
            if (known := took[row]) is not None:
                taken[tool].append((known.seconds, row))
    return _tallies(calls, failed, taken)


def _tallies(calls: Counter[str], failed: Counter[str], taken: _Taken) -> Iterator[ToolTally]:
    for tool in dict.fromkeys((*calls, *failed)):
        tally = ToolTally(tool, calls[tool], failed[tool])
        if tool in taken:
            times = [seconds for seconds, _ in taken[tool]]
            longest, row = max(taken[tool], key=lambda each: (each[0], -each[1]))
            tally = msgspec.structs.replace(
                tally,
                seconds=round(sum(times), _DIGITS),
                median_seconds=round(median(times), _DIGITS),
                longest_seconds=round(longest, _DIGITS),
                longest_row=row,
            )
        yield tally


def _models(
    session: Session, answers: Answers | None, used: Sequence[Usage | None]
) -> Iterator[ModelTally]:
    """Give what each model answered and used, and what was used without one being told."""
    heads = session.heads
    told = _models_by_index(session) if answers is None else answers.models
    count = Counter[tuple[str | None, bool]]()
    sums = defaultdict[tuple[str | None, bool], list[Usage]](list)
    for row, usage in enumerate(used):
        model, kind = told.get(row), heads.kind(row)
        key = model, model is None and kind in SUMMARIES
        answered = is_answer(kind, heads.role(row))
        if answered or usage is not None:
            count[key] += answered
        if usage is not None:
            sums[key].append(usage)
    for key, answers_given in count.items():
        model, is_of_summaries = key
        usage = _usage(sums[key]) if key in sums else None
        cost = usage.cost or None if usage else None
        yield ModelTally(model, answers_given, usage, cost, is_of_summaries)


def _usage(used: Sequence[Usage]) -> Usage:
    tokens = (sum(getattr(each, name) for each in used) for name in _TOKENS)
    return Usage(*tokens, cost=sum(round(each.cost * _DOLLAR) for each in used) / _DOLLAR)


def _models_by_index(session: Session) -> dict[int, str]:
    """Give the model of each answer, by the changes of the model above it."""
    heads, parents = session.heads, session.parents
    at: dict[int, str] = {}
    told: dict[int, str] = {}
    for row in session.order:
        model = at.get(parents[row])
        if session.traits[row] & KIND_BITS == _MODEL_CHANGE:
            model = heads[row].summary or model
        if model is not None:
            at[row] = model
            if is_answer(heads.kind(row), heads.role(row)):
                told[row] = model
    return told
