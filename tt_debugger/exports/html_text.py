"""What a session says as HTML: prose, code, and two texts side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tt_debugger.core.diff.meaning import About, Aspect
from tt_debugger.core.diff.texts import Span, TextRow, beside, stretches
from tt_debugger.core.text import counted, safe_text
from tt_debugger.exports.elements import Markup, element, joined
from tt_debugger.exports.hunks import rows_of
from tt_debugger.exports.prose import prose_tokens
from tt_debugger.exports.telling import PROSE, aspect_title

if TYPE_CHECKING:
    from markdown_it.token import Token

LONG = 24
"""Lines of code from which on it is folded."""
_TAGS = {
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "blockquote",
    "strong": "strong",
    "em": "em",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
}
_SIGNS = {"add": "+", "remove": "−", "change": "~", "equal": ""}


def aspect(what: Aspect) -> Markup:
    """Give what a message says or does."""
    title = aspect_title(what)
    match what.about:
        case About.TEXT:
            return element("div", prose(what.text), class_="prose")
        case About.THINKING:
            return element("div", prose(what.text), class_="prose thinking", title="thinking")
        case About.CALL:
            return element("p", element("span", "▸ ", class_="sign"), what.name, class_="call")
        case _ if what.about in PROSE:
            return element(
                "div", element("p", title, class_="about"), prose(what.text), class_="prose aside"
            )
        case _ if "\n" not in what.text:
            told = element("code", what.text)
            return element("p", element("span", title, class_="about"), " ", told, class_="line")
        case _:
            return _folded(title, what.text, is_edit=what.about is About.EDIT)


def code_block(text: str) -> Markup:
    """Give code as it is."""
    return element("pre", element("code", text))


def _folded(title: str, text: str, *, is_edit: bool) -> Markup:
    lines = text.split("\n")
    code = element("pre", element("code", *_edit_lines(lines))) if is_edit else code_block(text)
    if len(lines) < LONG:
        return joined((element("p", title, class_="about"), code))
    summary = element(
        "summary", title, element("span", f" {counted(len(lines), 'line')}", class_="dim")
    )
    return element("details", summary, code)


def _edit_lines(lines: Iterable[str]) -> Iterator[Markup | str]:
    for line in lines:
        kind = {"+ ": "add", "- ": "remove"}.get(line[:2])
        yield element("span", line, class_=kind) if kind else line
        yield "\n"


def prose(text: str) -> Markup:
    """Give what was written as Markdown as such; what looks like a link or HTML is text."""
    tokens = prose_tokens(safe_text(text))
    if tokens is None:
        return code_block(text)
    return Markup("".join(_block_parts(tokens)))


def _block_parts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        match kind:
            case "inline":
                yield from _inline_parts(token.children or ())
            case "heading":
                # A heading of the content is none of the page.
                yield '<p class="heading">' if token.nesting > 0 else "</p>"
            case "fence" | "code_block":
                yield code_block(token.content.removesuffix("\n"))
            case "hr":
                yield element("hr")
            case "paragraph" if token.hidden:
                pass
            case _ if kind in _TAGS:
                yield f"<{'/' if token.nesting < 0 else ''}{_TAGS[kind]}>"
            case _:
                yield joined((token.content,))


def _inline_parts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        match kind:
            case "code_inline":
                yield element("code", token.content)
            case "softbreak":
                yield "\n"
            case "hardbreak":
                yield element("br")
            case "strong" | "em":
                yield f"<{'/' if token.nesting < 0 else ''}{_TAGS[kind]}>"
            case _:
                yield joined((token.content,))


def side_by_side(old: str | None, new: str | None) -> Markup:
    """Give two texts line beside line; equal stretches are folded."""
    return element("div", *_folded_rows(rows_of(old, new)), class_="lines", role="table")


def _folded_rows(rows: Sequence[TextRow]) -> Iterator[Markup]:
    changed = [place for place, row in enumerate(rows) if row.op != "equal"]
    shown = 0
    for begin, end in (*stretches(changed, len(rows)), (len(rows), len(rows))):
        hidden = rows[shown:begin]
        if len(hidden) > 1:
            summary = element("summary", counted(len(hidden), "equal line"))
            yield element("details", summary, *_lines(hidden), class_="equal")
        else:
            yield from _lines(hidden)
        yield from _lines(rows[begin:end])
        shown = end


def _lines(rows: Sequence[TextRow]) -> Iterator[Markup]:
    return (_line(*sides) for sides in beside(rows))


def _line(old: TextRow | None, new: TextRow | None) -> Markup:
    ops = dict.fromkeys(row.op for row in (old, new) if row is not None)
    return element(
        "div",
        _EMPTY["old"] if old is None else _side(old, old.old_line, old.old, old.old_spans, "old"),
        _EMPTY["new"] if new is None else _side(new, new.new_line, new.new, new.new_spans, "new"),
        class_=f"row {' '.join(ops)}",
        role="row",
    )


def _side(
    row: TextRow, number: int | None, text: str | None, spans: Sequence[Span], side: str
) -> Markup:
    if text is None:
        return _EMPTY[side]
    return element(
        "div",
        element("span", "" if number is None else str(number + 1), class_="number"),
        element("span", _sign(row, side), class_="sign"),
        element("span", *_marked(text, spans), class_="text"),
        class_=f"side {side}",
        role="cell",
    )


_EMPTY = {side: element("div", class_=f"side {side} none", role="cell") for side in ("old", "new")}


def _sign(row: TextRow, side: str) -> str:
    if row.op == "change":
        return "−" if side == "old" else "+"
    return _SIGNS[row.op]


def _marked(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """Give a line with the words that differ marked."""
    place = 0
    for begin, end in spans:
        yield text[place:begin]
        yield element("mark", text[begin:end])
        place = end
    yield text[place:]
