"""A session of Pi made of another agent's talk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tt_debugger.core.fork.minting import rising, stamp, uuid7
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.talk import Talk, named_calls
from tt_debugger.core.fork.writes import NewFile
from tt_debugger.formats.pi.naming import file_name, project_folder
from tt_debugger.formats.pi.reading import NEWEST_VERSION
from tt_debugger.formats.shared.fork_files import line_of, new_place, resumed_in
from tt_debugger.formats.shared.fork_origin import MARKER, told_origin
from tt_debugger.formats.shared.pi_composing import UNKNOWN, message_of


def composed(talk: Talk, plan: Plan, home: Path) -> Draft:
    """Give the draft of a session with the talk; `home` is the folder of all sessions."""
    session, begun = uuid7(plan.time, plan.fresh), stamp(plan.time)
    cwd = talk.cwd or ""
    header: dict[str, Any] = {"type": "session", "version": NEWEST_VERSION}
    records = [{**header, "id": session, "timestamp": begun, "cwd": cwd}]
    parent: str | None = None

    def add(time: float, kind: str, **own: Any) -> None:
        nonlocal parent
        name = plan.fresh(4).hex()
        above, parent = parent, name
        records.append(
            {"type": kind, "id": name, "parentId": above, "timestamp": stamp(time), **own}
        )

    times = rising([each.time for each in talk.turns], plan.time)
    if talk.model is not None:
        begin = times[0] if times else plan.time
        add(begin, "model_change", provider=talk.provider or UNKNOWN, modelId=talk.model)
    names = named_calls(talk)
    for turn, time in zip(talk.turns, times, strict=True):
        add(time, "message", message=message_of(turn, time, names))
    if talk.title is not None:
        add(plan.time, "session_info", name=talk.title)
    add(plan.time, "custom", customType=MARKER, data=told_origin(plan))
    path = new_place(home / project_folder(cwd), file_name(begun, session), plan.target)
    command = resumed_in(cwd, "pi", "--session", path)
    return Draft(
        (NewFile(path, tuple(map(line_of, records)), makes_folders=True),),
        path,
        session,
        parent or "",
        command,
        talk.losses,
    )
