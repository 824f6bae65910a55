"""What every backend of a recorder must do, with the one in memory as the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from record.backends import BACKENDS, EVERY, HEADER, Backend, changed, some, start, time_at

from tt_debugger.core.recording.entries import Changed, Entry, Header, Said
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.errors import CannotWriteError
from tt_debugger.record.backends.options import Options
from tt_debugger.store import Records

Open = Callable[..., Records]
LARGE = 2 << 20


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
def lasting(backend: Backend) -> Backend:
    if not backend.stays:
        pytest.skip("nothing of it stays when it is closed")
    return backend


@pytest.fixture
def forgetful(backend: Backend) -> Backend:
    if backend.knows_outcome:
        pytest.skip("nothing is given again: whether it is there is always known")
    return backend


@pytest.fixture
def opened(backend: Backend, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open the log of a test, or another session there; all are closed in the end."""
    location = backend.place(request, tmp_path)
    logs: list[Records] = []

    def open_log(session: str = "main", tenant: str = "") -> Records:
        log = backend.open(location, Options(session, tenant))
        logs.append(log)
        return log

    yield open_log
    for log in logs:
        log.close()


@pytest.fixture
def log(opened: Open) -> Records:
    made = opened()
    made.begin(HEADER)
    return made


def oldest_first(log: Records) -> list[Entry]:
    return list(log.newest_first())[::-1]


def test_a_backend_keeps_the_contract(log: Records):
    assert isinstance(log, Records)
    assert log.location
    assert log.durability


def test_a_log_that_was_not_begun_has_no_header_and_no_entries(opened: Open):
    log = opened()

    assert log.header is None
    assert list(log.newest_first()) == []


def test_a_log_that_was_begun_has_its_header_and_no_entries(log: Records):
    assert log.header == HEADER
    assert list(log.newest_first()) == []


def test_a_log_is_begun_once(log: Records):
    with pytest.raises(CannotWriteError):
        log.begin(HEADER)

    assert log.header == HEADER


def test_entries_come_back_the_last_one_first(log: Records):
    log.append(some(3))
    log.append([changed(3)])

    assert list(log.newest_first()) == some(4)[::-1]


def test_a_state_is_restored_of_the_newest_entries(log: Records):
    log.append(some(200))

    found = restored(log.newest_first())

    assert isinstance(found, Restored)
    assert found.leaf == "e199"
    assert found.state == {"messages": [], "n": 199}


def test_entries_are_read_only_as_far_as_one_asks(log: Records):
    log.append(some(200))

    assert list(islice(log.newest_first(), 2)) == some(200)[:-3:-1]
    log.append([changed(200)])
    assert oldest_first(log) == some(201)


def test_nothing_is_appended_where_nothing_is_given(log: Records):
    log.append([])

    assert list(log.newest_first()) == []


@pytest.mark.parametrize("each", EVERY, ids=lambda each: f"{type(each).__name__}-{each.id}")
def test_an_entry_of_every_type_comes_back_as_it_was(log: Records, each: Entry):
    log.append([each])

    assert list(log.newest_first()) == [each]


def test_entries_of_all_types_and_branches_come_back_in_their_order(log: Records):
    log.append(EVERY[:5])
    log.append(EVERY[5:])

    assert tuple(oldest_first(log)) == EVERY


@pytest.mark.parametrize(
    "text",
    [
        "grüße, 世界, 🦀, \N{ZERO WIDTH JOINER}\N{COMBINING ACUTE ACCENT}",
        "\N{LINE SEPARATOR}\N{PARAGRAPH SEPARATOR}\N{NEXT LINE}",
        "a\nb\r\nc\td",
        "\0\1\x1b[31m\x7f",
        'it\'s "quoted" \\ %s ? :a $1 {b}',
        "\U0010ffff\ufffe",
    ],
)
def test_text_of_any_kind_comes_back_as_it_was(log: Records, text: str):
    entries = [
        start({"messages": [], text: text}),
        Said("e1", "e0", time_at(1), name=text, message={"role": "user", "content": text}),
    ]

    log.append(entries)

    assert oldest_first(log) == entries


def test_large_entries_come_back_as_they_were(log: Records):
    large = "0123456789abcdef" * (LARGE // 16)
    entries = [
        start({"messages": [], "large": large}),
        Said("e1", "e0", time_at(1), message={"role": "tool", "content": large}),
        changed(2),
    ]

    log.append(entries)

    assert oldest_first(log) == entries


@pytest.mark.usefixtures("forgetful")
def test_what_is_given_again_is_not_added_twice(log: Records):
    log.append(some(3))
    log.append(some(3))
    log.append(some(4)[2:])
    log.append([changed(4)])

    assert oldest_first(log) == some(5)


@pytest.mark.usefixtures("lasting")
def test_what_cannot_be_written_as_json_adds_nothing(log: Records):
    log.append(some(2))
    wrong = Said("e3", "e2", time_at(3), message={"role": "user", "content": object()})

    with pytest.raises((TypeError, CannotWriteError)):
        log.append([changed(2), wrong])

    log.append([changed(2)])
    assert oldest_first(log) == some(3)


@pytest.mark.usefixtures("lasting")
class TestReopened:
    """What holds when a log is opened again."""

    def test_a_log_is_there_as_it_was(self, opened: Open, log: Records):
        log.append(EVERY)
        location, durability = log.location, log.durability
        log.close()

        again = opened()

        assert tuple(oldest_first(again)) == EVERY
        assert again.header == HEADER
        assert (again.location, again.durability) == (location, durability)

    def test_a_log_goes_on_behind_its_last_entry(self, opened: Open, log: Records):
        log.append(some(2))
        log.close()

        again = opened()
        again.append([changed(2)])
        again.close()

        assert oldest_first(opened()) == some(3)

    def test_a_log_without_entries_can_be_gone_on_with(self, opened: Open, log: Records):
        log.close()

        again = opened()

        assert again.header == HEADER
        again.append(some(2))
        assert oldest_first(again) == some(2)

    @pytest.mark.usefixtures("forgetful")
    def test_what_is_given_again_is_not_added_twice(self, opened: Open, log: Records):
        log.append(some(3))
        log.close()

        again = opened()
        again.append(some(4)[1:])

        assert oldest_first(again) == some(4)

    def test_it_can_be_closed_twice(self, log: Records):
        log.close()
        log.close()

    def test_a_second_writer_is_refused_and_nothing_of_it_is_there(
        self, opened: Open, log: Records
    ):
        log.append(some(2))
        with pytest.raises(CannotWriteError) as refused:  # noqa: PT012 - when is the backend's
            other = opened()
            log.append([changed(2)])
            other.append([Changed("other", "e1", time_at(2))])

        assert refused.value.hint
        log.close()
        again = opened()
        assert oldest_first(again) in (some(2), some(3))
        again.append([Changed("mine", "e1", time_at(3))])
        assert oldest_first(again)[-1].id == "mine"

    def test_a_writer_that_was_refused_can_go_on_when_it_opens_again(
        self, opened: Open, log: Records
    ):
        log.append(some(2))
        log.close()
        opened().append([changed(2)])

        with pytest.raises(CannotWriteError):
            log.append([Changed("other", "e1", time_at(2))])


@pytest.mark.parametrize(
    "name", ["a b", "a/b", "a:b#c~1+2..d@e%f", "世界", "root", "o'k\"?*[x]\\"]
)
def test_sessions_lie_side_by_side(backend: Backend, opened: Open, name: str):
    if not backend.has_sessions:
        pytest.skip("a location is one session")
    logs = {each: opened(each) for each in ("main", name, "other")}
    for session, log in logs.items():
        log.begin(msgspec.structs.replace(HEADER, session_id=session))
    for number, log in enumerate(logs.values(), 1):
        log.append([start({"messages": [], "n": number})])
    for number, log in enumerate(logs.values(), 11):
        log.append([changed(1)])
        log.append([changed(2)] * (number == 11))

    assert len({log.location for log in logs.values()}) == 3
    for number, (session, log) in enumerate(logs.items(), 1):
        log.close()
        again = opened(session)
        assert again.header == Header(session, HEADER.created_at, title=HEADER.title)
        entries = [start({"messages": [], "n": number}), changed(1), changed(2)]
        assert oldest_first(again) == entries[: 3 if number == 1 else 2]


def test_tenants_do_not_see_each_other(backend: Backend, opened: Open):
    if not backend.has_tenants:
        pytest.skip("nobody else has a part in it")
    owners = ("", "acme", "a/b%2F:c")
    for owner in owners:
        log = opened("main", owner)
        assert log.header is None
        log.begin(msgspec.structs.replace(HEADER, title=owner))
        log.append([start({"messages": [], "of": owner})])

    again = [opened("main", owner) for owner in owners]

    assert len({log.location for log in again}) == 3
    for owner, log in zip(owners, again, strict=True):
        assert log.header == msgspec.structs.replace(HEADER, title=owner)
        assert oldest_first(log) == [start({"messages": [], "of": owner})]
