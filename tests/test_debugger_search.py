"""An opened session is searched and marked: the file, its bodies, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import PI_HEADER, assistant, jsonl, pi, user

from tt_debugger.core.refs import Point
from tt_debugger.core.search import Hit, Query, Search
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, UnknownRefError
from tt_debugger.storage.marks import Marks

FILE = jsonl(
    PI_HEADER,
    pi("aaaa1111", None, user("Where is the needle?")),
    pi("bbbb2222", "aaaa1111", assistant("In the hay. " * 40 + "Here: déjà-vu")),
    "{torn hay",
    pi("cccc3333", "bbbb2222", user("Thanks")),
    pi("dddd4444", "cccc3333", type="label", targetId="cccc3333", label="The Needle"),
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(FILE)
    return path


def found(debugger: Debugger, text: str, start: int = 0) -> Search:
    query = Query.parse(text)
    assert query is not None
    search = Search(query, len(debugger.session), start)
    for each in debugger.search(query, start):
        search.tell(each)
    return search


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("needle", [0, 3, 4]),
        ("The Needle", [3, 4]),
        ("DÉJÀ", []),
        ("déjà-vu", [1]),
        ("hay", [1, 2]),
        ("torn", [2]),
        ("targetid", [4]),
        ("assistant", [1]),
        ("cccc3333", [3, 4]),
        ("nowhere", []),
    ],
)
@pytest.mark.parametrize("start", [0, 3])
def test_a_text_is_found_in_bodies_labels_gaps_and_the_index(
    file: Path, text: str, rows: list[int], start: int
):
    with Debugger.open(str(file)) as debugger:
        search = found(debugger, text, start)

    assert sorted(search.hits) == rows
    assert search.is_done


def test_a_hit_deep_in_a_long_text_shows_what_is_around_it(file: Path):
    with Debugger.open(str(file)) as debugger:
        search = found(debugger, "here:")

    assert search.hits == {1: Hit(1, "…In the hay. In the hay. ", "Here:", " déjà-vu")}


def test_a_session_of_a_blank_file_is_searched_to_its_end(tmp_path: Path):
    path = tmp_path / "blank.jsonl"
    path.write_bytes(b"")
    with Debugger.open(str(path)) as debugger:
        assert found(debugger, "x").is_done


def test_between_two_batches_others_may_ask(file: Path):
    query = Query.parse("needle")
    assert query is not None
    with Debugger.open(str(file)) as debugger:
        rows = [debugger.inspect(0).row for _ in debugger.search(query)]

    assert len(rows) > 1


def test_a_file_that_was_cut_meanwhile_ends_the_search_with_an_error(file: Path):
    with Debugger.open(str(file)) as debugger:
        file.write_bytes(FILE[:100])
        with pytest.raises(CannotReadError, match="the file changed since it was read"):
            found(debugger, "needle")


def test_a_mark_names_its_checkpoint_when_the_session_is_opened_again(file: Path):
    before = file.read_bytes()
    with Debugger.open(str(file)) as debugger:
        debugger.set_mark("a", 1)
        debugger.set_mark("b", 3)
        debugger.drop_mark("b")
    with Debugger.open(str(file)) as debugger:
        assert debugger.marks == {"a": "bbbb2222"}
        assert debugger.row(Point("mark", "a", (-1,))) == 0
        assert debugger.completer().where("mark=a") == 1
        with pytest.raises(UnknownRefError, match="no mark 'b'"):
            debugger.row(Point("mark", "b"))

    assert (file.read_bytes(), sorted(file.parent.glob("*.jsonl"))) == (before, [file])


def test_a_mark_set_now_is_known_at_once(file: Path):
    with Debugger.open(str(file)) as debugger:
        completer = debugger.completer()
        debugger.set_mark("here", 1)

        assert debugger.row(Point("mark", "here")) == 1
        assert [each.row for each in completer.complete("mark=")] == [1]


def test_marks_stay_while_the_file_grows(file: Path):
    with Debugger.open(str(file)) as debugger:
        debugger.set_mark("a", 1)
        file.write_bytes(FILE + jsonl(pi("eeee5555", "dddd4444", user("more"))))

        assert debugger.follow()
        assert debugger.row(Point("mark", "a")) == 1


def test_no_marks_are_read_where_no_mark_is_named(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Marks, "_stored", lambda _: pytest.fail("read too early"))
    with Debugger.open(str(file)) as debugger:
        assert debugger.row(Point("label", "The Needle")) == 3
        assert debugger.inspect(1).row == 1


def test_a_mark_whose_checkpoint_is_gone_is_an_unknown_ref(file: Path):
    with Debugger.open(str(file)) as debugger:
        debugger.set_mark("a", 3)
    file.write_bytes(jsonl(*FILE.splitlines()[:3]))

    with (
        Debugger.open(str(file)) as debugger,
        pytest.raises(UnknownRefError, match="'cccc3333'"),
    ):
        debugger.row(Point("mark", "a"))
