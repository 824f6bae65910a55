"""Sessions that are made of another agent's talk: where they stand, and what they tell of it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.talk import Speaker, Talk, Turn
from tt_debugger.core.fork.writes import IndexLine, NewFile
from tt_debugger.core.messages import Said
from tt_debugger.formats.claude_code import ClaudeCode
from tt_debugger.formats.codex import Codex
from tt_debugger.formats.pi import Pi
from tt_debugger.formats.tau import Tau
from tt_debugger.formats.tau.index import project_folder

NOW = 1767225600.25
AGENTS = (ClaudeCode, Codex, Pi, Tau)
TALK = Talk(
    (
        Turn(Speaker.USER, (Said("Which beans?"),), NOW - 60),
        Turn(Speaker.ASSISTANT, (Said("Arabica."),), NOW - 30, "m", "p"),
    ),
    (),
    model="m",
    provider="p",
    title="Coffee",
    cwd="/srv/shop",
)


def composed(agent: Any, home: Path, talk: Talk = TALK, **more: Any) -> Draft:
    plan = Plan(
        row=0,
        state={},
        wanted={},
        edits=(),
        origin="there:1",
        time=NOW,
        fresh=random.Random(7).randbytes,  # noqa: S311 - they are to repeat
        **more,
    )
    return agent.composed(talk, plan, home)


def lines_of(draft: Draft) -> list[dict[str, Any]]:
    made = draft.writes[0]
    assert isinstance(made, NewFile)
    return [json.loads(each.data) for each in made.records]


def told_in(agent: Any, draft: Draft) -> Any:
    """Give what a session says of where it comes from."""
    lines = lines_of(draft)
    match agent.format:
        case "claude_code":
            return next(each["ttdbg"] for each in lines if each["type"] == "custom-title")
        case "codex":
            return lines[0]["payload"]["ttdbg"]
        case _:
            last = lines[-1]
            assert "ttdbg.fork" in (last.get("customType"), last.get("namespace"))
            return last["data"]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.format)
def test_a_session_tells_where_it_comes_from_and_why_where_that_is_known(
    agent: Any, tmp_path: Path
):
    assert told_in(agent, composed(agent, tmp_path)) == {"origin": "there:1"}
    noted = composed(agent, tmp_path, note="hotter")
    assert told_in(agent, noted) == {"origin": "there:1", "note": "hotter"}


@pytest.mark.parametrize(
    ("cwd", "slug"),
    [
        ("/srv/my_shop.d", "-srv-my-shop-d"),
        ("/srv/caf\N{LATIN SMALL LETTER E WITH ACUTE}", "-srv-caf-"),
        ("/srv/\N{HOT BEVERAGE}\N{PARTY POPPER}x", "-srv----x"),
    ],
)
def test_in_a_folder_each_unit_of_a_path_that_is_no_letter_is_a_hyphen(
    cwd: str, slug: str, tmp_path: Path
):
    draft = composed(ClaudeCode, tmp_path, msgspec.structs.replace(TALK, cwd=cwd))

    assert Path(draft.location).parent == tmp_path / slug
    assert draft.resume_command.endswith(f"claude --resume {draft.session}")


def test_below_a_path_that_is_too_long_a_session_is_named_by_its_file(tmp_path: Path):
    short, long = ("/" + "a" * length for length in (199, 200))

    found, lost = (
        composed(ClaudeCode, tmp_path, msgspec.structs.replace(TALK, cwd=cwd))
        for cwd in (short, long)
    )

    assert found.resume_command.endswith(f"--resume {found.session}")
    assert Path(lost.location).parent.name == "-" + "a" * 199
    assert lost.resume_command.endswith(f"--resume {lost.location}")


def test_tau_finds_a_session_by_the_line_that_a_fork_has_in_the_index_too(tmp_path: Path):
    draft = composed(Tau, tmp_path)

    folder = tmp_path / project_folder("/srv/shop", str(Path.home()))
    index = draft.writes[1]
    assert isinstance(index, IndexLine)
    assert Path(draft.location).parent == folder
    assert index.path == str(folder / "index.jsonl")
    assert json.loads(index.record.data) == {
        "id": draft.session,
        "path": draft.location,
        "cwd": "/srv/shop",
        "model": "m",
        "provider_name": "p",
        "inference_provider": None,
        "inference_provider_mode": "automatic",
        "title": "Coffee",
        "created_at": NOW,
        "updated_at": NOW,
    }
    assert draft.notes == ()


def test_elsewhere_a_note_says_where_the_line_for_the_index_of_tau_belongs(tmp_path: Path):
    draft = composed(Tau, tmp_path, target=str(tmp_path / "s.jsonl"))

    assert len(draft.writes) == 1
    assert draft.session == "s"
    (note,) = draft.notes
    assert note.startswith("Tau finds a session by its index alone, so add to ~/.tau/sessions/")
    assert f'"path":"{tmp_path / "s.jsonl"}"' in note


def test_ids_of_tau_are_uuids_without_hyphens(tmp_path: Path):
    ids = [each["id"] for each in lines_of(composed(Tau, tmp_path))]

    assert {(len(each), each[12], each[16] in "89ab") for each in ids} == {(32, "4", True)}
    assert len(set(ids)) == len(ids)


def test_a_session_of_pi_has_the_name_that_pi_gives_it(tmp_path: Path):
    draft = composed(Pi, tmp_path)

    header = lines_of(draft)[0]
    name = f"2026-01-01T00-00-00-250Z_{draft.session}.jsonl"
    assert draft.location == str(tmp_path / "--srv-shop--" / name)
    assert header == {
        "type": "session",
        "version": 3,
        "id": draft.session,
        "timestamp": "2026-01-01T00:00:00.250Z",
        "cwd": "/srv/shop",
    }
