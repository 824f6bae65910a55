"""Two messages side by side, by what they say and do: a call by its title, then key by key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from rich.text import Text

from tt_debugger.core.calls import COMMANDS, PATHS
from tt_debugger.core.diff.comparing import ComparedMessage, Sign
from tt_debugger.core.diff.edits import Edit
from tt_debugger.core.diff.meaning import About, Aspect, ComparedAspect, aspects
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.text import safe_line
from tt_debugger.views.compare_text import Line, TextView

INDENT = "  "
"""Before what a message goes on with."""

_ROLES = {"assistant": "asst"}
_OF_CALLS = frozenset((About.ARGUMENT, About.COMMAND, About.EDIT))
_LEADS = {
    About.COMMAND: "$ ",
    About.ARGUMENT: "{}: ",
    About.SECTION: "{}: ",
    About.TOOL: "tool {}: ",
    About.THINKING: "thinking: ",
    About.IMAGE: "image: ",
}
"""What stands before an aspect, with its name."""
_TITLES = frozenset((*PATHS, *COMMANDS))
"""Arguments that stand in the title of a call."""
_TOLD_BY_ASPECTS = frozenset(
    (
        *("content", "summary", "output", "command", "tool_calls", "sections", "reasoning"),
        *("reasoning_content", "refusal", "toolsAdded", "toolsRemoved", "errorMessage"),
        *("error", "exitCode", "isError", "is_error", "cancelled", "role", "toolName"),
    )
)
"""Fields of a message that its aspects tell of."""
_INSIDE = frozenset(("text", "thinking", "name", "data", "type", "arguments", "input", "content"))
"""Fields of a part of a message that its aspects tell of."""


class _Told(msgspec.Struct, frozen=True):
    """An aspect to be told: its text on each side, and what leads it there."""

    old: str | None
    new: str | None
    old_lead: Text
    new_lead: Text
    is_equal: bool = False
    indent: str = ""
    """Before the lead."""
    inner: str = INDENT
    """Before the lines that follow."""
    is_block: bool = False
    """Whether several lines begin below the lead."""
    style: str = ""
    """Of a text that is equal on both sides."""


class MessageView(msgspec.Struct, frozen=True):
    """How messages are told; all texts are drawn by `texts`."""

    texts: TextView

    def lines(self, row: ComparedMessage) -> Iterator[Line]:
        """Give a message that differs, the places on its first line."""
        if row.sign is Sign.MOVED:
            yield self._moved(row)
            if row.new is not msgspec.UNSET and row.difference is not None:
                yield from self._told(row)
            return
        old_place, new_place = row.old_place, row.new_place
        for line in self._told(row):
            begins: dict[str, Any] = {}
            if line.old is not None and old_place is not None:
                begins |= {"old_place": old_place, "old_sign": row.sign}
                old_place = None
            if line.new is not None and new_place is not None:
                begins |= {"new_place": new_place, "new_sign": row.sign}
                new_place = None
            yield msgspec.structs.replace(line, **begins) if begins else line

    def title(self, message: Any) -> Text:
        """Give a message in one line: who says it, or what is called, and the first words."""
        same = tuple(ComparedAspect(each, each) for each in aspects(message))
        told = next(self._entries(message, message, same), None)
        if told is None:
            return Text(_label(message), self.texts.palette.dim)
        return Text.assemble(told.new_lead, self.texts.start(told.new or ""))

    def _moved(self, row: ComparedMessage) -> Line:
        palette, title = self.texts.palette, self.title(row.old)
        if row.new is msgspec.UNSET:
            there = Text(f"moved to {(row.new_place or 0) + 1}", palette.dim)
            both = Text.assemble(title, "  ", there)
            return Line(title, there, ">", " ", row.old_place, both=both)
        here = Text(f"moved from {(row.old_place or 0) + 1}", palette.dim)
        both = Text.assemble(title, "  ", here)
        return Line(here, title, " ", ">", None, row.new_place, both=both)

    def _told(self, row: ComparedMessage) -> Iterator[Line]:
        old, new = (None if each is msgspec.UNSET else each for each in (row.old, row.new))
        is_silent = all(aspect.equal for aspect in row.aspects)
        entries = self._entries(old, new, row.aspects)
        first = next(entries, None)
        if first is None:
            label = Text(_label(new if old is None else old), self.texts.palette.strong)
            yield Line(None if old is None else label, None if new is None else label)
            return
        yield from self._entry(first)
        for told in () if is_silent else entries:
            yield from self._entry(told)

    def _entries(self, old: Any, new: Any, aspects: Sequence[ComparedAspect]) -> Iterator[_Told]:
        """Give what is to be told, the title of a call and its path or command as one."""
        place = 0
        while place < len(aspects):
            aspect = aspects[place]
            if _about(aspect) is not About.CALL:
                yield self._aspect(aspect, old, new, is_first=not place)
                place += 1
                continue
            end = place + 1
            while end < len(aspects) and _about(aspects[end]) in _OF_CALLS:
                end += 1
            joined = end > place + 1 and _joins(aspect, aspects[place + 1])
            yield self._call(aspect, aspects[place + 1] if joined else None)
            # Of a call that is equal the title is enough.
            is_equal = all(each.equal for each in aspects[place:end])
            place = end if is_equal else place + 1 + joined

    def _call(self, call: ComparedAspect, about: ComparedAspect | None) -> _Told:
        """Give a call by its title, with the file or the command that it is about."""
        old = None if call.old is None else ""
        new = None if call.new is None else ""
        if about is not None:
            old, new = _text(about.old), _text(about.new)
        return _Told(
            old,
            new,
            *self._call_leads(call),
            is_equal=call.equal and (about is None or about.equal),
            inner=INDENT * 2,
            style=self.texts.palette.text,
        )

    def _aspect(self, aspect: ComparedAspect, old: Any, new: Any, *, is_first: bool) -> _Told:
        about = _about(aspect)
        leads = self._leads(aspect, old, new, is_first=is_first)
        is_inside = about in _OF_CALLS or (about is About.THINKING and not is_first)
        return _Told(
            _text(aspect.old),
            _text(aspect.new),
            *leads,
            is_equal=aspect.equal,
            indent=INDENT if is_inside else "",
            inner=INDENT * 2 if about is About.ARGUMENT else INDENT,
            is_block=about not in {About.TEXT, About.THINKING, About.COMMAND, About.FAILURE},
            style=self.texts.palette.dim,
        )

    def _call_leads(self, call: ComparedAspect) -> tuple[Text, Text]:
        palette = self.texts.palette
        is_other = call.old is not None and call.new is not None and not call.equal
        marks = (palette.removed_word, palette.added_word)

        def lead(aspect: Aspect | None, mark: str) -> Text:
            name = "" if aspect is None else safe_line(aspect.name)
            sign = (f"{self.texts.glyphs.call} ", palette.good)
            return Text.assemble(sign, (name, mark if is_other else palette.strong), "  ")

        return lead(call.old, marks[0]), lead(call.new, marks[1])

    def _leads(
        self, aspect: ComparedAspect, old: Any, new: Any, *, is_first: bool
    ) -> tuple[Text, Text]:
        sides = ((aspect.old, old), (aspect.new, new))
        one, other = (self._lead(each, message, is_first=is_first) for each, message in sides)
        return one, other

    def _lead(self, aspect: Aspect | None, message: Any, *, is_first: bool) -> Text:
        """Give what stands before an aspect: who says it, and what it is."""
        if aspect is None:
            return Text()
        palette, glyphs = self.texts.palette, self.texts.glyphs
        who = Text()
        if aspect.about is About.RESULT:
            failed = f"{glyphs.bad} failed  " if aspect.failed else ""
            who.append(f"{glyphs.result} ", palette.bad if failed else palette.good)
            who.append(f"{safe_line(aspect.name)}  " if aspect.name else "", palette.strong)
            who.append(failed, palette.bad)
        elif is_first:
            label = _label(message)
            who.append(f"{label}  ", palette.accent if label == "user" else palette.strong)
        if aspect.about is About.FAILURE:
            who.append(f"{glyphs.bad} ", palette.bad)
        else:
            name = _LEADS.get(aspect.about, "").format(safe_line(aspect.name) or "arguments")
            who.append(name, palette.dim)
        return who

    def _entry(self, told: _Told) -> Iterator[Line]:
        """Give an aspect as lines, its lead before or above the first of them."""
        leads = [Text.assemble(told.indent, lead) for lead in (told.old_lead, told.new_lead)]
        has_lead = bool(told.old_lead.plain or told.new_lead.plain)
        hang = len(told.inner) + 2
        if told.is_equal:
            lead = leads[1] if has_lead else Text(told.inner)
            said = Text.assemble(lead, self.texts.start(told.new or "", told.style))
            yield Line(said, said, hang=hang)
            return
        inner = Text(told.inner)
        is_above = has_lead and told.is_block and _has_lines(told)
        if is_above:
            sides = (told.old, told.new)
            old, new = (
                None if side is None else lead for side, lead in zip(sides, leads, strict=True)
            )
            yield Line(old, new, *_signs(told))
        is_led = has_lead and not is_above
        for line in self._sides(told):
            old_lead, new_lead = leads if is_led else (inner, inner)
            yield _with(line, old_lead, new_lead, hang)
            is_led = False

    def _sides(self, told: _Told) -> Iterator[Line]:
        old, new = told.old, told.new
        if old is not None and new is not None:
            if old == new:
                # They differ in their lead alone.
                said = self.texts.start(new, told.style)
                yield Line(said, said, "~", "~")
                return
            yield from self.texts.lines(old, new)
        elif old is not None:
            yield from self.texts.one_sided(old, is_old=True)
        elif new is not None:
            yield from self.texts.one_sided(new, is_old=False)


def field_edits(row: ComparedMessage, found: Iterable[Edit]) -> Iterator[Edit]:
    """Give those edits inside a message that none of its aspects tells of."""
    is_silent = all(aspect.equal for aspect in row.aspects)
    return (edit for edit in found if is_silent or not _is_told(edit.path))


def _is_told(path: Sequence[str | int]) -> bool:
    if not path or path[0] not in _TOLD_BY_ASPECTS:
        return False
    last = path[-1]
    is_inside = len(path) > 2 and isinstance(last, str)  # noqa: PLR2004 - a field of a part
    return not is_inside or bool(_INSIDE.intersection(map(str, path[1:])))


def _label(message: Any) -> str:
    role = text_or_none(as_map(message).get("role")) or "message"
    return safe_line(_ROLES.get(role, role))


def _about(aspect: ComparedAspect) -> About:
    either = aspect.old or aspect.new
    return About.OTHER if either is None else either.about


def _joins(call: ComparedAspect, behind: ComparedAspect) -> bool:
    """Tell whether an argument stands in the title of its call: its path, or its command."""
    either = behind.old or behind.new
    same_sides = (call.old is None, call.new is None) == (behind.old is None, behind.new is None)
    return (
        either is not None and same_sides and either.about in _OF_CALLS and either.name in _TITLES
    )


def _has_lines(told: _Told) -> bool:
    return any("\n" in (side or "").rstrip("\n") for side in (told.old, told.new))


def _signs(told: _Told) -> tuple[str, str]:
    if told.old is None:
        return " ", "+"
    return ("-", " ") if told.new is None else ("~", "~")


def _with(line: Line, old_lead: Text, new_lead: Text, hang: int) -> Line:
    """Give a line with something before it on each side."""
    old = None if line.old is None else Text.assemble(old_lead, line.old)
    new = None if line.new is None else Text.assemble(new_lead, line.new)
    return msgspec.structs.replace(line, old=old, new=new, hang=hang)


def _text(aspect: Aspect | None) -> str | None:
    return None if aspect is None else aspect.text
