"""What every store must do, with the store in memory as the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from builders import FILES, FORMATS, facts, files_of, load, memories, memory, replay_of

from tt_debugger.core.model import Kind, Session
from tt_debugger.core.replay import Rules
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.memory import MemoryStore
from tt_debugger.store import Follows, Loaded, Store

IN_MEMORY = [
    "",
    "a",
    "a b c d<b e<a",
    "b<a a< c<gone",
    "a a b<a",
    "a<b b<a",
]

Open = Callable[[], Store]


def cases() -> Iterator[object]:
    for text in IN_MEMORY:
        made = lambda text=text: memory(memories(text))[0]  # noqa: E731 - one of many
        yield pytest.param(made, id=f"memory-{text or 'empty'}")
    for name, path in FILES:
        opened = lambda name=name, path=path: load(path, name)[0]  # noqa: E731 - one of many
        yield pytest.param(opened, id=f"{name}-{path.stem}")


@pytest.fixture(params=cases())
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    opened: Store = request.param()
    yield opened
    opened.close()


@pytest.fixture
def loaded(store: Store) -> Loaded:
    return store.load(store.sessions()[-1])


@pytest.fixture
def session(loaded: Loaded) -> Session:
    return loaded.session


def test_a_store_keeps_the_contract(store: Store):
    assert isinstance(store, Store)
    assert isinstance(store, Follows)
    assert store.format in {*FORMATS, MemoryStore.format}
    assert store.about


def test_each_id_that_a_store_names_loads_the_session_of_that_id(store: Store):
    assert store.sessions()
    for name in store.sessions():
        assert store.load(name).session.id == name


def test_a_session_has_an_id_a_parent_and_a_head_for_each_row(store: Store, session: Session):
    rows = range(len(session))

    assert len(session.ids) == len(session.parents) == len(session.heads)
    assert len(set(session.ids)) == len(session.ids)
    assert all(NO_ROW <= parent < len(session) for parent in session.parents)
    assert sorted(session.tree.parents_first()) == list(rows)
    assert session.active is None or session.heads.kind(session.active) is not Kind.GAP
    assert set(session.labels) <= set(rows)
    assert session.format == store.format


def test_raw_spans_are_disjoint_in_order_and_hold_the_records_bytes(
    store: Store, session: Session
):
    end = 0
    spans: list[tuple[int, int]] = []
    for row in range(len(session)):
        head = session.heads[row]
        if head.offset is None or head.length is None:
            continue
        assert head.offset >= end
        end = head.offset + head.length
        # A row may be written in several records, with those of others between them.
        parts = session.heads.parts.get(row, ())
        assert len(store.raw(session, row)) == head.length + sum(each.length for each in parts)
        spans += [(head.offset, head.length), *((each.offset, each.length) for each in parts)]
    spans.sort()
    assert all(one + length <= other for (one, length), (other, _) in pairwise(spans))
    last = sum(spans[-1]) if spans else 0
    assert session.extent is None or last <= session.extent.size


def test_what_is_shown_and_what_is_skipped_make_up_the_file(store: Store, session: Session):
    if session.extent is None:
        assert store.format == "memory" or Path(store.location).suffix in {".db", ".git"}
        return
    files = files_of(Path(store.location))
    assert session.extent.size == sum(each.stat().st_size for each in files)
    gaps = [each.head.length or 0 for each in session if each.head.kind is Kind.GAP]
    assert sum(gaps) <= session.extent.skipped


def test_bodies_come_in_the_order_asked_for(store: Store, session: Session):
    rows = list(range(len(session)))
    in_order = store.bodies(session, rows)

    assert store.bodies(session, rows[::-1]) == in_order[::-1]
    assert store.bodies(session, [*rows, *rows]) == in_order * 2
    assert store.bodies(session, []) == []


def test_loading_again_gives_the_same_session(store: Store, session: Session):
    assert facts(store.load(store.sessions()[-1]).session) == facts(session)


def test_following_when_nothing_is_new_gives_the_same_session(store: Store, loaded: Loaded):
    assert isinstance(store, Follows)
    again = store.follow(loaded.cursor)

    assert again.session is loaded.session
    assert store.follow(again.cursor).session is loaded.session


def test_the_rules_of_a_session_replay_every_row(store: Store, session: Session):
    for uncompacted in (False, True):
        rules: Rules = store.rules(session, uncompacted=uncompacted)
        assert isinstance(rules.start(session)[0], dict)
        replay = replay_of(store, session, uncompacted=uncompacted)
        for row in range(len(session)):
            assert isinstance(replay.state(row), dict)
            assert isinstance(replay.resumed(row).state, dict)


def test_progress_ends_with_all_of_it(store: Store):
    heard: list[tuple[int, int]] = []

    store.load(store.sessions()[-1], lambda done, of: heard.append((done, of)))

    done = [each for each, _ in heard]
    assert done == sorted(done)
    assert heard[-1][0] <= heard[-1][1]


def test_what_a_store_says_beside_its_records_stands_in_its_bytes(session: Session):
    for aside in session.asides:
        assert NO_ROW <= aside.row < len(session)
        assert aside.name
        assert session.extent is not None
        assert 0 <= aside.offset <= aside.offset + aside.length <= session.extent.size


def test_a_store_may_be_closed_twice(store: Store):
    store.close()
    store.close()


@pytest.mark.parametrize("name", FORMATS)
def test_a_location_that_cannot_be_read_is_refused(name: str, tmp_path: Path):
    with pytest.raises(CannotReadError):
        load(tmp_path / "nothing" / "nothing.jsonl", name)


def test_no_location_leads_into_memory():
    with pytest.raises(CannotReadError):
        MemoryStore.open("anything")


def test_the_store_in_memory_is_no_format_of_a_location():
    assert MemoryStore.format not in FORMATS


def test_a_session_in_memory_grows_while_it_is_followed():
    records = memories("a b")
    store = MemoryStore({"s": records})
    loaded = store.load(store.sessions()[-1])
    records.extend(memories("a b c")[2:])

    followed = store.follow(loaded.cursor)

    assert (list(loaded.session.ids), list(followed.session.ids)) == (
        ["a", "b"],
        ["a", "b", "c"],
    )
