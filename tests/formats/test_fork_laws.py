"""The laws of forks, on every fixture of every format that can be forked.

A fork leaves every byte and row as it was, replays at its end to the state that was wanted, has
ids of its own, and gives no finding that the original did not have.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import FILES, files_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tt_debugger.core.between import keys_between
from tt_debugger.core.changes import Change, Drop, Put
from tt_debugger.core.fork.talk import fitted, messages_of, said_alike, talk_of
from tt_debugger.core.model import Kind
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, UnsupportedError, UsageError
from tt_debugger.forking import Drafted, Wish, composed, composing, drafted, forked, standing, undo
from tt_debugger.formats import known_formats
from tt_debugger.storage.database_files import MAGIC
from tt_debugger.storage.operations import Operations
from tt_debugger.store import Forks

FORKING = [each for each in known_formats() if hasattr(each, Forks.draft.__name__)]
CASES = [(store.format, path) for store in FORKING for name, path in FILES if name == store.format]
IDS = [f"{name}-{path.stem}" for name, path in CASES]
GIT = "git_commits"


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """Give a copy of a location in a folder of its own; the one fixture is never written to."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "w", path.name)
        target.parent.mkdir()
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copyfile(path, target)
        yield target


def digests(location: Path) -> dict[str, Any]:
    """Give what a location holds, file by file; of a database row by row."""
    found: dict[str, Any] = {}
    for each in files_of(location):
        name = str(each.relative_to(location.parent))
        data = each.read_bytes()
        if data.startswith(MAGIC):
            found |= {f"{name} {key}": rows for key, rows in rows_of(each).items()}
        else:
            found[name] = hashlib.sha256(data).hexdigest()
    return found


def rows_of(path: Path) -> dict[str, Counter[str]]:
    """Give the rows of each table of a database, and how often there is each."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        database.text_factory = bytes
        names = database.execute("select name, sql from sqlite_master where type = 'table'")
        tables = [name.decode() for name, sql in names.fetchall() if sql is not None]
        found = {"schema": Counter(map(repr, database.execute("select * from sqlite_master")))}
        return found | {
            table: Counter(map(repr, database.execute(f'select * from "{table}"')))  # noqa: S608
            for table in tables
            if table != "sqlite_sequence"
        }


def assert_all_is_there(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Make sure that every file is what it was, and every row is there still."""
    for name, value in before.items():
        if isinstance(value, Counter):
            assert value <= after[name], name
        else:
            assert after[name] == value, name


def opened(path: Path) -> Debugger:
    try:
        return Debugger.open(str(path))
    except CannotReadError:
        pytest.skip("nothing is read from it")


def points(debugger: Debugger) -> list[int]:
    session = debugger.session
    without = (Kind.GAP, Kind.UNREADABLE)
    return [row for row in range(len(session)) if session.heads.kind(row) not in without]


@st.composite
def edits(draw: st.DrawFn, debugger: Debugger, state: Any) -> list[Change]:
    """Give edits such as people make: of messages where there are any, else of a value."""
    size = len(messages_of(state)) if "messages" in state else 0
    kind = draw(st.sampled_from(["none", "say", "drop", "rewrite", "put"]))
    try:
        if kind == "say":
            return [debugger.message(state, draw(st.text(min_size=1, max_size=20)), 1e9)]
    except UnsupportedError:
        return []
    if kind == "drop" and size:
        return [Drop(("messages", draw(st.integers(0, size - 1))))]
    if kind == "rewrite" and size:
        place = draw(st.integers(0, size - 1))
        message = state["messages"][place]
        if isinstance(message, dict) and isinstance(message.get("content"), str):
            return [Put(("messages", place, "content"), draw(st.text(min_size=1, max_size=20)))]
    texts = [key for key, value in state.items() if isinstance(value, str)]
    if kind == "put" and texts:
        return [Put((draw(st.sampled_from(texts)),), draw(st.text(min_size=1, max_size=20)))]
    return []


def assert_keeps_the_laws(debugger: Debugger, done: Drafted, path: Path) -> None:
    """Write a draft, read it back, and hold it against the laws."""
    before = digests(path)
    location, session = done.draft.location, done.draft.session
    fork = forked(done)
    assert_all_is_there(before, digests(path))
    with Debugger.open(location, session) as found:
        row = found.session.row_of(done.draft.point)
        assert row is not None
        # In a repository that is where its user stands, and nothing was switched.
        assert row == found.session.active or debugger.session.format == GIT
        state, wanted = found.state(row), done.plan.wanted
        own = set(done.draft.own)
        assert set(keys_between(wanted, state)) <= own
        assert len(set(found.session.ids)) == len(found.session.ids)
        new = Counter(str(each.code) for each in found.session.findings)
        old = Counter(str(each.code) for each in debugger.session.findings)
        assert set(new) <= set(old), new - old
    undo(Operations().named(fork.operation))
    after = digests(path)
    assert_all_is_there(before, after)
    # What no branch leads to is swept up by git itself.
    kept = {name: value for name, value in after.items() if "/objects/" not in name}
    assert_all_is_there(kept, before)


@pytest.mark.parametrize(("name", "path"), CASES, ids=IDS)
@settings(max_examples=8)
@given(data=st.data())
def test_a_fork_keeps_the_laws(name: str, path: Path, data: st.DataObject):
    with copied(path) as copy, opened(copy) as debugger:
        if not points(debugger):
            return
        assert debugger.session.format == name
        row = data.draw(st.sampled_from(points(debugger)))
        try:
            at = standing(debugger, row)
            asked = data.draw(edits(debugger, at.state))
            done = drafted(debugger, at, asked)
        except (UnsupportedError, UsageError):
            # What the format cannot hold; what it must hold, other tests say.
            return
        assert_keeps_the_laws(debugger, done, copy)


@pytest.mark.parametrize(("name", "path"), CASES, ids=IDS)
def test_the_active_leaf_can_be_forked_as_it_is(name: str, path: Path):
    with copied(path) as copy, opened(copy) as debugger:
        active = debugger.session.active
        if active is None:
            pytest.skip("nothing is in it")
        try:
            done = drafted(debugger, standing(debugger, active))
        except (UnsupportedError, UsageError) as refused:
            pytest.skip(f"{name}: {refused.message}")
        assert_keeps_the_laws(debugger, done, copy)


@pytest.mark.parametrize(("name", "path"), CASES, ids=IDS)
def test_a_branch_in_the_session_itself_only_adds_to_it(name: str, path: Path):
    with copied(path) as copy, opened(copy) as debugger:
        active = debugger.session.active
        if active is None:
            pytest.skip("nothing is in it")
        try:
            row = debugger.session.tree.path_to(active)[-2:][0]
            at = standing(debugger, row)
            done = drafted(debugger, at, (), Wish(in_place=True))
        except (UnsupportedError, UsageError) as refused:
            pytest.skip(f"{name}: {refused.message}")
        before = {each: each.read_bytes() for each in files_of(copy)}
        forked(done)
        for each, data in before.items():
            if not data.startswith(MAGIC):
                assert each.read_bytes().startswith(data)


TALKS = [(name, path) for name, path in FILES if path.suffix in {".jsonl", ".json", ".db"}]


@pytest.mark.parametrize("agent", composing())
@pytest.mark.parametrize(
    ("name", "path"), TALKS, ids=[f"{name}-{path.stem}" for name, path in TALKS]
)
def test_another_agent_is_told_the_same(name: str, path: Path, agent: str, tmp_path: Path):
    with opened(path) as debugger:
        active = debugger.session.active
        if active is None:
            pytest.skip("nothing is in it")
        try:
            at = standing(debugger, active, for_another_agent=True)
            done = composed(debugger, at, agent, (), Wish(target=f"{tmp_path}/"))
        except (UnsupportedError, UsageError) as refused:
            pytest.skip(f"{name}: {refused.message}")
        forked(done)
        talk = talk_of(done.plan.wanted)
        store = next(each for each in known_formats() if each.format == agent)
        with Debugger.open(done.draft.location) as found:
            assert found.session.format == agent
            assert not found.session.findings
            assert found.session.active is not None
            told = talk_of(found.state(found.session.active))
            assert said_alike(told, fitted(talk, store.fit))
