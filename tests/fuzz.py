"""A mutation fuzzer: broken bytes go through everything that reads and draws a session.

`python tests/fuzz.py --count 20000 --jobs 2` takes the hostile files, the fixtures of every
format and the samples, and breaks copies of them in the ways that a seed says. A failure prints
its seed and writes its file, the first of a kind made small; `--seed N --count 1` runs it again.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from builders import FIXTURES
from hostile_files import SAMPLES, write_hostile_files
from terminal import JSON, PIPE, transgressions

from tt_debugger.cli import output
from tt_debugger.cli.main import main as ttdbg
from tt_debugger.cli.session_json import session_json
from tt_debugger.core.changes import change_json
from tt_debugger.core.findings import Code
from tt_debugger.core.messages import messages_in
from tt_debugger.core.outline import outline
from tt_debugger.core.scrub import scrub_index
from tt_debugger.debugger import Debugger
from tt_debugger.errors import StoreError, TtdbgError
from tt_debugger.views.changes import change_lines
from tt_debugger.views.checkpoint import (
    finding_lines,
    meta_lines,
    spent_on_path,
    title_line,
)
from tt_debugger.views.graph import graph_lines
from tt_debugger.views.message import message_lines
from tt_debugger.views.palette import ANSI, UNICODE
from tt_debugger.views.raw import raw_lines
from tt_debugger.views.row import RowView
from tt_debugger.views.state import StateRows, StateView, marks_of

LONGEST = 2.0
"""Seconds of work that one input may cost, in all."""
HANG = 10.0
"""Seconds after which it is stopped."""
MOST_MEMORY = 200 << 20
LARGEST = 200_000
"""Bytes of the largest file that is broken."""
WIDTHS = (60, 120)
TOKENS = (
    b"\x1b]52;c;QUJD\x07", b"\x1b[2J", b"\x9b2J", b"\0", b"\0" * 64, b"\xff" * 16, b"\\ud83d",
    b"\\u0000", b"\\u001b]0;x\\u0007", b"\xe2\x80\xae", b"\xe2\x80\xa8", b"e" + b"\xcc\x81" * 40,
    b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n", b"\r\n", b"\n\n", b"{", b"}", b"[", b"]", b'"',
    b"\\", b",", b":", b"[" * 300, b"]" * 300, b'{"a":' * 300, b"{}", b"[]", b"null", b"true",
    b"-1", b"1e400", b"NaN", b"-Infinity", b"9" * 5000, b"18446744073709551616", b"-0.0", b'""',
    b'{"type":"session","version":3,"id":"x"}', b'{"type":"message"}', b'"parentId":null,',
    b'"id":"a",', b'"type":["x"],', b'"role":"toolResult",', b'"content":[[]],', b'"usage":{},',
    b'"timestamp":-1e18,', b'"timestamp":"9999-99-99",', b'"firstKeptEntryId":"a",',
    b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"[@click=app.quit]x[/]", b"x" * 4096,
)  # fmt: skip
_VALUES = (b"null", b"1", b"[]", b"{}", b'""', b"[[null]]", b'{"a":[1]}', b"-1e300")
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*+"|-?\d[\d.eE+-]*|true|false|null|\{\}|\[\]')


class Failure(NamedTuple):
    """What went wrong with which seed, and the file that shows it."""

    seed: int
    why: str
    file: str

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.why}\n  {self.file}"


# --- Broken files --------------------------------------------------------------------------------


@cache
def corpus() -> tuple[tuple[str, bytes], ...]:
    """Give the name and bytes of every file that is broken."""
    with tempfile.TemporaryDirectory() as folder:
        hostile = [(each.name, each.read_bytes()) for each in write_hostile_files(Path(folder))]
    paths = [*FIXTURES.rglob("*.json*"), *SAMPLES.rglob("*.json*")]
    others = [
        (each.name, each.read_bytes())
        for each in sorted(paths)
        if each.is_file() and "oracle" not in each.name
    ]
    return tuple((name, data[:LARGEST]) for name, data in (*hostile, *others))


def broken(seed: int) -> tuple[str, bytes]:
    """Give the name and bytes of the file of a seed."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    name, data = rng.choice(corpus())
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5, 9))):
        data = rng.choice(_BREAKS)(rng, data)
    return name, data


def _stretch(rng: random.Random, data: bytes) -> tuple[int, int]:
    begin = rng.randrange(len(data) + 1)
    return begin, min(len(data), begin + rng.choice((1, 2, 8, 64, 512, 4096)))


def _flipped(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _other_byte(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.randbytes(1) + data[place + 1 :]


def _inserted(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(TOKENS) + data[place:]


def _overwritten(rng: random.Random, data: bytes) -> bytes:
    place, token = rng.randrange(len(data) + 1), rng.choice(TOKENS)
    return data[:place] + token + data[place + len(token) :]


def _deleted(rng: random.Random, data: bytes) -> bytes:
    begin, end = _stretch(rng, data)
    return data[:begin] + data[end:]


def _repeated(rng: random.Random, data: bytes) -> bytes:
    begin, end = _stretch(rng, data)
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[begin:end] * rng.choice((1, 2, 5)) + data[place:]


def _truncated(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _spliced(rng: random.Random, data: bytes) -> bytes:
    _, other = rng.choice(corpus())
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _other_value(rng: random.Random, data: bytes) -> bytes:
    """Put the JSON value of one place into another, or a token: so the file stays well-formed."""
    places = list(islice(_VALUE.finditer(data), 20_000))
    if not places:
        return data
    old, new = rng.choice(places), rng.choice(places)[0]
    if rng.random() < 0.3:
        new = rng.choice(_VALUES)
    return data[: old.start()] + new + data[old.end() :]


def _shuffled_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


_BREAKS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _flipped, _other_byte, _inserted, _inserted, _overwritten, _deleted, _repeated, _truncated,
    _spliced, _other_value, _other_value, _other_value, _shuffled_lines,
)  # fmt: skip


# --- Everything that reads and draws -------------------------------------------------------------


class WrongError(AssertionError):
    """Something that may not happen, whatever the bytes are."""


def use(name: str, data: bytes, folder: Path, *, through_commands: bool) -> None:
    """Take a file through everything. Raises whatever is no expected error, and WrongError."""
    path = folder / f"fuzz{Path(name).suffix}"
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    before = sorted(folder.iterdir())
    begin = time.process_time()
    with _limited():
        try:
            with Debugger.open(str(path)) as debugger:
                _read(debugger, len(data))
                _draw(debugger)
        except StoreError as error:
            raise error.__cause__ or error from None
        except TtdbgError as error:
            _check(f"{error.message}\n{error.hint}", where="error", is_data=True)
        if through_commands:
            _command(path)
    seconds = time.process_time() - begin
    if seconds > LONGEST:
        raise WrongError(f"{seconds:.1f} s of work")
    is_same = path.read_bytes() == data and path.stat().st_mtime_ns == 1
    if not is_same or sorted(folder.iterdir()) != before:
        raise WrongError("the input or its folder was changed")


def _read(debugger: Debugger, size: int) -> None:
    session = debugger.session
    extent = session.extent
    if extent is None or extent.size != size or min(extent.shown, extent.skipped) < 0:
        raise WrongError(f"{extent} of {size} bytes")
    if len(set(session.ids)) != len(session.ids):
        raise WrongError("an id is there twice")
    if sorted(session.tree.parents_first()) != list(range(len(session))):
        raise WrongError("the tree has a circle")
    _check_json(session_json(session, debugger.location))
    for row in range(len(session)):
        _check_json([change_json(each) for each in debugger.changes(row)])
    for finding in debugger.examined():
        if finding.code in {Code.REPLAY_FAILS, Code.LOST_RECORD}:
            raise WrongError(finding.message)
        # Of a file in a folder the checkpoint tells which one it is.
        has_place = finding.line is not None and finding.offset is not None
        if not has_place and finding.checkpoint is None:
            raise WrongError(f"{finding} is nowhere")
    for row in _some(len(session), session.active):
        _check_json(debugger.state(row, uncompacted=True))
        _check_json(debugger.resumed(row).state)


def _some(count: int, active: int | None) -> Sequence[int]:
    """Give a few rows: the ends, the active leaf, and some between."""
    rows = {0, 1, count // 3, count // 2, count - 1, count if active is None else active}
    return sorted(row for row in rows if 0 <= row < count)


def _draw(debugger: Debugger) -> None:
    session = debugger.session
    scrub_index(session)
    _check_lines(islice(graph_lines(session, debugger.resolver, ANSI, UNICODE, 100), 100))
    for width in WIDTHS:
        view, shown = RowView(ANSI, UNICODE, len(str(len(session)))), outline(session)
        for place in (*range(min(len(shown), 20)), *range(max(len(shown) - 10, 0), len(shown))):
            row, fold = shown.row_at(place), shown.fold_at(place)
            if fold is None:
                _check_lines([view.text(session, row, shown.lanes[place], width)])
            else:
                _check_lines([view.fold_text(session, fold, shown.lanes[place], width)])
    for row in _some(len(session), session.active):
        seen = debugger.inspect(row)
        _check_lines([title_line(session, row, ANSI)])
        _check_lines(finding_lines(seen.findings, ANSI))
        _check_lines(meta_lines(session, row, ANSI, spent=spent_on_path(session, row, {})))
        _check_lines(islice(raw_lines(seen.raw, ANSI), 20))
        for width in WIDTHS:
            changed = change_lines(
                seen.changes, seen.before, ANSI, UNICODE, width=width, is_brief=True
            )
            _check_lines(islice(changed, 200))
        for message in messages_in(seen.changes):
            drawn = message_lines(message, ANSI, UNICODE, seen.exchanges, is_drawn=True)
            _check_lines(islice(drawn, 400))
        marks = marks_of(seen.changes, seen.before)
        opened = {(key,) for key in seen.state}
        opened |= {path[:end] for path in marks.leaves(seen.state)[:20] for end in range(1, 8)}
        rows, state_view = StateRows(seen.state, opened, marks), StateView(ANSI, UNICODE)
        _check_lines(state_view.text(rows[place], 90) for place in range(min(len(rows), 60)))


def _command(path: Path) -> None:
    for arguments in (
        ["log"], ["log", "--json"], ["show"], ["show", "--json", "--resume"], ["doctor", "--deep"],
        ["replay", "--states"], ["formats"],
    ):  # fmt: skip
        command, *options = arguments
        with _captured() as (out, err), redirect_stdout(out), redirect_stderr(err):
            ttdbg([command, str(path), *options])
            for stream in (out, err):
                stream.flush()
            said, told = (stream.buffer.getvalue().decode() for stream in (out, err))
        if "this is a bug" in told:
            raise WrongError(f"{command}: {told}")
        _check(said, where=command, is_data="--json" in options)
        _check(told, where=f"{command}, stderr")


@contextmanager
def _captured() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    yield (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
    )


def _check_json(value: object) -> None:
    with _captured() as (out, _), redirect_stdout(out):
        output.json_line(value)
        out.flush()
        _check(out.buffer.getvalue().decode(), where="JSON", is_data=True)


def _check_lines(lines: Iterable[object]) -> None:
    for line in lines:
        text: str = line.plain  # type: ignore[attr-defined]
        if "\n" in text:
            raise WrongError(f"a line end within a line: {text[:200]!a}")
        _check(text, where="a line")


def _check(text: str, *, where: str, is_data: bool = False) -> None:
    if text.isascii() and text.replace("\n", "").isprintable():
        return
    found = transgressions(text.encode(), JSON if is_data else PIPE)
    if found:
        raise WrongError(f"{where}: {found[0]}")


@contextmanager
def _limited() -> Iterator[None]:
    def give_up(_number: int, _frame: object) -> None:
        raise WrongError(f"still at work after {HANG:g} s")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# --- Failures, made small ------------------------------------------------------------------------


_SEEN: set[str] = set()


def failure_of(seed: int, folder: Path, kept: Path) -> Failure | None:
    """Run one seed; give its failure, the file of the first of its kind made small."""
    name, data = broken(seed)
    through_commands = seed % 8 == 0
    why = _fault(name, data, folder, through_commands=through_commands)
    if why is None:
        return None
    kind = why.split(":")[0]
    if kind not in _SEEN:
        _SEEN.add(kind)
        data = _smallest(name, data, folder, kind, through_commands=through_commands)
    kept.mkdir(parents=True, exist_ok=True)
    file = kept / f"seed-{seed}{Path(name).suffix}"
    file.write_bytes(data)
    return Failure(seed, why, str(file))


def _fault(name: str, data: bytes, folder: Path, *, through_commands: bool) -> str | None:
    try:
        use(name, data, folder, through_commands=through_commands)
    except WrongError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"
        return f"{type(error).__name__}: {error!s:.200} at {where}"
    return None


def _smallest(
    name: str, data: bytes, folder: Path, kind: str, *, through_commands: bool, tries: int = 200
) -> bytes:
    """Leave out pieces, ever smaller, as long as the same kind of fault stays."""
    size = max(len(data) // 2, 1)
    while size and tries:
        begin = 0
        while begin < len(data) and tries:
            tries -= 1
            shorter = data[:begin] + data[begin + size :]
            found = _fault(name, shorter, folder, through_commands=through_commands)
            if found is not None and found.split(":")[0] == kind:
                data = shorter
            else:
                begin += size
        size //= 2
    return data


# --- The command ---------------------------------------------------------------------------------


def run(seeds: Sequence[int], kept: Path) -> tuple[list[Failure], int]:
    """Run some seeds in this process; give the failures, and the bytes it took at its peak."""
    with tempfile.TemporaryDirectory() as state, tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_STATE_HOME": state, "XDG_CACHE_HOME": state}
        found = [failure_of(seed, Path(folder), kept) for seed in seeds]
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return [each for each in found if each is not None], peak


def main() -> int:
    """Break many files, see what does not hold, and say how to see it again."""
    asked = argparse.ArgumentParser(description=main.__doc__)
    asked.add_argument("--count", type=int, default=20_000)
    asked.add_argument("--seed", type=int, default=0, help="the first seed")
    asked.add_argument("--jobs", type=int, default=1)
    asked.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "ttdbg-fuzz")
    options = asked.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    begin = time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        parts = [seeds[job :: options.jobs] for job in range(options.jobs)]
        answers = list(pool.map(run, parts, [options.keep] * options.jobs))
    failures = [each for found, _ in answers for each in found]
    peak = max(memory for _, memory in answers)
    limit = MOST_MEMORY + 2 * max(len(data) for _, data in corpus())
    seconds = time.monotonic() - begin
    lines = [str(each) for each in failures[:40]]
    lines += [f"again: python tests/fuzz.py --count 1 --seed {each.seed}" for each in failures[:1]]
    files = f"{options.count:,} files made of {len(corpus())}"
    lines.append(f"{files}: {len(failures)} failures, {seconds:.0f} s, at most {peak >> 20} MiB")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if failures or peak > limit else 0


if __name__ == "__main__":
    sys.exit(main())
