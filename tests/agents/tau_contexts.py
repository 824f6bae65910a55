"""Opens session files with Tau's own code and tells what it makes of them.

It is run by a Python that has tau-ai. Standard input: a JSON list of {path, leaf, append}; leaf
is null for the one that Tau goes on at, "load" asks for a whole coding session, and "index" for
what the index of a home says. Standard output: a list of what each gives.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tau_agent.messages import UserMessage
from tau_agent.session import SessionState
from tau_agent.session.entries import MessageEntry
from tau_agent.session.storage import JsonlSessionStorage
from tau_coding.paths import TauPaths
from tau_coding.provider_config import OpenAICompatibleProviderConfig, ProviderSettings
from tau_coding.resources import TauResourcePaths
from tau_coding.session import CodingSession, CodingSessionConfig, _detach_missing_parents
from tau_coding.session_manager import SessionManager


def dumped(messages: Any) -> list[Any]:
    """Give messages as Tau writes them."""
    return [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in messages]


def held(path: Path) -> bytes:
    """Give what is in a file."""
    return path.read_bytes()


async def told(job: dict[str, Any]) -> dict[str, Any]:
    """Give what Tau makes of one file."""
    if "index" in job:
        return indexed(job)
    path = Path(job["path"])
    before = held(path)
    storage = JsonlSessionStorage(path)
    try:
        entries = _detach_missing_parents(await storage.read_all())
        where = {} if job.get("leaf") is None else {"leaf_id": job["leaf"]}
        state = SessionState.from_entries(entries, **where)
    except Exception as error:  # noqa: BLE001 - whatever it refuses a file with
        return {"refused": repr(error)}
    answer: dict[str, Any] = {
        "messages": dumped(state.messages),
        "model": state.model,
        "provider": state.provider,
        "thinking_level": state.thinking_level,
        "leaf": state.active_leaf_id,
        "labels": state.labels_by_id,
        "title": state.session_info.title if state.session_info else None,
    }
    if job.get("load"):
        answer["loaded"] = dumped((await loaded(storage, state, path.parent)).messages)
    answer["unchanged"] = held(path) == before
    if job.get("append"):
        said = UserMessage(content="Go on.", timestamp=1767225700000)
        entry = MessageEntry(parent_id=state.active_leaf_id, message=said)
        await storage.append(entry)
        after = SessionState.from_entries(_detach_missing_parents(await storage.read_all()))
        answer["grown"] = held(path).startswith(before)
        answer["after"] = dumped(after.messages)
        answer["tip"] = after.active_leaf_id == entry.id
    return answer


async def loaded(storage: JsonlSessionStorage, state: SessionState, folder: Path) -> CodingSession:
    """Give a coding session over a file, with a provider that is never asked anything."""
    model, provider = state.model or "m", state.provider or "p"
    settings = OpenAICompatibleProviderConfig(
        name=provider, base_url="http://127.0.0.1:9", models=(model,), default_model=model
    )
    config = CodingSessionConfig(
        provider=None,
        model=model,
        storage=storage,
        cwd=folder,
        provider_settings=ProviderSettings(default_provider=provider, providers=(settings,)),
        resource_paths=TauResourcePaths(root=folder / "home", agents_root=folder / "agents"),
        extensions_enabled=False,
        project_extensions_enabled=False,
        skills_enabled=False,
    )
    return await CodingSession.load(config)


def indexed(job: dict[str, Any]) -> dict[str, Any]:
    """Give what Tau's index says of a session, and where it would keep those of a folder."""
    paths = TauPaths(home=Path(job["index"]))
    record = SessionManager(paths).get_session(job["id"])
    folder = paths.project_session_dir(Path(job["cwd"])).name
    found = None if record is None else record.to_model().model_dump(mode="json")
    return {"record": found, "folder": folder}


async def main() -> None:
    """Answer all that is asked."""
    json.dump([await told(job) for job in json.load(sys.stdin)], sys.stdout)


asyncio.run(main())
