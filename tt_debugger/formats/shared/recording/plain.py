"""Entries as the index needs them at once: their form is checked, most of what they say left out.

They are as strict as `core.recording.entries`: what is decoded here a recorder can read.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

import msgspec

from tt_debugger.core.changes import Drop
from tt_debugger.core.model import KIND_NUMBERS, Kind, Usage
from tt_debugger.core.recording.effects import Effect
from tt_debugger.core.recording.entries import Event, Failure, Migration, Phase
from tt_debugger.formats.shared.reading import Name

_Path = tuple[str | int, ...]


class _Put(msgspec.Struct, gc=False, tag_field="op", tag="put"):
    path: _Path
    value: msgspec.Raw


class _Append(msgspec.Struct, gc=False, tag_field="op", tag="append"):
    path: _Path
    value: msgspec.Raw


class _Splice(msgspec.Struct, gc=False, tag_field="op", tag="splice"):
    path: _Path
    index: int
    count: int
    values: tuple[msgspec.Raw, ...]


class _Whole(msgspec.Struct, gc=False, tag_field="op", tag="snapshot"):
    value: msgspec.Raw


_Changes = tuple[_Put | Drop | _Append | _Splice | _Whole, ...]


class _Plain(msgspec.Struct, gc=False, kw_only=True, tag_field="type", rename={"own_id": "id"}):
    kind: ClassVar[int]
    own_id: Name
    parent: Name | None
    time: datetime
    name: str = ""
    tool: str | None = None
    event: Event | None = None
    failure: Failure | None = None
    usage: Usage | None = None


class PlainSnapshot(_Plain, gc=False, kw_only=True, tag="snapshot"):
    """A snapshot whose state is left out; what it knows of effects is not."""

    kind: ClassVar[int] = KIND_NUMBERS[Kind.SNAPSHOT]
    version: int = 1
    effects: tuple[Effect, ...] = ()
    migration: Migration | None = None
    why: str = ""


class _Changed(_Plain, gc=False, kw_only=True, tag="change"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.TURN]
    changes: _Changes = ()


class _Said(_Plain, gc=False, kw_only=True, tag="message"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.MESSAGE]


class _Compacted(_Plain, gc=False, kw_only=True, tag="compaction"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.COMPACTION]
    replaces: tuple[str, ...] = ()
    index: int = 0
    count: int = 0


class _BranchSummarised(_Plain, gc=False, kw_only=True, tag="branch_summary"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.BRANCH_SUMMARY]
    branch: str = ""


class PlainEffect(_Plain, gc=False, kw_only=True, tag="effect"):
    """How far an effect came."""

    kind: ClassVar[int] = KIND_NUMBERS[Kind.TOOL_CALL]
    key: str = ""
    phase: Phase = "intended"
    input_hash: str | None = None
    changes: _Changes = ()


PlainEntry = PlainSnapshot | _Changed | _Said | _Compacted | _BranchSummarised | PlainEffect
plain_entry = msgspec.json.Decoder(PlainEntry).decode
"""Decodes the entries that there are many of; raises DecodeError for any other."""
