"""A session of Tau made of another agent's talk, with the record by which Tau finds it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePosixPath
from typing import Any

from tt_debugger.core.fork.minting import rising
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.talk import Talk, named_calls
from tt_debugger.core.fork.writes import IndexLine, NewFile, Write
from tt_debugger.formats.shared.fork_files import line_of, new_place, resumed_in
from tt_debugger.formats.shared.pi_composing import UNKNOWN, message_of

_LONGEST_SLUG = 72


def composed(talk: Talk, plan: Plan, home: Path) -> Draft:
    """Give the draft of a session with the talk; `home` is the folder of all sessions."""
    session = plan.fresh(16).hex()
    records: list[dict[str, Any]] = []

    def add(time: float, kind: str, **own: Any) -> None:
        parent = {"parent_id": records[-1]["id"]} if records else {}
        name = plan.fresh(16).hex()
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
    data = {"origin": plan.origin, **({} if plan.note is None else {"note": plan.note})}
    add(plan.time, "custom", namespace="ttdbg.fork", data=data)
    folder = home / _folder_of(talk.cwd or "", Path.home())
    path = new_place(folder, f"{session}.jsonl", plan.target)
    index = {
        "id": Path(path).stem,
        "path": path,
        "cwd": talk.cwd or "",
        "model": model,
        "provider_name": provider,
        "inference_provider": None,
        "inference_provider_mode": None,
        "title": talk.title,
        "created_at": plan.time,
        "updated_at": plan.time,
    }
    writes: tuple[Write, ...] = (NewFile(path, tuple(map(line_of, records)), makes_folders=True),)
    notes = talk.losses
    if plan.target is None:
        writes += (IndexLine(str(Path(path).with_name("index.jsonl")), line_of(index)),)
    else:
        notes = (*notes, "Tau finds sessions by the index of their folder: it is not in one")
    if model == UNKNOWN:
        notes = (*notes, "no model is known: Tau asks for one before it goes on")
    command = resumed_in(talk.cwd or "", "tau", "--session", Path(path).stem)
    return Draft(writes, path, Path(path).stem, records[-1]["id"], command, notes)


def _folder_of(cwd: str, home: Path) -> str:
    """Give the name of a project's folder: its path as a slug, and six digits of its digest."""
    path = PurePosixPath(cwd)
    is_at_home = path.is_relative_to(home.as_posix())
    parts = ("home", *path.relative_to(home.as_posix()).parts) if is_at_home else path.parts
    words = [re.sub(r"[^a-zA-Z0-9._-]+", "-", part).strip(".-_").lower() for part in parts]
    slug = "-".join(filter(None, words)) or "project"
    if len(slug) > _LONGEST_SLUG:
        slug = _last_parts([*filter(None, words)]) or slug[-_LONGEST_SLUG:]
    return f"{slug}-{hashlib.sha256(cwd.encode()).hexdigest()[:6]}"


def _last_parts(words: list[str]) -> str:
    slug = ""
    for word in reversed(words):
        longer = f"{word}-{slug}" if slug else word
        if len(longer) > _LONGEST_SLUG:
            break
        slug = longer
    return slug
