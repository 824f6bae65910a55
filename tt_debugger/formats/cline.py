"""Cline and Roo Code: the folder of a task, with the messages of the API and those of the window.

The messages of the API are the checkpoints. What stands beside them in the messages of the window
becomes facts of these: what a request used, and the commit of the shadow repository that holds
the files as they were. The location is the folder; each of its files leads to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.messages import calls_in, results_in
from tt_debugger.core.model import Head, Kind, Role, Usage
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.document import Element, Lost
from tt_debugger.formats.shared.message_heads import is_message, time_in
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK
from tt_debugger.formats.shared.tokens import counted_tokens, told_dollars
from tt_debugger.formats.shared.transcript import (
    Entry,
    Piece,
    Transcript,
    message_entry,
    other_entry,
    with_entries,
)
from tt_debugger.formats.shared.transcript_files import (
    FileRead,
    TranscriptFolder,
    in_file,
    lost_in,
    no_entry,
)
from tt_debugger.formats.shared.transcript_json import (
    ListRead,
    ObjectRead,
    object_in,
    read_list,
    read_object,
)
from tt_debugger.store import Match, Probe

_MESSAGES = "api_conversation_history.json"
_WINDOW = "ui_messages.json"
_TASK = "task_metadata.json"
_SESSION = ".messages.json"
"""How the name of the messages ends that newer versions of Cline write outside an editor."""
_OLD_NAMES = frozenset((_MESSAGES, _WINDOW, _TASK, "claude_messages.json"))
_INDEX = "conversationHistoryIndex"
_SCORE = 95

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_SERVERS = (".vscode-server", ".vscode-remote", ".cursor-server")
_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")


class Cline(TranscriptFolder):
    """The folder of one task."""

    format: ClassVar[str] = "cline"
    about: ClassVar[str] = "task folders of Cline and Roo Code (JSON files)"
    verified: ClassVar[str] = "its published source; no agent was run"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a folder, or a file in it, by the names that Cline gives."""
        if probe.inside is None:
            is_one = probe.name in _OLD_NAMES or probe.name.endswith(_SESSION)
            return Match(_SCORE, f"a file that is called {probe.name}") if is_one else None
        names = {each.name for each in probe.inside}
        found = [name for name in (_MESSAGES, _WINDOW) if name in names]
        found += [name for name in sorted(names) if name.endswith(_SESSION)]
        return Match(_SCORE, f"a folder with {found[0]}") if found else None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folders of tasks in each editor that may have the extension."""
        bases = [home / ".config", home / "Library" / "Application Support"]
        bases += [Path(environ["XDG_CONFIG_HOME"])] if environ.get("XDG_CONFIG_HOME") else []
        bases += [Path(environ["APPDATA"])] if environ.get("APPDATA") else []
        users = [base / editor / "User" for base in bases for editor in _EDITORS]
        users += [home / server / "data" / "User" for server in _SERVERS]
        tasks = [
            user / "globalStorage" / extension / "tasks"
            for user in users
            for extension in _EXTENSIONS
        ]
        own = environ.get("CLINE_DIR")
        return (*tasks, (Path(own) if own else home / ".cline") / "data" / "tasks")

    def parse(self, name: str, data: bytes) -> ListRead | ObjectRead | dict[str, Any]:
        """Give the pieces of a list, or the members of an object."""
        if name.endswith(_SESSION):
            return read_object(data, ("messages",))
        if data.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"[":
            return read_list(data)
        return object_in(data)

    def assemble(self, files: Mapping[str, FileRead]) -> Transcript:
        """Give the messages, with what the window and the metadata say of them."""
        pieces: list[Piece] = []
        start: dict[str, Any] = {}
        window = files.get(_WINDOW)
        shown = _records(window)
        for name, file in files.items():
            if name.endswith(_SESSION) and isinstance(file.value, ObjectRead):
                pieces += _of_list(file, file.value.pieces("messages"))
                pieces += (lost_in(file, each) for each in file.value.lost)
                prompt = file.value.members.get("system_prompt")
                start |= {"system_prompt": prompt} if isinstance(prompt, str) else {}
        messages = files.get(_MESSAGES)
        if messages is not None and isinstance(messages.value, ListRead):
            pieces += _of_list(messages, messages.value.pieces)
        if not any(isinstance(each, Entry) for each in pieces) and window is not None:
            pieces += _of_window(window)
            messages = window
        elif window is not None and isinstance(window.value, ListRead):
            lost = [each for each in window.value.pieces if isinstance(each, Lost)]
            pieces += (lost_in(window, each) for each in lost)
        entries = list(_named(each for each in pieces if isinstance(each, Entry)))
        is_whole = len(entries) == len(pieces)
        facts = _facts(entries, shown if is_whole else [_without_index(each) for each in shown])
        pieces = with_entries(pieces, facts)
        used = {each.file for each in entries}
        pieces += (no_entry(each) for name, each in files.items() if name not in used)
        title = _task(shown)
        return Transcript(
            id=PurePath(self.location).name,
            pieces=pieces,
            start={**start, "title": title},
            title=None if title is None else summary_line(title),
        )


def _records(file: FileRead | None) -> list[dict[str, Any]]:
    return file.value.records if file is not None and isinstance(file.value, ListRead) else []


def _of_list(file: FileRead, pieces: Iterable[Element | Lost]) -> Iterator[Piece]:
    for piece in pieces:
        if isinstance(piece, Lost):
            yield lost_in(file, piece)
            continue
        record = piece.value
        # Cline's own keys stand beside those of the message that was sent.
        make = message_entry if is_message(record) else other_entry
        entry = make(record, piece.place, name=piece.place.name)
        model = as_map(record.get("modelInfo"))
        puts = _settings(model.get("modelId"), model.get("providerId"))
        told = msgspec.structs.replace(entry.told, puts=puts)
        yield in_file(file, msgspec.structs.replace(entry, told=told))


def _of_window(file: FileRead) -> Iterator[Piece]:
    """Give the messages of the window, where those of the API are lost."""
    pieces = file.value.pieces if isinstance(file.value, ListRead) else ()
    for piece in pieces:
        if isinstance(piece, Lost):
            yield lost_in(file, piece)
            continue
        record = piece.value
        kind = text_or_none(record.get("say")) or text_or_none(record.get("ask")) or "window"
        head = Head(Kind.CUSTOM, None, kind, summary_line(text_or_none(record.get("text")) or ""))
        yield in_file(
            file,
            Entry(
                head=head,
                body=record,
                time=time_in(record),
                place=piece.place,
                name=piece.place.name,
            ),
        )


def _named(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Give the entries, a result called by the tool that its call names."""
    tools: dict[str | None, str] = {}
    for entry in entries:
        tools |= {each.id: each.name for each in calls_in(entry.body) if each.id is not None}
        answered = results_in(entry.body) if entry.head.kind is Kind.TOOL_RESULT else ()
        name = next((tools.get(each.call) for each in answered), None)
        if name is None:
            yield entry
        else:
            head = msgspec.structs.replace(entry.head, name=name)
            yield msgspec.structs.replace(entry, head=head)


def _facts(entries: Sequence[Entry], shown: Sequence[dict[str, Any]]) -> list[Entry]:
    """Give the entries with the facts that the messages of the window have of them."""
    puts: dict[int, dict[str, Any]] = {}
    used: dict[int, Usage] = {}
    answers = [row for row, each in enumerate(entries) if each.head.role is Role.ASSISTANT]
    left = iter(answers)
    for each in shown:
        row = _row_of(each, entries)
        commit = _commit(each)
        if commit is not None and row is not None:
            puts.setdefault(row, {})["checkpoint"] = commit
        usage = _usage(each)
        if usage is not None:
            answer = _answer(each, answers, entries)
            answer = next(left, None) if answer is None else answer
            if answer is not None:
                used[answer] = used[answer] + usage if answer in used else usage
        deleted = as_list(each.get("conversationHistoryDeletedRange"))
        if deleted and row is not None:
            puts.setdefault(row, {})["deleted_range"] = deleted
    return [
        msgspec.structs.replace(
            each,
            head=msgspec.structs.replace(each.head, usage=used.get(row, each.head.usage)),
            told=msgspec.structs.replace(each.told, puts={**each.told.puts, **puts.get(row, {})}),
        )
        for row, each in enumerate(entries)
    ]


def _row_of(shown: Mapping[str, Any], entries: Sequence[Entry]) -> int | None:
    """Give the entry that was the last one when a message of the window was shown."""
    if not entries:
        return None
    index = _index(shown)
    if index is not None:
        return min(max(index, 0), len(entries) - 1)
    time = time_in(shown)
    if time is None:
        return None
    before = [row for row, each in enumerate(entries) if each.time and each.time <= time]
    return before[-1] if before else 0


def _index(shown: Mapping[str, Any]) -> int | None:
    index = shown.get(_INDEX)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _without_index(shown: dict[str, Any]) -> dict[str, Any]:
    """Give a message of the window without its place among messages of which some are lost."""
    return {key: each for key, each in shown.items() if key != _INDEX}


def _answer(
    shown: Mapping[str, Any], answers: Sequence[int], entries: Sequence[Entry]
) -> int | None:
    """Give the answer to a request: the first one behind where it was shown."""
    index = _index(shown)
    if index is not None:
        return next((row for row in answers if row > index), None)
    time = time_in(shown)
    if time is None:
        return None
    return next((row for row in answers if (entries[row].time or 0) >= time), None)


def _commit(shown: Mapping[str, Any]) -> str | None:
    """Give the commit of the shadow repository that a message of the window names."""
    if shown.get("say") == "checkpoint_saved":
        return text_or_none(shown.get("text"))
    return text_or_none(shown.get("lastCheckpointHash"))


def _usage(shown: Mapping[str, Any]) -> Usage | None:
    """Give what a request used, which stands as JSON in a text."""
    text = shown.get("text")
    if shown.get("say") != "api_req_started" or not isinstance(text, str):
        return None
    told: dict[str, Any] = {}
    with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        told = as_map(msgspec.json.decode(text))
    counts = [counted_tokens(told.get(key)) for key in _COUNTS]
    cost = told_dollars(told.get("cost"))
    if not any(counts) and cost is None:
        return None
    return Usage(*counts, total=sum(counts), cost=cost or 0.0)


_COUNTS = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")


def _settings(model: Any, provider: Any) -> dict[str, Any]:
    said = {"model": model, "provider": provider}
    return {key: value for key, value in said.items() if isinstance(value, str)}


def _task(shown: Iterable[Mapping[str, Any]]) -> str | None:
    """Give the task as the window says it: the text that is shown first of all is one too."""
    for place, each in enumerate(shown):
        is_one = each.get("say") == "task" or (place == 0 and each.get("say") == "text")
        if is_one and isinstance(each.get("text"), str):
            return each["text"]
    return None


STORE = Cline
