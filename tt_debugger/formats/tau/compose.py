"""A session of Tau made of another agent's talk, with the record by which Tau finds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tt_debugger.core.fork.minting import rising, uuid4_hex
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.talk import Talk, named_calls
from tt_debugger.core.fork.writes import NewFile
from tt_debugger.formats.shared.fork_files import line_of, new_place, resumed_in
from tt_debugger.formats.shared.fork_origin import MARKER, told_origin
from tt_debugger.formats.shared.fork_paths import absolute
from tt_debugger.formats.shared.pi_composing import UNKNOWN, message_of
from tt_debugger.formats.tau.index import in_index, project_folder


def composed(talk: Talk, plan: Plan, home: Path) -> Draft:
    """Give the draft of a session with the talk; `home` is the folder of all sessions."""
    session = uuid4_hex(plan.fresh)
    records: list[dict[str, Any]] = []

    def add(time: float, kind: str, **own: Any) -> None:
        parent = {"parent_id": records[-1]["id"]} if records else {}
        name = uuid4_hex(plan.fresh)
        records.append({"id": name, **parent, "timestamp": time, "type": kind, **own})

    times = rising([each.time for each in talk.turns], plan.time)
    begin = times[0] if times else plan.time
    about = {"cwd": talk.cwd, "title": talk.title}
    known = {key: value for key, value in about.items() if value is not None}
    add(begin, "session_info", created_at=plan.time, **known)
    model, provider = talk.model or UNKNOWN, talk.provider or UNKNOWN
    add(begin, "model_change", model=model, provider=provider)
    add(begin, "thinking_level_change", thinking_level="medium")
    names = named_calls(talk)
    for turn, time in zip(talk.turns, times, strict=True):
        add(time, "message", message=message_of(turn, time, names))
    add(plan.time, "custom", namespace=MARKER, data=told_origin(plan))
    folder = home / project_folder(talk.cwd or "", str(Path.home()))
    path = new_place(folder, f"{session}.jsonl", plan.target)
    told = {"model": model, "provider": provider, "title": talk.title, "cwd": talk.cwd or ""}
    lines, note = in_index(absolute(path), told, plan.time, is_found=plan.target is None)
    writes = (NewFile(path, tuple(map(line_of, records)), makes_folders=True), *lines)
    notes = (*talk.losses, *note)
    if model == UNKNOWN:
        notes = (*notes, "no model is known: Tau asks for one before it goes on")
    command = resumed_in(talk.cwd or "", "tau", "--session", Path(path).stem)
    return Draft(writes, path, Path(path).stem, records[-1]["id"], command, notes)
