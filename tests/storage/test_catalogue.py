"""The catalogue: what is known of files comes back as long as they are what they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tt_debugger.storage import catalogue
from tt_debugger.storage.catalogue import Catalogue
from tt_debugger.storage.index_cache import OFF, SETTLED

STAMP = (1, 2, 3, 100, 100)
LATER = 100 + SETTLED + 1


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is catalogued, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "s").mkdir()
    return tmp_path / "s"


def opened(folder: Path, layout: str = "1", kind: str = "pi") -> Catalogue:
    return Catalogue(str(folder), kind, layout)


def kept(folder: Path, **values: bytes) -> Catalogue:
    """Give a catalogue of files that were written down."""
    made = opened(folder)
    for name, value in values.items():
        made.keep(name, STAMP, LATER, value)
    made.save()
    return made


def entry_of(folder: Path) -> Path:
    (found,) = (folder.parent / "cache").rglob("*.catalogue")
    return found


def test_what_was_kept_comes_back_another_time(folder):
    kept(folder, a=b"one", b=b"two")

    assert opened(folder).recall("a", STAMP) == b"one"
    assert opened(folder).recall("c", STAMP) is None
    assert opened(folder, kind="tau").recall("a", STAMP) is None


def test_a_file_that_changed_is_not_known(folder):
    kept(folder, a=b"one")

    for place in range(len(STAMP)):
        other = tuple(each + (n == place) for n, each in enumerate(STAMP))
        assert opened(folder).recall("a", other) is None


def test_a_file_that_was_seen_so_soon_that_it_may_have_changed_since_is_not_known(folder):
    made = opened(folder)
    made.keep("a", STAMP, LATER - 2, b"one")
    made.save()

    assert opened(folder).recall("a", STAMP) is None


@pytest.mark.parametrize("cut", [0, 3, 20, 40, -1])
def test_a_catalogue_that_is_damaged_knows_nothing(folder, cut):
    kept(folder, a=b"one")
    path = entry_of(folder)
    path.write_bytes(path.read_bytes()[:cut])

    assert opened(folder).recall("a", STAMP) is None


def test_a_changed_byte_anywhere_is_damage(folder):
    kept(folder, a=b"one")
    path, whole = entry_of(folder), entry_of(folder).read_bytes()

    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert opened(folder).recall("a", STAMP) is None


def test_another_layout_knows_nothing(folder):
    kept(folder, a=b"one")

    assert opened(folder, "2").recall("a", STAMP) is None


def test_two_that_write_at_once_lose_nothing_of_each_other(folder):
    one, other = opened(folder), opened(folder)
    one.keep("a", STAMP, LATER, b"one")
    other.keep("b", STAMP, LATER, b"two")
    one.save()
    other.save()

    assert opened(folder).recall("a", STAMP) == b"one"
    assert opened(folder).recall("b", STAMP) == b"two"


def test_files_that_are_gone_are_forgotten(folder):
    made = kept(folder, a=b"one", b=b"two")
    made.keep("c", STAMP, LATER, b"three")
    made.save({"a", "c"})

    assert opened(folder).recall("b", STAMP) is None
    assert opened(folder).recall("c", STAMP) == b"three"


def test_nothing_is_written_where_the_cache_is_off(folder, monkeypatch):
    monkeypatch.setenv(OFF, "1")
    kept(folder, a=b"one")

    assert list((folder.parent / "cache").rglob("*")) == []


def test_a_cache_that_cannot_be_written_is_no_error(folder):
    (folder.parent / "cache").write_text("a file in the way")

    assert kept(folder, a=b"one").recall("a", STAMP) == b"one"


def test_of_too_many_catalogues_those_written_longest_ago_are_dropped(folder, monkeypatch):
    monkeypatch.setattr(catalogue, "MOST", 2)
    for name in ("x", "y", "z"):
        (folder / name).mkdir()
        kept(folder / name, a=b"one")

    assert len(list((folder.parent / "cache").rglob("*.catalogue"))) == 2
    assert opened(folder / "z").recall("a", STAMP) == b"one"
