"""The laws of replay and following, on every fixture and on files with anything in them."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import (
    ADDRESSED,
    FILE_IDS,
    FILES,
    FIXTURES,
    FORMATS,
    LINE_FILES,
    LINE_FORMATS,
    OTHER_FILES,
    PI_HEADER,
    codes,
    facts,
    files_of,
    jsonl,
    load,
    pi,
    replay_of,
    user,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import bent_files, damaged_files, fixture_lines, pieces_of
from writers import in_place, renamed_over

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Append, fold
from tt_debugger.core.diff.edits import apply, inverted
from tt_debugger.core.diff.states import diff
from tt_debugger.core.findings import Code
from tt_debugger.core.json import as_list
from tt_debugger.core.model import Kind, Session, SessionId
from tt_debugger.core.refs import Resolver
from tt_debugger.core.replay import Replay
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.pi import Pi
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.storage.lines import CHUNK
from tt_debugger.store import Follows, Loaded, Store
from tt_debugger.views.checkpoint import meta_lines, title_line
from tt_debugger.views.graph import graph_lines
from tt_debugger.views.palette import ANSI, UNICODE


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws") / "session.jsonl"


def check_replay_law(session: Session, replay: Replay) -> None:
    for row, parent in enumerate(session.parents):
        if session.heads.kind(row) is Kind.GAP:
            assert (replay.state(row), parent) == ({}, NO_ROW)
            continue
        before = {} if parent == NO_ROW else replay.state(parent)
        assert replay.state(row) == fold(before, replay.changes(row))


def check_that_every_row_is_drawn(session: Session) -> None:
    resolver = Resolver(session)
    for width in (None, 40, 120):
        lines = list(graph_lines(session, resolver, ANSI, UNICODE, width))
        assert len(lines) == len(session)
        assert all("\n" not in each.plain for each in lines)
    for row in range(len(session)):
        assert title_line(session, row, ANSI).plain
        assert list(meta_lines(session, row, ANSI))


@pytest.mark.parametrize(("name", "file"), FILES, ids=FILE_IDS)
@pytest.mark.parametrize("uncompacted", [False, True])
def test_each_state_is_the_changes_on_that_of_the_parent(
    name: str,
    file: Path,
    uncompacted: bool,  # noqa: FBT001 - a column of the table
):
    store, loaded = load(file, name)
    check_replay_law(loaded.session, replay_of(store, loaded.session, uncompacted=uncompacted))
    store.close()


@pytest.mark.parametrize(("name", "file"), FILES, ids=FILE_IDS)
def test_states_asked_for_from_the_last_row_on_are_the_same(name: str, file: Path):
    store, loaded = load(file, name)
    there, back = (replay_of(store, loaded.session) for _ in range(2))
    rows = range(len(loaded.session))

    assert [there.state(row) for row in rows] == [back.state(row) for row in rows[::-1]][::-1]
    store.close()


@pytest.mark.parametrize(("name", "file"), FILES, ids=FILE_IDS)
def test_changes_along_a_path_are_those_of_each_row(name: str, file: Path):
    store, loaded = load(file, name)
    tree = loaded.session.tree

    for leaf in tree.leaves()[:8]:
        path = tree.path_to(leaf)
        for begin in (0, len(path) // 2):
            along, each = (replay_of(store, loaded.session) for _ in range(2))
            rows = path[begin:]
            assert list(along.changes_along(rows)) == [each.changes(row) for row in rows]
    store.close()


@pytest.mark.parametrize(("name", "file"), FILES, ids=FILE_IDS)
def test_the_difference_of_two_states_leads_from_one_to_the_other_and_back(name: str, file: Path):
    store, loaded = load(file, name)
    replay = replay_of(store, loaded.session)
    rows = range(0, len(loaded.session), len(loaded.session) // 8 + 1)

    for one in rows:
        for other in rows:
            old, new = replay.state(one), replay.state(other)
            difference = diff(old, new, mask=False).difference
            assert is_same(apply(difference, old), new)
            assert is_same(apply(inverted(difference), new), old)
    store.close()


@pytest.mark.parametrize(("name", "file"), FILES, ids=FILE_IDS)
@pytest.mark.parametrize("uncompacted", [False, True])
def test_the_recent_messages_are_the_end_of_those_of_the_state(
    name: str,
    file: Path,
    uncompacted: bool,  # noqa: FBT001 - a column of the table
):
    store, loaded = load(file, name)
    for row in range(len(loaded.session)):
        state = replay_of(store, loaded.session, uncompacted=uncompacted).state(row)
        # A document that was saved may call anything so.
        messages = as_list(state.get("messages"))
        for count in (0, 1, 2, 5, 1000):
            asked = replay_of(store, loaded.session, uncompacted=uncompacted)
            assert asked.recent(row, count) == messages[max(len(messages) - count, 0) :]
    store.close()


@pytest.mark.parametrize(("name", "file"), FILES, ids=FILE_IDS)
def test_uncompacted_states_hold_all_that_was_ever_said_on_the_path(name: str, file: Path):
    store, loaded = load(file, name)
    session = loaded.session
    recorded = replay_of(store, session)
    uncompacted = replay_of(store, session, uncompacted=True)

    for row in range(len(session)):
        if session.heads.kind(row) is Kind.GAP:
            continue
        said = [
            change.value
            for each in session.tree.path_to(row)
            for change in recorded.changes(each)
            if isinstance(change, Append) and change.path == ("messages",)
        ]
        held = uncompacted.state(row).get("messages", [])
        assert [each for each in said if each not in held] == []
    store.close()


@given(st.sampled_from(LINE_FORMATS), st.data())
def test_whatever_a_file_holds_every_row_replays_resumes_and_is_drawn(
    path: Path, name: str, data: st.DataObject
):
    path.write_bytes(data.draw(damaged_files(name)))
    store, loaded = load(path, name)
    session = loaded.session
    replay = replay_of(store, session)

    check_replay_law(session, replay)
    check_that_every_row_is_drawn(session)
    for row in range(len(session)):
        assert isinstance(replay.resumed(row).state, dict)
    store.close()


@given(st.sampled_from(LINE_FILES), st.data())
def test_whatever_type_a_field_has_every_row_replays_resumes_and_is_drawn(
    path: Path, file: tuple[str, Path], data: st.DataObject
):
    name, fixture = file
    path.write_bytes(data.draw(bent_files(fixture.read_bytes())))
    store, loaded = load(path, name)
    session = loaded.session

    for uncompacted in (False, True):
        replay = replay_of(store, session, uncompacted=uncompacted)
        check_replay_law(session, replay)
        for row in range(len(session)):
            replay.resumed(row)
    check_that_every_row_is_drawn(session)
    store.close()


@given(st.sampled_from(LINE_FORMATS), st.data())
def test_every_byte_of_a_file_is_shown_or_skipped(path: Path, name: str, data: st.DataObject):
    content = data.draw(damaged_files(name))
    path.write_bytes(content)
    store, loaded = load(path, name)
    session = loaded.session
    assert session.extent is not None
    gaps = sum(each.head.length or 0 for each in session if each.head.kind is Kind.GAP)
    torn = content[content.rfind(b"\n") + 1 :]

    assert session.extent.size == len(content)
    assert session.extent.skipped - gaps in {0, *range(len(torn) + 1)}
    store.close()


@given(st.sampled_from(LINE_FORMATS), st.data())
def test_each_body_is_the_record_that_its_row_was_made_from(
    path: Path, name: str, data: st.DataObject
):
    path.write_bytes(data.draw(damaged_files(name)))
    store, loaded = load(path, name)
    session = loaded.session

    odd = {each.checkpoint for each in session.findings if each.code is Code.ODD_NUMBER}
    for row, body in enumerate(store.bodies(session, range(len(session)))):
        if session.heads.kind(row) is Kind.GAP:
            assert body is None
            continue
        written = body if isinstance(body, list) else [body]
        assert len(written) == 1 + len(session.heads.parts.get(row, ()))
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            data = store.raw(session, row).removeprefix(b"\xef\xbb\xbf")
            exact = msgspec.json.Decoder().decode_lines(data)
            assert written == exact or session.ids[row] in odd
    store.close()


def followed(store: Store, loaded: Loaded) -> Loaded:
    assert isinstance(store, Follows)
    return store.follow(loaded.cursor)


def whole(path: Path, name: str, session: SessionId) -> dict[str, Any]:
    """Give what a store that has never seen the file makes of a session, or of its newest."""
    store, loaded = load(path, name)
    if session in store.sessions():
        loaded = store.load(session)
    seen = {**facts(loaded.session), "own": loaded.session.own}
    store.close()
    return seen


def check_as_if_read_anew(path: Path, name: str, session: Session) -> None:
    """Check that a session is what a store makes of it that has never seen the file."""
    assert {**facts(session), "own": session.own} == whole(path, name, session.id)


def check_tail_law(path: Path, name: str, pieces: list[bytes]) -> None:
    path.write_bytes(b"")
    store, loaded = load(path, name)
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece)
        loaded = followed(store, loaded)
        check_as_if_read_anew(path, name, loaded.session)
    store.close()


@given(st.sampled_from(LINE_FORMATS), st.data())
def test_a_file_read_in_pieces_is_the_file_read_whole(path: Path, name: str, data: st.DataObject):
    content = data.draw(damaged_files(name))
    check_tail_law(path, name, data.draw(pieces_of(content)))


@given(st.sampled_from(LINE_FILES), st.data())
def test_a_fixture_read_in_pieces_is_the_fixture_read_whole(
    path: Path, file: tuple[str, Path], data: st.DataObject
):
    name, fixture = file
    check_tail_law(path, name, data.draw(pieces_of(fixture.read_bytes())))


def test_a_fixture_read_byte_by_byte_is_the_fixture_read_whole(path: Path):
    content = (FIXTURES / "tau" / "edge-crlf.jsonl").read_bytes()
    check_tail_law(path, "tau", [content[n : n + 1] for n in range(len(content))])


@pytest.mark.parametrize("torn", [b"", b'{"id": "x"'])
def test_what_is_written_while_a_file_is_read_is_for_follow(path: Path, torn: bytes):
    # Long ones: what counts is the bytes, what takes time the lines.
    entry = jsonl(pi(None, None, user("hi" * 500)))
    written = 2 * CHUNK // len(entry)
    path.write_bytes(jsonl(PI_HEADER) + entry * written + torn)
    store = Pi.open(str(path))
    heard: list[int] = []

    def write_as_much_again(done: int, size: int) -> None:
        assert done <= size
        heard.append(done)
        # Written faster than read; a reader that runs after it would otherwise never end.
        if len(heard) < 20:
            with path.open("ab") as file:
                file.write(b"\n" + entry * written)

    loaded = store.load(store.sessions()[0], write_as_much_again)

    assert len(loaded.session) == written
    assert len(heard) > 2
    rest = followed(store, loaded).session
    assert facts(rest) == facts(load(path, "pi")[1].session)
    store.close()


def test_a_session_that_was_given_out_stays_as_it_was(path: Path):
    path.write_bytes(jsonl(PI_HEADER, pi("a", None, user("hi"))) + b'{"id": "b"')
    store, first = load(path, "pi")
    before = facts(first.session)
    with path.open("ab") as file:
        file.write(b'}\n{"id": "a", "type": "label", "targetId": "b", "label": "x"}\n')

    second = followed(store, first)

    assert facts(first.session) == before
    assert (list(first.session.ids), list(second.session.ids)) == (["a"], ["a@2", "b", "a"])
    store.close()


def sample(name: str) -> list[bytes]:
    """Give the lines of the first fixture of a format that has enough sound ones to be cut."""
    return next(
        lines
        for lines in fixture_lines(name)
        if len(lines) > 3 and all(isinstance(records(line)[0], Record) for line in lines[:3])
    )


def old(name: str) -> bytes:
    return jsonl(*sample(name)[:3])


def new(name: str, size: str) -> bytes:
    other = next(lines for lines in fixture_lines(name)[::-1] if lines != sample(name))
    match size:
        case "shorter":
            return jsonl(other[0][: len(old(name)) // 2])
        case "of the same size":
            return old(name).swapcase()
        case "longer":
            return jsonl(*other, *sample(name))
        case _:
            return b""


@pytest.mark.parametrize("name", LINE_FORMATS)
@pytest.mark.parametrize("how", [in_place, renamed_over])
@pytest.mark.parametrize("size", ["shorter", "of the same size", "longer", "empty"])
def test_a_file_that_was_replaced_is_read_from_its_beginning(
    path: Path, name: str, how: Any, size: str
):
    path.write_bytes(old(name))
    store, loaded = load(path, name)

    how(path, new(name, size))

    check_as_if_read_anew(path, name, followed(store, loaded).session)
    store.close()


@pytest.mark.parametrize("name", LINE_FORMATS)
def test_a_file_that_was_cut_and_grew_past_its_old_size_is_read_anew(path: Path, name: str):
    path.write_bytes(old(name))
    store, loaded = load(path, name)
    with path.open("r+b") as file:
        file.truncate(len(old(name)) // 2)
    loaded = followed(store, loaded)
    check_as_if_read_anew(path, name, loaded.session)

    with path.open("ab") as file:
        file.write(b"\n" + old(name) * 2)

    check_as_if_read_anew(path, name, followed(store, loaded).session)
    store.close()


@pytest.mark.parametrize("name", LINE_FORMATS)
def test_a_torn_tail_that_was_rewritten_in_place_is_read_anew(path: Path, name: str):
    path.write_bytes(old(name) + b'{"id": "c", "x": 1')
    store, loaded = load(path, name)
    path.write_bytes(old(name) + b'{"id": "d", "x":1}')

    check_as_if_read_anew(path, name, followed(store, loaded).session)
    store.close()


@given(st.sampled_from(LINE_FORMATS), st.data())
def test_any_other_content_over_any_content_is_read_as_it_is(
    path: Path, name: str, data: st.DataObject
):
    path.write_bytes(data.draw(damaged_files(name)))
    store, loaded = load(path, name)
    renamed_over(path, data.draw(damaged_files(name)))

    check_as_if_read_anew(path, name, followed(store, loaded).session)
    store.close()


def test_a_gap_that_goes_on_behind_the_last_newline_stays_one_gap(path: Path):
    path.write_bytes(jsonl(PI_HEADER, "bad"))
    store, loaded = load(path, "pi")
    assert list(loaded.session.ids) == ["gap@2"]

    with path.open("ab") as file:
        file.write(b"worse\n")
    loaded = followed(store, loaded)

    assert [(each.id, each.head.length) for each in loaded.session] == [("gap@2", 10)]
    assert codes(loaded.session.findings) == ["TT101", "TT101"]
    store.close()


def test_each_format_is_under_these_laws_by_its_fixtures():
    assert {name for name, _ in FILES} == set(FORMATS) - ADDRESSED
    assert all(map(fixture_lines, LINE_FORMATS))


@given(st.sampled_from(LINE_FORMATS), st.data())
def test_the_id_of_a_session_is_known_before_it_is_loaded(
    path: Path, name: str, data: st.DataObject
):
    path.write_bytes(data.draw(damaged_files(name)))
    store, _ = load(path, name)

    for each in store.sessions():
        assert store.load(each).session.id == each
    store.close()


@pytest.mark.parametrize("name", LINE_FORMATS)
def test_a_file_that_was_cut_or_rewritten_gives_no_wrong_body(path: Path, name: str):
    path.write_bytes(old(name))
    store, loaded = load(path, name)
    session = loaded.session
    rows = range(len(session))
    before = store.bodies(session, rows)

    path.write_bytes(b" " * len(old(name)))
    for row in rows:
        with pytest.raises(CannotReadError, match="the file changed since it was read"):
            store.bodies(session, [row])

    end = (session.heads.offset(rows[-1]) or 0) + (session.heads.length(rows[-1]) or 0)
    path.write_bytes(old(name)[: end - 2])
    with pytest.raises(CannotReadError, match="the file changed since it was read") as error:
        store.raw(session, rows[-1])
    assert error.value.hint == "open it again"
    assert store.bodies(session, rows[:-1]) == before[:-1]
    store.close()


@given(st.sampled_from(LINE_FORMATS), st.data())
def test_a_finding_about_a_record_names_its_checkpoint(path: Path, name: str, data: st.DataObject):
    path.write_bytes(data.draw(damaged_files(name)))
    store, loaded = load(path, name)
    session = loaded.session
    spans = {each.id: (each.head.offset or 0, each.head.length or 0) for each in session}

    for each in session.findings:
        assert each.offset is not None
        within = [name for name, (at, size) in spans.items() if at <= each.offset < at + size]
        assert [each.checkpoint] == (within or [None])
    store.close()


@given(st.sampled_from(LINE_FORMATS), st.data())
def test_findings_stand_in_file_order_and_name_checkpoints_that_are_there(
    path: Path, name: str, data: st.DataObject
):
    content = data.draw(damaged_files(name))
    path.write_bytes(content)
    store, loaded = load(path, name)
    found = loaded.session.findings

    places = [(each.line or 0, each.offset or 0) for each in found]
    assert places == sorted(places)
    assert {each.checkpoint for each in found} - {None} <= set(loaded.session.ids)
    assert all(each.offset is None or each.offset < len(content) for each in found)
    store.close()


@st.composite
def documents_damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Give a document that was cut, or of which a stretch is gone or was written over."""
    for _ in range(draw(st.integers(0, 2))):
        begin = draw(st.integers(0, len(content)))
        end = draw(st.integers(begin, min(len(content), begin + 200)))
        over = draw(st.sampled_from((b"", b"\0" * 40, b"\xff" * 3, b"}", b"]", b"{", b'"', b",")))
        content = content[:begin] + over + content[end:]
    return content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content


def copied(location: Path, folder: Path) -> Path:
    """Give a copy of a location in a folder, under its own name."""
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / location.name
    if location.is_dir():
        shutil.copytree(location, copy, dirs_exist_ok=True)
    else:
        shutil.copyfile(location, copy)
    return copy


def check_in_all_ways(store: Store, session: Session, location: Path) -> None:
    """Check what holds of every session, however damaged its files are."""
    replay = replay_of(store, session)
    check_replay_law(session, replay)
    check_that_every_row_is_drawn(session)
    for row, body in enumerate(store.bodies(session, range(len(session)))):
        assert (body is None) == (session.heads.kind(row) is Kind.GAP)
        assert isinstance(replay.resumed(row).state, dict)
        store.raw(session, row)
    assert session.extent is not None
    assert session.extent.size == sum(each.stat().st_size for each in files_of(location))
    assert 0 <= session.extent.skipped <= session.extent.size


def check_what_is_left(
    path: Path,
    file: tuple[str, Path],
    data: st.DataObject,
    hurt: Callable[[bytes], st.SearchStrategy[bytes]],
) -> None:
    """Check what is shown of a location of which one file was hurt in some way."""
    name, fixture = file
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        location = copied(fixture, Path(folder))
        chosen = data.draw(st.sampled_from(files_of(location)))
        chosen.write_bytes(data.draw(hurt(chosen.read_bytes())))
        with suppress(CannotReadError):
            store, loaded = load(location, name)
            check_in_all_ways(store, loaded.session, location)
            store.close()


@given(st.sampled_from(OTHER_FILES), st.data())
def test_whatever_happens_to_a_document_or_a_folder_what_is_left_is_shown(
    path: Path, file: tuple[str, Path], data: st.DataObject
):
    check_what_is_left(path, file, data, documents_damaged)


@st.composite
def documents_bent(draw: st.DrawFn, content: bytes) -> bytes:
    """Give a document in which a few values, at any depth, are of any other type."""
    try:
        line = json.dumps(json.loads(content)).encode()
    except ValueError:
        return content
    return draw(bent_files(line))


@given(st.sampled_from(OTHER_FILES), st.data())
def test_whatever_type_a_field_of_a_document_has_all_of_it_is_shown(
    path: Path, file: tuple[str, Path], data: st.DataObject
):
    check_what_is_left(path, file, data, documents_bent)


@given(st.sampled_from(OTHER_FILES), st.data())
def test_a_document_or_a_folder_that_was_written_anew_is_followed_as_it_is(
    path: Path, file: tuple[str, Path], data: st.DataObject
):
    name, fixture = file
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        location = copied(fixture, Path(folder))
        changed = data.draw(st.sampled_from(files_of(location)))
        after = changed.read_bytes()
        changed.write_bytes(data.draw(documents_damaged(after)))
        with suppress(CannotReadError):
            store, loaded = load(location, name)
            changed.write_bytes(after)
            check_as_if_read_anew(location, name, followed(store, loaded).session)
            store.close()
