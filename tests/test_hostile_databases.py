"""Hostile databases and repositories: read or refused, in bounds, and never changed or run."""

from __future__ import annotations

import signal
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hostile_databases import (
    DAMAGED,
    OTHER_STORES,
    SCHEMAS,
    STRANGE,
    VALUES,
    flipped,
    sound_thread,
    sound_turns,
    write_hostile_databases,
)
from hostile_values import BODIES, HELD, SECRET
from terminal import JSON, PIPE, transgressions

from tt_debugger.cli.main import main
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError

ALL = sorted(SCHEMAS | DAMAGED | VALUES | OTHER_STORES | STRANGE)
LONGEST = 20
"""Seconds of work on all commands after which a hang becomes a failure."""
FLIPS = 400

COMMANDS = [
    ("ls",),
    ("log",),
    ("log", "--json"),
    ("show",),
    ("show", "--json"),
    ("show", "--resume", "--json"),
    ("replay", "--states"),
    ("replay", "--states", "--json"),
    ("doctor", "--deep", "--json"),
    ("diff", "#root", "--json"),
    ("diff", "#root", "--no-mask"),
    ("export", "--format", "json"),
    ("export", "--format", "html"),
    ("export", "#root", "--format", "markdown"),
    ("open",),
]


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that any payload would make."""
    return tmp_path_factory.mktemp("canary") / "TTDBG-PWNED"


@pytest.fixture(scope="module")
def locations(tmp_path_factory: pytest.TempPathFactory, canary: Path) -> dict[str, Path]:
    """All hostile databases and repositories."""
    return write_hostile_databases(tmp_path_factory.mktemp("databases"), canary)


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """Turn a hang into a failure; it is work that counts, as others may have the processor."""

    def give_up(_number: int, _frame: object) -> None:
        pytest.fail(f"still running after {LONGEST} s")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def everything_in(folder: Path) -> dict[str, tuple[object, ...]]:
    """Give all that stands in a folder, with contents and times."""
    found: dict[str, tuple[object, ...]] = {}
    for each in (folder, *sorted(folder.rglob("*"))):
        status = each.lstat()
        content = each.read_bytes() if stat.S_ISREG(status.st_mode) else None
        found[str(each)] = (status.st_mode, status.st_mtime_ns, content)
    return found


@pytest.mark.parametrize("name", ALL)
def test_every_command_ends_and_leaves_everything_as_it_was(
    locations: dict[str, Path],
    canary: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SECRET, "a-secret-of-the-environment")
    location = locations[name]
    before = everything_in(location.parent)

    for command, *options in COMMANDS:
        code = main([command, str(location), *options])
        out, err = capsys.readouterr()
        grammar = JSON if {"--json", "json"} & {*options} else PIPE
        assert transgressions(out.encode(), grammar) == [], (command, *options)
        assert transgressions(err.encode(), PIPE) == [], (command, *options)
        assert "this is a bug" not in err, (command, *options, err)
        assert "a-secret-of-the-environment" not in out + err
        assert code in expected_codes(name, command), (command, *options, err)
        assert not canary.exists()

    assert everything_in(location.parent) == before


def expected_codes(name: str, command: str) -> set[int]:
    """Give the codes that are right: what attacks by values alone is shown as anything else is."""
    if command == "open":
        return {2, 3}
    if command == "ls":
        return {0, 3}
    right = {"doctor": {0, 1}, "diff": {0, 1}}.get(command, {0})
    # Nothing may be left of what is damaged, and then no checkpoint can be named.
    return right if name in VALUES or name in OTHER_STORES else right | {2, 3}


@pytest.mark.parametrize("name", [*VALUES, *OTHER_STORES])
def test_each_single_checkpoint_of_a_hostile_database_can_be_shown(
    locations: dict[str, Path], canary: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Debugger.open(str(locations[name])) as debugger:
        rows = range(1, len(debugger.session) + 1)

    assert len(rows) > 0
    for row in rows[:24]:
        for options in ([], ["--json"]):
            assert main(["show", f"{locations[name]}#row={row}", *options]) == 0
            out, _ = capsys.readouterr()
            assert transgressions(out.encode(), JSON if options else PIPE) == []
    assert not canary.exists()


@pytest.mark.parametrize("name", HELD)
def test_what_stands_beside_a_bad_value_is_read(locations: dict[str, Path], name: str) -> None:
    with Debugger.open(str(locations[name])) as debugger:
        first, second = (values_of(debugger, row) for row in range(2))

    assert first == {"before": 1}
    assert second["good"] == 1


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_not_decoded_is_told_and_those_around_it_are_read(
    locations: dict[str, Path], name: str
) -> None:
    with Debugger.open(str(locations[name])) as debugger:
        first, second, third = (values_of(debugger, row) for row in range(3))
        found = debugger.examined()

    assert (first, third) == ({"before": 1}, {"after": 1})
    assert set(second) == {"$opaque", "size", "sha256"}
    assert found


def values_of(debugger: Debugger, row: int) -> dict[str, object]:
    state = debugger.state(row)
    assert isinstance(state, dict)
    return state["values"]


@pytest.mark.parametrize("sound", [sound_thread, sound_turns], ids=["thread", "turns"])
def test_flipped_bits_are_refused_or_told_and_never_more(tmp_path: Path, sound) -> None:
    path = sound(tmp_path / "state.sqlite")
    ends: set[str] = set()
    for data in flipped(path.read_bytes(), FLIPS):
        path.write_bytes(data)
        with suppress(CannotReadError), Debugger.open(str(path)) as debugger:
            ends.add("told" if debugger.session.findings else "silent")
            for row in range(len(debugger.session)):
                with suppress(CannotReadError):
                    debugger.state(row)
            continue
        ends.add("refused")

    assert ends >= {"told", "silent"}


def test_what_a_crash_left_half_done_is_not_shown(
    locations: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a transaction that did not end", "a log that is not its own"):
        assert main(["replay", str(locations[name]), "--states"]) == 0
        out, _ = capsys.readouterr()
        assert "never" not in out


def test_the_file_that_a_journal_names_stays(locations: dict[str, Path]) -> None:
    location = locations["a transaction that names a victim"]
    with suppress(CannotReadError):
        Debugger.open(str(location)).close()

    assert location.with_name("victim").read_bytes() == b"precious"
