"""Addresses of servers: what is secret in them is seen by nothing above storage."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import TRIES, started

from tt_debugger.cli.main import main
from tt_debugger.errors import CannotReadError, UsageError
from tt_debugger.storage import servers as storage
from tt_debugger.storage.servers import (
    address_of,
    admitted,
    is_server,
    looks_like_address,
    split,
    with_options,
)


@pytest.fixture(autouse=True)
def _nothing_admitted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(storage, "_admitted", {})


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("postgresql://ann:s3cret@db.example/app", "postgresql://db.example:5432/app"),
        ("postgres://ann:s3cret@db.example:6000/app", "postgresql://db.example:6000/app"),
        ("POSTGRESQL+psycopg://ann:s3cret@db/app", "postgresql://db:5432/app"),
        ("postgresql://db/app?user=ann&password=s3cret", "postgresql://db:5432/app"),
        ("postgresql://db?dbname=app&password=s3cret&port=7", "postgresql://db:7/app"),
        ("postgresql:///app?host=/run/pg&password=s3cret", "postgresql://%2Frun%2Fpg:5432/app"),
        ("postgresql://ann:s3cret@%2Frun%2Fpg/app", "postgresql://%2Frun%2Fpg:5432/app"),
        ("postgresql://ann:s3cret@a:1,b:2/app", "postgresql://a:1,b:2/app"),
        ("postgresql://ann:s3cret@[::1]/app", "postgresql://[::1]:5432/app"),
        ("postgresql://ann:s3cret@[::1]:77/app", "postgresql://[::1]:77/app"),
        ("postgresql://ann@corp:s3cret@db/app", "postgresql://db:5432/app"),
        ("postgresql:///", "postgresql:///"),
        ("redis://:s3cret@cache", "redis://cache:6379/0"),
        ("redis://ann:s3cret@cache:7000/3", "redis://cache:7000/3"),
        ("redis://cache?db=3&password=s3cret", "redis://cache:6379/3"),
        ("rediss://ann:s3cret@cache/1", "rediss://cache:6379/1"),
        ("redis://", "redis://localhost:6379/0"),
        ("unix:///run/redis.sock?password=s3cret", "unix:///run/redis.sock?db=0"),
        ("unix://ann:s3cret@/run/redis.sock?db=2", "unix:///run/redis.sock?db=2"),
    ],
)
def test_an_address_is_shown_without_login_and_options(typed: str, shown: str):
    assert is_server(typed)
    assert admitted(typed) == shown
    assert admitted(shown) == shown
    assert "s3cret" not in repr(address_of(shown))
    assert ("s3cret" in address_of(shown).reveal()) == ("s3cret" in typed)


@pytest.mark.parametrize("text", ["state.db", "-", "", "mysql://ann@db/app", "a/postgresql://b"])
def test_what_is_no_address_of_a_known_server_is_left_as_it_is(text: str):
    assert not is_server(text)
    assert admitted(text) == text


def test_addresses_that_differ_in_what_is_not_shown_are_told_apart():
    ann = admitted("postgresql://ann:one@db/app")
    bob = admitted("postgresql://bob:two@db/app")
    other = admitted("postgresql://ann:one@db/app?options=-csearch_path%3Dother")
    socket = [admitted(f"unix:///s?password={each}") for each in ("one", "two")]

    assert [ann, bob, other] == [
        "postgresql://db:5432/app",
        "postgresql://db:5432/app?2",
        "postgresql://db:5432/app?3",
    ]
    assert socket == ["unix:///s?db=0", "unix:///s?db=0&2"]
    assert admitted("postgres://bob:two@db/app") == bob
    assert [admitted(each) for each in (ann, bob, other)] == [ann, bob, other]
    assert address_of(bob).reveal() == "postgresql://bob:two@db/app"


def test_options_are_added_to_what_an_address_says_itself():
    plain = admitted("postgresql://ann:one@a:1,b:2/app")
    said = admitted("postgresql://ann:one@db/app?options=-csearch_path%3Dx&sslmode=disable")

    read = with_options(plain, target_session_attrs="prefer-standby")
    both = with_options(said, options="-c ttdbg.tenant=a\\ b", sslmode="require")

    assert (read, both) == ("postgresql://a:1,b:2/app?2", "postgresql://db:5432/app?2")
    assert address_of(read).reveal() == (
        "postgresql://ann:one@a:1,b:2/app?target_session_attrs=prefer-standby"
    )
    assert address_of(both).reveal() == (
        "postgresql://ann:one@db/app?options=-csearch_path%3Dx%20-c%20ttdbg.tenant%3Da%5C%20b"
        "&sslmode=require"
    )
    assert with_options(plain, target_session_attrs="prefer-standby") == read


def test_an_address_without_a_login_is_that_which_was_opened_with_one():
    shown = admitted("postgresql://ann:one@db/app")

    assert admitted("postgresql://db/app") == shown
    assert address_of(shown).reveal() == "postgresql://ann:one@db/app"


def test_an_address_without_a_login_is_the_driver_s_own_business():
    shown = admitted("postgresql://db/app")

    assert address_of(shown).reveal() == "postgresql://db/app"
    assert admitted("postgresql://ann:one@db/app") == "postgresql://db:5432/app?2"


@pytest.mark.parametrize(
    "typed",
    [
        "postgresql://ann:s3/cret@db/app",
        "postgresql://ann:3/s3cret@db/app",
        "postgresql://ann:3?s3cret@db/app",
        "postgresql://ann:s3#cret@db/app",
        "postgresql://ann:s3cret",
        "postgresql://[ann:s3cret@db/app",
        "redis://:s3/cret@cache/0",
        "redis://cache/s3cret",
        "redis://cache?db=s3cret",
    ],
)
def test_where_a_password_may_be_cut_nothing_is_repeated(typed: str):
    with pytest.raises(UsageError) as refused:
        admitted(typed)

    said = f"{refused.value.message} {refused.value.hint}"
    assert not any(part in said for part in ("s3", "cret", "ann:", "db/", "cache"))
    assert refused.value.__context__ is None or refused.value.__suppress_context__


@pytest.mark.parametrize("location", ["/home/dev/a.jsonl", "-", "redis://cache:6379/0"])
def test_what_was_not_admitted_or_is_of_another_kind_is_refused(location: str):
    admitted("redis://cache")
    with pytest.raises(CannotReadError, match="it is no address of such a server"):
        address_of(location, storage.POSTGRES)


def test_a_ref_is_what_follows_the_first_sign_of_one():
    assert split("redis://a/0#t%23:@~1") == ("redis://a/0", "t%23:@~1")
    assert split("redis://a/0") == ("redis://a/0", None)


@given(
    st.text(st.characters(codec="utf-8"), min_size=1),
    st.text("abcdefgh0123456789!$&'()*+,;=-._~@:", min_size=8),
    st.sampled_from(["", "encoded"]),
)
def test_no_secret_is_shown_however_it_is_written(user: str, password: str, how: str):
    written = quote(password, safe="") if how else password
    shown = admitted(f"postgresql://{quote(user, safe='')}:{written}@db/app")

    assert shown.partition("?")[0] == "postgresql://db:5432/app"
    assert quote(password, safe="") in address_of(shown).reveal()


def test_where_no_server_starts_ci_fails_and_others_are_told_why(
    monkeypatch: pytest.MonkeyPatch,
):
    tried: list[int] = []

    def start() -> None:
        tried.append(1)
        raise OSError("no room")

    monkeypatch.setenv("CI", "true")
    with pytest.raises(
        pytest.fail.Exception, match="no Redis server starts here: OSError: no room"
    ):
        started("Redis", start)
    assert len(tried) == TRIES
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="no Redis server starts here"):
        started("Redis", start)


@pytest.mark.parametrize(
    "typed",
    [
        "mysql://u:hunter2@h/x",
        "https://u:hunter2@example.org/a/b.git",
        "postgresql:/u:hunter2@h/x",
        "postgresql//u:hunter2@h/x",
        "host=h user=u password=hunter2",
    ],
)
def test_an_address_of_no_known_kind_is_refused_and_not_repeated(
    typed: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["log", typed]) == 2
    said = capsys.readouterr()
    assert "hunter2" not in said.out + said.err
    assert "postgresql://HOST/DATABASE" in said.err


@pytest.mark.parametrize("name", ["a@b.jsonl", "notes//b.jsonl", "password.txt", "C:/x/s.jsonl"])
def test_the_name_of_a_file_is_no_address(name: str):
    assert not looks_like_address(name)
