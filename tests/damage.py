"""Damage with a known truth: sessions are broken in the ways of the world, and each record that is
still whole must be found.

A file is a list of pieces: records, and the bytes between them. A damage cuts, moves and inserts
pieces, so what is left whole is known without reading anything. `python tests/damage.py --count
1000` damages so many sessions of each format and prints a table; the seed says which.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builders import PI_HEADER, assistant, fixture_files, pi, tau, user

from tt_debugger.cli.session_json import session_json
from tt_debugger.core.findings import Code
from tt_debugger.core.model import Kind
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, StoreError
from tt_debugger.formats.shared.records import Record, records

MARK = b"\xef\xbb\xbf"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TEXTS = (
    "plain",
    'a } brace, a [ bracket, a " quote and a \\ backslash',
    '{"type":"message","id":"inner","parentId":null}',
    "Grüße 世界 🙂 \u2028 line\nbreak\ttab",
    'code: {"a": [1, {"b": "{"}]},',
    "ends with a comma,",
    "ends with a colon:",
    "x" * 300,
    "",
)


class Piece(NamedTuple):
    """Some bytes of a file: a whole record, or not; one too deep makes its whole line unread."""

    data: bytes
    is_record: bool = False
    is_deep: bool = False


Pieces = list[Piece]
END = Piece(b"\n")


class Dialect(NamedTuple):
    """A format that is damaged: how its well-formed sessions are made, and its two keys."""

    name: str
    make: Callable[[random.Random], list[bytes]]
    id_key: str | None = None
    parent_key: str | None = None
    header_type: str | None = None
    """The type of records that are no checkpoints."""
    contents: Callable[[bytes], list[bytes]] = lambda record: [record]
    """What of a whole record is to be found."""
    is_merging: bool = False
    """Whether equal records become one checkpoint."""


# --- Well-formed sessions ------------------------------------------------------------------------


def _family(rng: random.Random) -> list[tuple[str, str | None]]:
    """Give ids and parents: mostly a run, now and then a branch or a further root."""
    pairs: list[tuple[str, str | None]] = []
    for number in range(rng.randint(4, 24)):
        parent = None
        if number and rng.random() > 0.03:
            parent = pairs[-1 if rng.random() < 0.8 else rng.randrange(number)][0]
        pairs.append((f"{rng.getrandbits(32):08x}", parent))
    return pairs


def _message(rng: random.Random, number: int) -> dict[str, Any]:
    text = rng.choice(_TEXTS)
    match number % 4:
        case 0:
            return user(text)
        case 1:
            return assistant(text, f"call{number}")
        case 2:
            result = {"role": "toolResult", "toolCallId": f"call{number - 1}", "toolName": "bash"}
            return result | {"content": [{"type": "text", "text": text}], "isError": False}
        case _:
            return assistant(text)


def _pi_session(rng: random.Random) -> list[bytes]:
    entries: list[dict[str, Any]] = [PI_HEADER]
    for number, (name, parent) in enumerate(_family(rng)):
        if rng.random() < 0.15:
            kinds = (
                {"type": "custom", "customType": "x", "data": {"n": 1, "nest": [{"a": {}}]}},
                {"type": "label", "targetId": parent, "label": "here"},
                {"type": "model_change", "provider": "p", "modelId": "m"},
                {"type": "compaction", "summary": "s", "firstKeptEntryId": parent},
                {"type": "hologram", "x": []},
            )
            entries.append(pi(name, parent, **rng.choice(kinds)))
        else:
            entries.append(pi(name, parent, _message(rng, number)))
    return _lines(rng, entries)


def _tau_session(rng: random.Random) -> list[bytes]:
    family = enumerate(_family(rng))
    return _lines(rng, [tau(name, parent, _message(rng, n)) for n, (name, parent) in family])


def _tree_session(rng: random.Random) -> list[bytes]:
    own, above = rng.choice((("uuid", "parentUuid"), ("id", "parent_id"), ("event_id", "parent")))
    return _lines(
        rng,
        [
            {own: name, above: parent, "type": "x", "message": _message(rng, number)}
            for number, (name, parent) in enumerate(_family(rng))
        ],
    )


def _states_session(rng: random.Random) -> list[bytes]:
    return _lines(
        rng,
        [
            {"checkpoint_id": name, "parent_checkpoint_id": parent, "session_id": "run"}
            | {"task": rng.choice(_TEXTS), "completed_steps": [f"step {n}"], "artifacts": [{}]}
            for n, (name, parent) in enumerate(_family(rng))
        ],
    )


def _log_session(rng: random.Random) -> list[bytes]:
    texts = [rng.choice(_TEXTS) for _ in range(rng.randint(3, 20))]
    return _lines(
        rng, [{"event": "note", "seq": n, "data": {"t": t}} for n, t in enumerate(texts)]
    )


def _chat(rng: random.Random) -> list[dict[str, Any]]:
    """Give a conversation as OpenAI writes it."""
    messages: list[dict[str, Any]] = []
    for number in range(rng.randint(2, 12)):
        said = {"content": f"{number} {rng.choice(_TEXTS)}"}
        call = {"id": f"c{number}", "type": "function", "function": {"name": "f"}}
        match number % 3:
            case 0:
                messages.append({"role": "user", **said})
            case 1:
                messages.append({"role": "assistant", **said, "tool_calls": [call]})
            case _:
                messages.append({"role": "tool", "tool_call_id": f"c{number - 1}", **said})
    return messages


def _chat_session(rng: random.Random) -> list[bytes]:
    return [_compact(each) for each in _chat(rng)]


def _conversations(rng: random.Random) -> list[bytes]:
    return [_compact({"model": "m", "messages": _chat(rng)}) for _ in range(rng.randint(1, 6))]


def _messages_of(record: bytes) -> list[bytes]:
    """Give the messages of a conversation as they stand in its line, and a message itself."""
    messages = _decoded(record).get("messages")
    if not isinstance(messages, list):
        return [record]
    written = [_compact(each) for each in messages if isinstance(each, dict)]
    return [each for each in written if each in record]


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _lines(rng: random.Random, entries: Sequence[dict[str, Any]]) -> list[bytes]:
    separators = rng.choice([(",", ":"), (", ", ": ")])
    is_ascii = rng.random() < 0.5
    return [
        json.dumps(each, separators=separators, ensure_ascii=is_ascii).encode() for each in entries
    ]


def _from_fixtures(name: str) -> Callable[[random.Random], list[bytes]]:
    """Make sessions of the whole lines of a fixture of the format, chosen at random."""

    def make(rng: random.Random) -> list[bytes]:
        files = [each for each in fixture_files(name) if len(_whole_lines(each)) > 1]
        return _whole_lines(rng.choice(files))[:200]

    return make


def _whole_lines(path: Path) -> list[bytes]:
    found: list[bytes] = []
    for line in path.read_bytes().removeprefix(MARK).split(b"\n"):
        pieces = records(line) if line.strip() else []
        if len(pieces) == 1 and isinstance(pieces[0], Record) and not pieces[0].forgiven:
            found.append(line.strip())
    return found


def _either(*makes: Callable[[random.Random], list[bytes]]) -> Any:
    return lambda rng: rng.choice(makes)(rng)


DIALECTS = (
    Dialect(
        "pi",
        _either(_pi_session, _pi_session, _from_fixtures("pi")),
        "id",
        "parentId",
        header_type="session",
    ),
    Dialect("tau", _either(_tau_session, _tau_session, _from_fixtures("tau")), "id", "parent_id"),
    Dialect(
        "jsonl_tree", _either(_tree_session, _from_fixtures("jsonl_tree")), "uuid", "parentUuid"
    ),
    Dialect("messages", _chat_session),
    Dialect("conversations", _conversations, contents=_messages_of, is_merging=True),
    Dialect(
        "snapshots",
        _either(_states_session, _from_fixtures("snapshots")),
        "checkpoint_id",
        "parent_checkpoint_id",
    ),
    Dialect("jsonl", _either(_log_session, _from_fixtures("jsonl")), "id"),
)


# --- Damages -------------------------------------------------------------------------------------


class Scene(NamedTuple):
    """What a damage has to work with."""

    rng: random.Random
    pieces: Pieces
    dialect: Dialect

    def a_record(self) -> int | None:
        """Give the place of a record, None where there is none left."""
        places = [place for place, each in enumerate(self.pieces) if each.is_record]
        return self.rng.choice(places) if places else None

    def cut_of(self, data: bytes) -> int:
        """Give a place within a record at which it may be torn."""
        return self.rng.randint(1, max(len(data) - 1, 1))


def _torn_tail(scene: Scene) -> None:
    _cut_bytes(scene.pieces, scene.rng.randrange(_size(scene.pieces) + 1), _size(scene.pieces))


def _torn_and_glued(scene: Scene) -> None:
    place = scene.a_record()
    if place is not None:
        data = scene.pieces[place].data
        scene.pieces[place] = Piece(data[: scene.cut_of(data)])
        _drop_end_behind(scene.pieces, place)


def _glued(scene: Scene) -> None:
    place = scene.a_record()
    if place is not None:
        _drop_end_behind(scene.pieces, place)


def _drop_end_behind(pieces: Pieces, place: int) -> None:
    if place + 1 < len(pieces) and pieces[place + 1] == END:
        del pieces[place + 1]


def _block_over(byte: bytes) -> Callable[[Scene], None]:
    def damage(scene: Scene) -> None:
        size = _size(scene.pieces)
        begin = scene.rng.randrange(size + 1)
        end = min(size, begin + scene.rng.choice((1, 7, 64, 513, 4096)))
        place = _cut_bytes(scene.pieces, begin, end)
        scene.pieces.insert(place, Piece(byte * (end - begin)))

    return damage


def _nul_between(scene: Scene) -> None:
    block = Piece(b"\0" * scene.rng.choice((1, 16, 512)))
    place = scene.rng.randrange(len(scene.pieces) + 1)
    scene.pieces[place:place] = [block, END] if scene.rng.random() < 0.5 else [block]


def _missing_stretch(scene: Scene) -> None:
    size = _size(scene.pieces)
    begin = scene.rng.randrange(size + 1)
    _cut_bytes(scene.pieces, begin, min(size, begin + scene.rng.randint(1, 700)))


def _changed_text(new: bytes) -> Callable[[Scene], None]:
    """Replace some bytes within a text of a record; the record stays one."""

    def damage(scene: Scene) -> None:
        place = scene.a_record()
        if place is None:
            return
        data = scene.pieces[place].data
        spots = [each.start() + 1 for each in _STRING.finditer(data)]
        if spots:
            spot = scene.rng.choice(spots)
            scene.pieces[place] = Piece(data[:spot] + new + data[spot:], is_record=True)

    return damage


def _line_twice(scene: Scene) -> None:
    place = scene.a_record()
    if place is not None:
        other = scene.rng.randrange(len(scene.pieces) + 1)
        copy = scene.pieces[place]
        scene.pieces[other:other] = [copy, END] if _begins_line(scene.pieces, other) else []


def _id_twice(scene: Scene) -> None:
    first, second = scene.a_record(), scene.a_record()
    key = scene.dialect.id_key
    if first is not None and second is not None and key:
        own = _decoded(scene.pieces[first].data).get(key)
        _with_field(scene, second, key, own)


def _line_gone(scene: Scene) -> None:
    place = scene.a_record()
    if place is not None:
        del scene.pieces[place]
        if place < len(scene.pieces) and scene.pieces[place] == END:
            del scene.pieces[place]


def _swapped(scene: Scene) -> None:
    first, second = scene.a_record(), scene.a_record()
    if first is not None and second is not None:
        pieces = scene.pieces
        pieces[first], pieces[second] = pieces[second], pieces[first]


def _circle(scene: Scene) -> None:
    first, second = scene.a_record(), scene.a_record()
    id_key, parent_key = scene.dialect.id_key, scene.dialect.parent_key
    if first is not None and second is not None and id_key and parent_key:
        own = _decoded(scene.pieces[second].data).get(id_key)
        _with_field(scene, first, parent_key, own)


def _two_writers(scene: Scene) -> None:
    """Write half of one line, the whole next one, and then the rest of the first."""
    place = scene.a_record()
    if place is None or place + 2 >= len(scene.pieces):
        return
    first, end, second = scene.pieces[place : place + 3]
    if end == END and second.is_record:
        cut = scene.cut_of(first.data)
        rest = [second, END, Piece(first.data[cut:])]
        scene.pieces[place : place + 3] = [Piece(first.data[:cut]), *rest]


def _wrong_types(scene: Scene) -> None:
    place = scene.a_record()
    if place is None:
        return
    fields = list(_decoded(scene.pieces[place].data))
    strange = scene.rng.choice((None, True, -1, 1e300, "x", [], [["x"]], {}, {"type": ["x"]}))
    if fields:
        _with_field(scene, place, scene.rng.choice(fields), strange)


def _carriage_returns(scene: Scene) -> None:
    places = [place for place, each in enumerate(scene.pieces) if each == END]
    for place in places if scene.rng.random() < 0.5 else places[::3]:
        scene.pieces[place] = Piece(b"\r\n")


def _inserted_line(*lines: bytes, is_deep: bool = False) -> Callable[[Scene], None]:
    def damage(scene: Scene) -> None:
        place = scene.rng.randrange(len(scene.pieces) + 1)
        if _begins_line(scene.pieces, place):
            line = Piece(scene.rng.choice(lines), is_deep=is_deep)
            scene.pieces[place:place] = [line, END]

    return damage


def _byte_order_mark(scene: Scene) -> None:
    scene.pieces.insert(0, Piece(MARK))


DAMAGES: dict[str, Callable[[Scene], None]] = {
    "torn tail": _torn_tail,
    "torn line, glued": _torn_and_glued,
    "glued": _glued,
    "NUL block over": _block_over(b"\0"),
    "NUL block between": _nul_between,
    "0xFF block over": _block_over(b"\xff"),
    "stretch gone": _missing_stretch,
    "bad UTF-8": _changed_text(b"\xff\xfe\xc0\xaf"),
    "lone surrogate": _changed_text(b"\\ud83d"),
    "line twice": _line_twice,
    "id twice": _id_twice,
    "line gone": _line_gone,
    "lines swapped": _swapped,
    "circle": _circle,
    "two writers": _two_writers,
    "wrong types": _wrong_types,
    "CRLF": _carriage_returns,
    "blank lines": _inserted_line(b"", b"   ", b"\t", b"\r", b"\n\n"),
    "byte order mark": _byte_order_mark,
    "too deep": _inserted_line(
        b'{"type":"message","x":' + b"[" * 300 + b"]" * 300 + b"}", b'{"a":' * 300, is_deep=True
    ),
    "scalar line": _inserted_line(b"1", b"null", b'"text"', b"[1,2]", b"true", b"-"),
}


def _size(pieces: Iterable[Piece]) -> int:
    return sum(len(each.data) for each in pieces)


def _cut_bytes(pieces: Pieces, begin: int, end: int) -> int:
    """Take bytes out of the file; give the place between pieces where they were."""
    place, offset = 0, 0
    where = len(pieces)
    while place < len(pieces):
        piece = pieces[place]
        first, last = max(begin - offset, 0), min(end - offset, len(piece.data))
        offset += len(piece.data)
        if first < last:
            kept = [Piece(part, is_deep=piece.is_deep) for part in _halves(piece, first, last)]
            where = min(where, place + bool(first))
            pieces[place : place + 1] = [each for each in kept if each.data]
            place += sum(bool(each.data) for each in kept)
        else:
            if offset >= end and where == len(pieces):
                where = place + 1 if offset <= begin else place
            place += 1
    return min(where, len(pieces))


def _halves(piece: Piece, first: int, last: int) -> tuple[bytes, bytes]:
    return piece.data[:first], piece.data[last:]


def _begins_line(pieces: Sequence[Piece], place: int) -> bool:
    return not place or pieces[place - 1].data.endswith(b"\n")


def _decoded(data: bytes) -> dict[str, Any]:
    return json.loads(data.decode(errors="replace"))


def _with_field(scene: Scene, place: int, key: str, value: Any) -> None:
    changed = _decoded(scene.pieces[place].data) | {key: value}
    scene.pieces[place] = Piece(_compact(changed), is_record=True)


# --- What is still whole -------------------------------------------------------------------------


class Damaged(NamedTuple):
    """A damaged file, what was done to it, and the records in it that are whole."""

    data: bytes
    damages: tuple[str, ...]
    whole: tuple[bytes, ...]
    may_be_within: bool = False
    """Whether a record may also be found in one that holds it, for want of another format."""


def damaged(dialect: Dialect, seed: int) -> Damaged:
    """Make a session of a format and damage it, as the seed says."""
    rng = random.Random(f"{dialect.name} {seed}")  # noqa: S311 - repeatable, not secret
    lines = dialect.make(rng)
    pieces = [piece for line in lines for piece in (Piece(line, is_record=True), END)]
    names = rng.choices(list(DAMAGES), k=rng.randint(1, 4))
    scene = Scene(rng, pieces, dialect)
    for name in names:
        DAMAGES[name](scene)
    data = b"".join(each.data for each in pieces)
    header = dialect.header_type
    whole = [
        each
        for record in _whole(pieces)
        if not header or _type_of(record) != header
        for each in dialect.contents(record)
    ]
    merged = tuple(dict.fromkeys(whole) if dialect.is_merging else whole)
    return Damaged(data, tuple(names), merged, may_be_within=dialect.is_merging)


def _type_of(record: bytes) -> Any:
    return _decoded(record).get("type")


def _whole(pieces: Sequence[Piece]) -> Iterable[bytes]:
    """Give the records that are values of their own.

    None is one that shares its line with one too deep, as that line is refused; nor one that a
    torn record took in: behind its colon, comma or bracket it looks like a part of it, and so it
    does before what would go on with an object or list.
    """
    for line in _lines_of(pieces):
        if any(each.is_deep for each in line):
            continue
        before = b""
        for place, piece in enumerate(line):
            if piece.is_record:
                rest = b"".join(each.data for each in line[place + 1 :]).lstrip(b" \t\r\n")
                stands_alone = not before.strip(b" \t\r\n")
                is_inner = before.rstrip(b" \t\r\n")[-1:] in {b":", b",", b"["}
                goes_on = rest[:1] in {b",", b"]", b"}"}
                if stands_alone or not (is_inner or goes_on):
                    yield piece.data
            before += piece.data


def _lines_of(pieces: Sequence[Piece]) -> Iterable[Pieces]:
    """Give the pieces of each line; what is no record may hold line ends of its own."""
    line: Pieces = []
    for piece in pieces:
        if piece.is_record:
            line.append(piece)
            continue
        *ended, last = piece.data.removeprefix(MARK).split(b"\n")
        for part in ended:
            yield [*line, piece._replace(data=part)]
            line = []
        if last:
            line.append(piece._replace(data=last))
    yield line


# --- What is found of it -------------------------------------------------------------------------


class Outcome(NamedTuple):
    """How many whole records there are and are found, and all that is wrong beside."""

    whole: int
    found: int
    wrong: tuple[str, ...]


def outcome(case: Damaged, path: Path) -> Outcome:
    """Open a damaged file, written to a path, and compare what is found with what there is."""
    path.write_bytes(case.data)
    wanted = Counter(case.whole)
    try:
        debugger = Debugger.open(str(path))
    except CannotReadError as error:
        is_wrong = wanted or isinstance(error, StoreError)
        wrong = [f"not opened: {error}"] if is_wrong else []
        return Outcome(wanted.total(), 0, tuple(wrong))
    with debugger:
        store = debugger._store
        names = [] if store is None else store.sessions()
        wrong = list(_wrong(debugger, case.data))
        raws = Counter(_raws(debugger))
    for name in names if len(names) > 1 else ():
        if name != debugger.session.id:
            with Debugger.open(str(path), name) as other:
                raws.update(_raws(other))
    missing = wanted - raws
    if case.may_be_within:
        missing = Counter(each for each in missing if not any(each in raw for raw in raws))
    wrong += [f"not found: {each[:80]!r}" for each in missing]
    return Outcome(wanted.total(), wanted.total() - missing.total(), tuple(wrong))


def _raws(debugger: Debugger) -> Iterable[bytes]:
    return (_bare(debugger.raw(row)) for row in range(len(debugger.session)))


def _bare(raw: bytes) -> bytes:
    return raw.removeprefix(MARK).strip(b" \t\r\n")


def _wrong(debugger: Debugger, data: bytes) -> Iterable[str]:
    session = debugger.session
    extent, rows = session.extent, range(len(session))
    if extent is None or extent.size != len(data):
        yield f"{extent} of {len(data)} bytes"
    if len(set(session.ids)) != len(rows):
        yield "an id is there twice"
    if sorted(session.tree.parents_first()) != list(rows):
        yield "the tree has a circle"
    end = 0
    for row in rows:
        head = session.heads[row]
        if (head.offset or 0) < end:
            yield f"row {row + 1} overlaps the one before"
        end = (head.offset or 0) + (head.length or 0)
        if head.kind is Kind.GAP:
            if not any(
                each.line and each.offset is not None for each in debugger.findings_at(row)
            ):
                yield f"the gap in row {row + 1} has no finding with its place"
        else:
            yield from _wrong_in(debugger, row)
    yield from _failed_use(debugger)


def _wrong_in(debugger: Debugger, row: int) -> Iterable[str]:
    (body,) = debugger._decode([row])
    pieces = records(_bare(debugger.raw(row)))
    expected = next((each.value for each in pieces if isinstance(each, Record)), None)
    if body != expected:
        yield f"row {row + 1} has another body"


def _failed_use(debugger: Debugger) -> Iterable[str]:
    """Ask for all that `log`, `replay`, `show` and `doctor --deep` ask for."""
    session = debugger.session
    session_json(session, "damaged")
    for row in range(len(session)):
        debugger.changes(row)
        if row in {0, len(session) - 1, session.active}:
            debugger.inspect(row)
            debugger.resumed(row)
    for each in debugger.examined():
        if each.code in {Code.REPLAY_FAILS, Code.LOST_RECORD}:
            yield each.message


# --- The command ---------------------------------------------------------------------------------


def main() -> int:
    """Damage many sessions of each format; print a table, and what was not found."""
    asked = argparse.ArgumentParser(description=main.__doc__)
    asked.add_argument("--count", type=int, default=1000)
    asked.add_argument("--format", choices=[each.name for each in DIALECTS])
    asked.add_argument("--seed", type=int, default=0, help="the first seed")
    options = asked.parse_args()
    _say(f"{'format':<12}{'sessions':>9}{'damages':>9}{'whole':>9}{'found':>9}")
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.jsonl"
        for dialect in DIALECTS:
            if options.format not in {None, dialect.name}:
                continue
            damages = whole = found = 0
            for seed in range(options.seed, options.seed + options.count):
                case = damaged(dialect, seed)
                result = outcome(case, path)
                damages += len(case.damages)
                whole += result.whole
                found += result.found
                failures += [
                    f"{dialect.name} seed {seed} ({', '.join(case.damages)}): {each}"
                    for each in result.wrong
                ]
            share = f"{100 * found / max(whole, 1):.2f} %"
            numbers = f"{options.count:>9,}{damages:>9,}{whole:>9,}{found:>9,}{share:>9}"
            _say(f"{dialect.name:<12}{numbers}")
    for each in failures[:40]:
        _say(each)
    return 1 if failures else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
