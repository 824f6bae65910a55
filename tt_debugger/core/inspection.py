"""An inspection: all that is known of one checkpoint, gathered at once."""

from __future__ import annotations

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.findings import Finding
from tt_debugger.core.model import Session


class Inspection(msgspec.Struct, frozen=True):
    """What a checkpoint did, the states around it, its bytes, and what is wrong with it.

    `before` is the state of its parent, None at a root; `raw` is the record as it is stored.
    """

    session: Session
    row: int
    changes: tuple[Change, ...]
    before: State
    state: State
    raw: bytes
    findings: tuple[Finding, ...]
