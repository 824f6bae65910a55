"""Discovery: the places of agents, each once, and in each only what its agent keeps there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, jsonl
from cli.homes import ALPHA, BETA, GAMMA, furnish, keep, pi_session

from tt_debugger.core.listing import Entry
from tt_debugger.discovery import EVERYWHERE, Discovery
from tt_debugger.discovery.places import places_of
from tt_debugger.formats.pi import Pi
from tt_debugger.storage.folders import Why
from tt_debugger.store import HasPlaces


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and another folder as the current one."""
    for name in ("home", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home"


def found(location: str = EVERYWHERE) -> list[Entry]:
    """Give all that is found and read, in the order in which it is found."""
    discovery = Discovery(location)
    listed = [each for each in discovery if each is not None]
    read = [discovery.read(each).entries if each.facts is None else (each,) for each in listed]
    discovery.save()
    return [each for entries in read for each in entries]


def known(location: str = EVERYWHERE) -> list[Entry]:
    """Give what is found without reading anything."""
    return [each for each in Discovery(location) if each is not None]


def test_an_empty_home_has_no_places_and_this_folder_is_one():
    assert [each for each in places_of(EVERYWHERE) if each.store is not None] == []
    assert [each.path for each in places_of(EVERYWHERE)] == ["."]
    assert known() == []


def test_pi_and_tau_say_where_they_keep_their_sessions():
    home = Path("/home/dev")

    def paths(**environ: str) -> list[str]:
        return [str(each) for each in Pi.places(environ, home)]

    assert paths() == ["/home/dev/.pi/agent/sessions"]
    assert paths(PI_CODING_AGENT_DIR="~/pi") == ["/home/dev/pi/sessions"]
    assert paths(PI_CODING_AGENT_DIR="/a", PI_CODING_AGENT_SESSION_DIR="/b") == [
        "/a/sessions",
        "/b",
    ]


def test_every_place_is_told_from_the_home_and_the_variables_that_are_given():
    from tt_debugger.formats import own_formats

    stores = [each for each in own_formats() if issubclass(each, HasPlaces)]

    assert {"pi", "tau"} <= {each.format for each in stores}
    for each in stores:
        places = each.places({}, Path("/nowhere"))
        assert places
        assert all(str(place).startswith("/nowhere") for place in places), each.format


def test_what_agents_keep_is_found_at_once_and_known_by_its_name(home):
    kept = furnish(home)

    listed = known()

    assert {Path(each.location) for each in listed} == set(kept.values())
    assert {each.facts for each in listed} == {None}
    assert {ALPHA, BETA, GAMMA} <= {each.id for each in listed}


def test_in_its_place_only_what_an_agent_keeps_there_is_read(home):
    kept = furnish(home)
    keep(kept["alpha"].with_name("notes.json"), b"{}", 5)
    keep(kept["alpha"].with_name("tau.jsonl"), kept["gamma"].read_bytes(), 5)

    assert {(each.id, each.format) for each in found()} == {
        (ALPHA, "pi"),
        (BETA, "pi"),
        (GAMMA, "tau"),
    }


def test_a_place_that_two_names_lead_to_is_looked_through_once(home, monkeypatch):
    furnish(home)
    (home / "link").symlink_to(home / ".pi/agent/sessions")
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(home / "link"))

    assert sorted(each.id for each in found()) == sorted((ALPHA, BETA, GAMMA))


def test_this_folder_leaves_the_places_in_it_to_their_agents(home, monkeypatch):
    furnish(home)
    keep(home / "work/own.jsonl", pi_session("own", "Mend the roof"), 5)
    monkeypatch.chdir(home)

    listed = found()

    assert sorted((each.id, each.is_kept) for each in listed) == sorted(
        [(ALPHA, True), (BETA, True), (GAMMA, True), ("own", False)]
    )
    assert [each.location for each in listed if not each.is_kept] == ["work/own.jsonl"]


def test_what_was_read_is_known_the_next_time_until_it_changes(home, monkeypatch):
    kept = furnish(home)
    monkeypatch.setattr("tt_debugger.storage.catalogue.SETTLED", -(10**18))
    first = found()

    assert sorted(known(), key=str) == sorted(first, key=str)
    keep(kept["beta"], pi_session(BETA, "Feed the dog"), 3600)
    assert [each.id for each in known() if each.facts is None] == [BETA]
    kept["alpha"].unlink()
    assert sorted(each.id for each in found()) == sorted((BETA, GAMMA))


def test_what_turned_out_to_be_no_session_is_not_asked_again(home, monkeypatch):
    furnish(home)
    monkeypatch.setattr("tt_debugger.storage.catalogue.SETTLED", -(10**18))
    discovery = Discovery(EVERYWHERE)
    for each in discovery:
        if each is not None:
            discovery.read(each)
    discovery.save()
    again = Discovery(EVERYWHERE)
    listed = [each for each in again if each is not None]

    assert discovery.left[Why.OTHER] == again.left[Why.OTHER] == 1
    assert len(listed) == 3


def test_a_place_that_cannot_be_listed_is_counted(home, monkeypatch):
    from tt_debugger.discovery import finding
    from tt_debugger.errors import CannotReadError

    furnish(home)
    listing = finding.files_under

    def refusing(location: str, **rest: Any) -> Any:
        if ".pi" in location:
            raise CannotReadError("no")
        return listing(location, **rest)

    monkeypatch.setattr(finding, "files_under", refusing)
    discovery = Discovery(EVERYWHERE)

    assert [each.id for each in discovery if each is not None] == [GAMMA, "index"]
    assert discovery.left[Why.UNREADABLE] == 1


def test_folders_that_are_sessions_are_found_as_such(home):
    place = home / ".cline/data/tasks"
    shutil.copytree(FIXTURES / "cline/1767225600000", place / "1767225600000")
    (place / "not-one").mkdir()

    (entry,) = found()

    assert (entry.format, entry.location) == ("cline", str(place / "1767225600000"))
    assert entry.facts is not None
    assert entry.size == sum(each.stat().st_size for each in place.rglob("*.json"))


def test_a_database_gives_each_of_its_sessions(home):
    place = home / ".local/share/goose/sessions"
    place.mkdir(parents=True)
    shutil.copy(FIXTURES / "goose/sessions.db", place)

    entries = found()

    assert {each.format for each in entries} == {"goose"}
    assert len(entries) > 1
    assert len({each.key for each in entries}) == len(entries)
    assert None not in {each.session for each in entries}


@pytest.mark.parametrize("name", ["x.db", "x.sqlite", "X.DB", "link.db"])
def test_the_log_of_a_database_tells_that_it_was_written_to(tmp_path, name):
    from tt_debugger.discovery.folders import stamp_of
    from tt_debugger.storage.folders import FileFound, files_under

    own = "kept.db" if name == "link.db" else name
    keep(tmp_path / own, b"{}", 5)
    (tmp_path / "link.db").symlink_to(tmp_path / own)
    (seen,) = files_under(str(tmp_path / name))
    assert isinstance(seen, FileFound)
    before = stamp_of(seen)
    keep(tmp_path / f"{own}-wal", b"more", 5)

    assert before == seen.stamp
    assert stamp_of(seen) != before


def test_a_folder_that_some_agent_would_keep_is_one_session_anywhere(tmp_path):
    shutil.copytree(FIXTURES / "cline/1767225600000", tmp_path / "here/saved/task")
    keep(tmp_path / "here/saved/own.jsonl", pi_session("own", "Mend the roof"), 5)

    assert sorted((each.format, each.location) for each in found()) == [
        ("cline", "saved/task"),
        ("pi", "saved/own.jsonl"),
    ]


def test_the_books_that_an_agent_keeps_of_itself_are_no_sessions_of_its_users_home(
    home, monkeypatch
):
    kept = furnish(home)
    keep(home / ".pi/history.jsonl", pi_session("books", "Water the plants"), 5)
    keep(home / "own.jsonl", pi_session("own", "Mend the roof"), 5)
    keep(home / "saved/.pi/x.jsonl", pi_session("saved", "Mend the door"), 5)
    monkeypatch.chdir(home)

    assert {each.id for each in found()} == {ALPHA, BETA, GAMMA, "own", "saved"}
    assert kept["alpha"].exists()


def test_what_other_files_tell_of_a_session_is_not_taken_for_known_when_they_change(
    home, monkeypatch
):
    monkeypatch.setattr("tt_debugger.storage.catalogue.SETTLED", -(10**18))
    furnish(home)
    names = keep(home / "names", b"Plants", 5)

    class Named(Pi):
        @classmethod
        def consulted(cls, _location: str) -> str:
            return names.read_text()

    monkeypatch.setattr("tt_debugger.discovery.reading.store_of", lambda _format: Named)
    monkeypatch.setattr("tt_debugger.discovery.places.each_own_format", lambda: (Named,))

    found()
    assert {each.facts is None for each in known() if each.format == "pi"} == {False}
    names.write_text("Cats")
    assert {each.facts is None for each in known() if each.format == "pi"} == {True}
    found()
    assert {each.facts is None for each in known() if each.format == "pi"} == {False}


def test_a_session_whose_subagent_was_missing_is_read_again_when_its_folder_changes(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tt_debugger.storage.catalogue.SETTLED", -(10**18))
    folder = tmp_path / "here/kept"
    shutil.copytree(FIXTURES / "codex/subagents", folder)
    parent, child = sorted(folder.iterdir())
    moved = child.rename(tmp_path / child.name)

    def started() -> tuple[str, ...]:
        facts = [each.facts for each in found("kept") if each.location.endswith(parent.name)]
        (first,) = facts
        assert first is not None
        return first.started

    assert started() == ()
    assert known("kept")[0].facts is not None
    os.utime(moved.rename(child))
    os.utime(folder, (5, 5))
    assert started() == (f"kept/{child.name}",)


def test_a_subagent_is_not_taken_for_a_part_of_a_file_with_the_same_beginning():
    from tt_debugger.discovery.reading import is_in

    assert is_in("/s/conv1#agent", "/s/conv1")
    assert is_in("/s/conv1", "/s/conv1")
    assert not is_in("/s/conv10", "/s/conv1")


def test_no_more_comes_out_of_a_compressed_file_than_is_borne(tmp_path, monkeypatch):
    zstandard = pytest.importorskip("zstandard")
    from tt_debugger.discovery import reading

    session = next((FIXTURES / "codex").glob("*.jsonl")).read_bytes()
    for name, size in (("small", 10), ("big", 5 << 20)):
        data = zstandard.ZstdCompressor().compress(session + b" " * size + b"\n")
        keep(tmp_path / f"here/{name}.jsonl.zst", data, 5)
    monkeypatch.setattr(reading, "MOST_UNPACKED", 4 << 20)

    failed = {each.location: each.failed for each in found(".")}

    assert failed["small.jsonl.zst"] is None
    assert "holds more than 4 MiB" in (failed["big.jsonl.zst"] or "")


def test_the_first_sessions_that_are_known_wait_for_no_other_format(home):
    keep(home / ".claude/projects/x/a.jsonl", claude_session(), 5)
    program = """
import sys
from tt_debugger.discovery import EVERYWHERE, Discovery
from tt_debugger.storage import catalogue
catalogue.SETTLED = -(10**18)
discovery = Discovery(EVERYWHERE)
first = next(iter(discovery))
print(first.format, first.facts is not None, "tt_debugger.formats.tau" in sys.modules)
discovery.read(first)
discovery.save()
"""
    asked = [sys.executable, "-c", program]
    said = [subprocess.run(asked, check=True, capture_output=True).stdout for _ in range(2)]  # noqa: S603 - our own

    assert [each.split() for each in said] == [
        [b"claude_code", b"False", b"False"],
        [b"claude_code", b"True", b"False"],
    ]


def claude_session() -> bytes:
    """Give a session of Claude Code of one question."""
    message = {"role": "user", "content": "Water the plants"}
    own = {"type": "user", "uuid": "u", "parentUuid": None, "timestamp": "2026-01-01T00:00:00Z"}
    return jsonl({**own, "sessionId": "s", "cwd": "/dev", "version": "2.1.1", "message": message})


def test_a_file_whose_name_is_no_text_is_listed_with_the_others():
    name = os.fsdecode(b"\xff\xfe.jsonl")
    shutil.copyfile(FIXTURES / "tau" / "compacted.jsonl", name)
    shutil.copyfile(FIXTURES / "tau" / "compacted.jsonl", "plain.jsonl")

    for _ in range(2):
        assert sorted(each.location for each in found(".")) == sorted([name, "plain.jsonl"])
