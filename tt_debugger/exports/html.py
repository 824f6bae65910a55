"""HTML: one page that needs nothing else, neither scripts nor the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from tt_debugger.core.diff.comparing import (
    MESSAGES,
    WORDS,
    ComparedMessage,
    Comparison,
    EqualRun,
    Sign,
    compare,
)
from tt_debugger.core.diff.edits import Edit
from tt_debugger.core.diff.meaning import ComparedAspect, json_of
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import read_message
from tt_debugger.core.text import counted, safe_line
from tt_debugger.exports.elements import Markup, element, joined
from tt_debugger.exports.gate import Passed, Redaction
from tt_debugger.exports.html_text import aspect, code_block, side_by_side
from tt_debugger.exports.subjects import Origin, StateAt, Transcript, Turn, TwoStates
from tt_debugger.exports.telling import (
    compared_title,
    counts_told,
    edit_texts,
    edit_title,
    notes_told,
    origin_facts,
    redaction_told,
    row_title,
    says_the_same,
    settings_told,
    speaker,
    told,
    turn_facts,
    turn_title,
)
from tt_debugger.version import __version__

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MOST_EQUAL = 100
"""Equal messages in a row that are told in full; of more, so many from their beginning."""
_SIGNS = {Sign.ADDED: "+", Sign.REMOVED: "−", Sign.CHANGED: "~", Sign.MOVED: "↷", Sign.EQUAL: "="}


def transcript(passed: Passed[Transcript]) -> str:
    """Give a transcript, a block for each checkpoint."""
    subject = passed.subject
    origin = subject.origin
    title = origin.title or f"Session {origin.session_id}"
    head = [element("p", counted(len(subject.turns), "checkpoint"), class_="counts")]
    body = [*map(_turn, subject.turns), _findings(subject.findings)]
    return _page(title, [*head, _origin("", origin)], body, passed.redaction)


def state(passed: Passed[StateAt]) -> str:
    """Give a state as JSON, with what stands at its top level to be folded one by one."""
    subject = passed.subject
    members: Mapping[str, Any] = as_map(subject.state) or {"state": subject.state}
    body = [_member(name, value) for name, value in members.items()]
    title = f"State at {subject.origin.checkpoint['id']}"
    return _page(title, [_origin("", subject.origin)], body, passed.redaction)


def difference(passed: Passed[TwoStates]) -> str:
    """Give what differs, side by side."""
    subject = passed.subject
    comparison = compare(subject.old, subject.new, mask=subject.is_masked)
    refs = [
        element("span", name, element("code", origin.ref), class_=f"ref {side}")
        for name, origin, side in (("A ", subject.a, "old"), ("B ", subject.b, "new"))
    ]
    notes = [element("li", each) for each in notes_told(passed, comparison)]
    head = [
        joined((*refs, _counts(comparison)), " "),
        element(
            "div", _origin("A", subject.a, "old"), _origin("B", subject.b, "new"), class_="sides"
        ),
        element("ul", *notes, class_="notes") if notes else Markup(),
    ]
    messages = as_list(as_map(subject.old).get(MESSAGES))
    body = [_settings(comparison.settings), *_rows(comparison, messages)]
    return _page("What changed", head, body, passed.redaction)


def _page(
    title: str,
    head: Iterable[Markup],
    body: Iterable[Markup],
    redaction: Redaction,
) -> str:
    title = safe_line(title)
    first, *rest = head
    is_bare = redaction.counts is None
    hidden = element("p", redaction_told(redaction), class_="bad" if is_bare else None)
    page = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=POLICY),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", title),
            element("style", _style()),
        ),
        "\n",
        element(
            "body",
            element("header", element("h1", title), first),
            "\n",
            element("section", *rest, hidden, class_="about-page"),
            "\n",
            element("main", joined(body, "\n")),
            "\n",
            element("footer", f"ttdbg {__version__}"),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"


@lru_cache(maxsize=1)
def _style() -> Markup:
    return Markup("\n" + Path(__file__).with_name("page.css").read_text(encoding="utf-8"))


def _origin(name: str, origin: Origin, side: str = "") -> Markup:
    facts = [
        element("div", element("dt", key), element("dd", value))
        for key, value in origin_facts(origin)
    ]
    head = element("p", name, class_="name") if name else None
    return element("div", head, element("dl", *facts), class_=f"origin {side}".strip())


def _turn(turn: Turn) -> Markup:
    number = str(turn.checkpoint["row"])
    facts = [element("span", each) for each in turn_facts(turn)]
    settings = [
        element("span", element("code", path), " = ", element("code", value), class_="setting")
        for path, value in settings_told(turn)
    ]
    if not turn.messages:
        said = " ".join(filter(None, (turn.name, turn.checkpoint["summary"])))
        told_by = (element("b", turn_title(turn)), safe_line(said), *settings, *facts[:1])
        line = element("p", joined(told_by, " "))
        return element("article", line, class_="turn brief", id=f"row-{number}")
    head = element("h2", turn_title(turn), element("span", *facts, class_="facts"))
    said = [aspect(each) for message in turn.messages for each in told(message)]
    kind = _kind(turn.messages[0], failed=turn.failed)
    changed = element("p", joined(settings, " ")) if settings else None
    return element("article", head, *said, changed, class_=f"turn {kind}", id=f"row-{number}")


def _kind(message: Any, *, failed: bool) -> str:
    """Give the class of a message: who speaks, and whether it failed."""
    role = read_message(message).role
    known = {"user": "user", "assistant": "assistant", "toolResult": "result", "tool": "result"}
    return f"{known.get(role, 'other')}{' failed' if failed else ''}"


def _findings(findings: Iterable[Mapping[str, Any]]) -> Markup:
    told_by = [
        element("li", f"{each['severity']} {each['code']}: {safe_line(each['message'])}")
        for each in findings
    ]
    if not told_by:
        return Markup()
    return element("section", element("h2", "Findings"), element("ul", *told_by))


def _member(name: str, value: Any) -> Markup:
    text = json_of(value)
    if "\n" not in text:
        return element(
            "p", element("b", safe_line(name)), " ", element("code", text), class_="line"
        )
    size = element("span", f" {counted(text.count(chr(10)) + 1, 'line')}", class_="dim")
    return element(
        "details",
        element("summary", element("b", safe_line(name)), size),
        code_block(text),
        open="",
    )


def _counts(comparison: Comparison) -> Markup:
    """Give how many edits there are, by sort; that is the legend too."""
    badges = [
        element("span", f"{_SIGNS[sign]} {words}", class_=f"badge {WORDS[sign]}")
        for sign, words in counts_told(comparison.counts)
    ]
    return element("p", *(badges or ["Nothing differs."]), class_="counts")


def _settings(edits: Iterable[Edit]) -> Markup:
    return joined(map(_setting, edits), "\n")


def _setting(edit: Edit) -> Markup:
    word, place = edit_title(edit)
    head = element("h2", element("span", word, class_="word"), " ", place)
    return element("section", head, side_by_side(*edit_texts(edit)), class_="pair")


def _rows(comparison: Comparison, messages: list[Any]) -> Iterator[Markup]:
    for row in comparison.messages:
        if isinstance(row, EqualRun):
            yield _equal(row, messages[row.old_begin : row.old_begin + row.count])
        else:
            yield _pair(row)


def _equal(run: EqualRun, messages: list[Any]) -> Markup:
    said = [
        element("article", element("h2", speaker(each)), *map(aspect, told(each)), class_="turn")
        for each in messages[:MOST_EQUAL]
    ]
    more = run.count - len(said)
    rest = element("p", f"and {more:,} more", class_="dim") if more > 0 else None
    words = element("summary", counted(run.count, "equal message"))
    return element("details", words, *said, rest, class_="equal")


def _pair(row: ComparedMessage) -> Markup:
    sign = element("span", _SIGNS[row.sign], class_="sign")
    head = element("h2", sign, " ", row_title(row))
    is_told = row.sign is not Sign.MOVED or (
        row.difference is not None and row.new is not msgspec.UNSET
    )
    sides = map(_compared, row.aspects) if is_told else ()
    if row.sign in (Sign.ADDED, Sign.REMOVED):
        side, message = ("new", row.new) if row.sign is Sign.ADDED else ("old", row.old)
        sides = (element("div", *map(aspect, told(message)), class_=f"said {side}"),)
    return element("section", head, *sides, class_=f"pair {WORDS[row.sign]}")


def _compared(compared: ComparedAspect) -> Markup:
    old, new = compared.old, compared.new
    title = compared_title(compared)
    if compared.equal and new is not None:
        same = element("summary", f"{title}: the same")
        return element("details", same, aspect(new), class_="equal")
    about = element("p", title, class_="about")
    if says_the_same(compared):
        return about
    return joined((about, side_by_side(old and old.text, new and new.text)))
