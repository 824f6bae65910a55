"""The fields of a handoff: what its headings, its lines `name: value` and its front matter say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST = 1 << 16
"""Characters of a handoff that are searched for fields."""
LISTS = ("blockers", "decisions", "completed_steps", "pending_steps", "artifacts")
SINGLE = ("task", "next_step", "checkpoint_path", "session_id", "written_at")

_NAMES = {
    "task": ("task", "goal", "objective"),
    "next_step": (
        "next step",
        "next steps",
        "next action",
        "next actions",
        "highest priority next step",
        "highest priority next action",
        "resume here",
    ),
    "blockers": ("blockers", "blocker", "blocked by", "open blockers"),
    "decisions": ("decisions", "decision", "decisions made", "key decisions", "settled decisions"),
    "completed_steps": (
        "completed steps",
        "completed",
        "steps completed",
        "done",
        "done so far",
        "progress",
    ),
    "pending_steps": ("pending steps", "pending", "remaining steps", "remaining", "open steps"),
    "artifacts": ("artifacts", "artifact", "files produced", "files changed"),
    "checkpoint_path": ("checkpoint path", "checkpoint file", "checkpoint"),
    "session_id": ("session id", "session"),
    "written_at": ("written at", "written", "updated at", "last updated", "updated"),
}
_FIELDS = {name: field for field, names in _NAMES.items() for name in names}
_MARKS = "*_`# \t"
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*\Z")
_LINE = re.compile(r"(?:[-*+] +)?[*_`]*([A-Za-z][A-Za-z _-]{2,40}?)[*_`]*:[*_`]*(?: +(.*))?\Z")
_BOX = re.compile(r"\[([ xX])\] +(.*)\Z", re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(<?([^)>]+)>?\)")
_CODE = re.compile(r"`([^`]+)`")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_NONE = frozenset(("none", "nothing", "n/a", "-", "no", "none known"))


def field_named(text: str) -> str | None:
    """Give the field that a heading or the name before a colon stands for."""
    plain = re.sub(r"[^a-z ]", "", re.sub(r"[_-]+", " ", text.lower()))
    return _FIELDS.get(" ".join(plain.split()))


def names_in(text: str) -> tuple[set[str], bool]:
    """Give the fields whose names stand in a text, and whether a path of a checkpoint is named.

    A quick look, line by line; what stands in a block of code is none.
    """
    found: set[str] = set()
    has_path = is_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        if is_code:
            continue
        named = _HEADING.match(line) or _LINE.match(line.strip())
        field = field_named(named[1]) if named else None
        if named and field:
            found.add(field)
            is_of_path = "path" in named[1].lower() or "file" in named[1].lower()
            has_path |= field == "checkpoint_path" and is_of_path
    return found, has_path


def document_of(text: str) -> dict[str, Any]:
    """Give what a handoff says, field by field, with its text."""
    fields = _Fields()
    front = _FRONT.match(text[:LONGEST])
    if front:
        _take_front(front[1], fields)
    # Slow to import, and few locations are handoffs.
    from markdown_it import MarkdownIt

    body = text[front.end() if front else 0 :][:LONGEST]
    # What stands within a line is not asked for, and takes most of the time.
    blocks = MarkdownIt("commonmark").disable(["inline", "text_join"])
    _take_blocks(blocks.parse(body), fields)
    return {**fields.document(), "text": text}


class _Fields:
    """The fields as they are found; of a single one the first value counts."""

    def __init__(self) -> None:
        self._single: dict[str, str] = {}
        self._lists: dict[str, list[str]] = {name: [] for name in LISTS}
        self.title: str | None = None

    def add(self, field: str, text: str) -> None:
        """Add a value; a step with a box is done or not by what stands in the box."""
        text = text.strip()
        if field in {"completed_steps", "pending_steps"} and (box := _BOX.match(text)):
            field = "pending_steps" if box[1] == " " else "completed_steps"
            text = box[2]
        if not text or text.strip(_MARKS + ".").lower() in _NONE:
            return
        if field in self._lists:
            self._lists[field].append(text)
        else:
            self._single.setdefault(field, _plain(field, text))

    def document(self) -> dict[str, Any]:
        """Give all fields, those that were not found too."""
        single: Mapping[str, str | None] = {name: self._single.get(name) for name in SINGLE}
        return {"title": self.title, **single, **self._lists}


def _take_front(text: str, fields: _Fields) -> None:
    field: str | None = None
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if line[:1] not in {" ", "-", "#"} and colon:
            field = field_named(name)
            value = value.strip().strip("\"'")
            if field and value.startswith("[") and value.endswith("]"):
                for each in value[1:-1].split(","):
                    fields.add(field, each.strip().strip("\"'"))
            elif field:
                fields.add(field, value)
        elif field and line.strip().startswith("- "):
            fields.add(field, line.strip()[2:].strip("\"'"))


def _take_blocks(tokens: list[Token], fields: _Fields) -> None:
    """Go over headings, which begin the section of a field, and what stands in the sections."""
    section: str | None = None
    level = 0
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            named, depth = tokens[place + 1].content, int(token.tag[1:])
            fields.title = fields.title or named.strip(_MARKS) or None
            field = field_named(named)
            # A heading below that of a field is part of its section.
            if field or depth <= level or not section:
                section, level = field, depth
            inline = _LINE.match(named)
            if section is None and inline and inline[2]:
                _take_line(named, None, fields)
        elif token.type == "inline" and tokens[place - 1].type != "heading_open":
            _take_text(token.content, section, fields)
        elif token.type in {"fence", "code_block"} and section:
            fields.add(section, token.content)


def _take_text(text: str, section: str | None, fields: _Fields) -> None:
    """Take a paragraph or the text of an item: values of lines that name them, and the rest."""
    left = [line for line in text.splitlines() if not _take_line(line, section, fields)]
    if section and left:
        fields.add(section, "\n".join(left))


def _take_line(line: str, section: str | None, fields: _Fields) -> bool:
    """Take a line `name: value`; in the section of a field a name of another kind is its text."""
    named = _LINE.match(line.strip())
    field = field_named(named[1]) if named else None
    if named is None or field is None or field == section or not named[2]:
        return False
    if section is not None and section not in SINGLE:
        return False
    values = named[2].split(", ") if field == "artifacts" else [named[2]]
    for value in values:
        fields.add(field, value)
    return True


def _plain(field: str, text: str) -> str:
    """Give a single value; of one that is a path, a time or an id what its marks enclose."""
    if field in {"next_step", "task"}:
        return text
    enclosed = _LINK.search(text) or _CODE.search(text)
    return (enclosed[1] if enclosed else text.strip("<>*_ \t\"'")).strip()


def opening_of(document: Mapping[str, Any]) -> str:
    """Give what a handoff says first of all: its next step, or else its task or title."""
    said = (document[key] for key in ("next_step", "task", "title"))
    return next((each for each in said if each is not None), "")
