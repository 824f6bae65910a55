"""Bundles: what one needs to look into a bug report, in one file that ttdbg opens again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from tt_debugger.core.bundle import (
    VERSION,
    BundleHead,
    Course,
    Did,
    Entry,
    TellsFinding,
    did_between,
    entry_of,
)
from tt_debugger.core.diff.comparing import MESSAGES, compare
from tt_debugger.core.findings import Finding
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.exports import markdown
from tt_debugger.exports.diff_json import diff_json
from tt_debugger.exports.gate import Gate, Page, Passed, refusing
from tt_debugger.exports.json_forms import encoded, escaped
from tt_debugger.exports.subjects import (
    NOT_WHOLE,
    At,
    Source,
    TwoStates,
    whole,
    whole_summary,
)
from tt_debugger.version import __version__


class Bundled(msgspec.Struct, frozen=True):
    """What a bundle holds: the checkpoints on the ways to its points, and what differs there."""

    head: BundleHead
    entries: tuple[Entry, ...]
    two: TwoStates | None


def bundled(points: Sequence[At], two: TwoStates | None = None) -> Bundled:
    """Give what a bundle of one or two points holds: no checkpoint but those on the way to them.

    Two sessions become one tree: where a copy says the same under the same ids, it is the same
    checkpoint; where ids are the same by chance, the second has another one.
    """
    # Taken once: what follows a session that grows replaces it.
    sessions = {id(at.source): at.source.session for at in points}
    entries: dict[str, Entry] = {}
    known: dict[int, dict[str, str]] = {}
    """For each source the names that its checkpoints have here, where they are others."""
    for at, sign in zip(points, ("is_a", "is_b"), strict=False):
        session = sessions[id(at.source)]
        if id(at.source) not in known:
            names = known[id(at.source)] = {}
            rows = [each.row for each in points if each.source is at.source]
            file = None if len(sessions) == 1 else at.file
            for entry in _entries(at.source, session, rows, file, is_first=at is points[0]):
                _join(entries, entry, names)
        name = session.ids[at.row]
        name = known[id(at.source)].get(name, name)
        entries[name] = msgspec.structs.replace(entries[name], **{sign: True})
    first = sessions[id(points[0].source)]
    head = BundleHead(
        VERSION,
        __version__,
        first.title,
        first.cwd,
        None if two is None else two.fork_point,
        _told(
            each
            for session in sessions.values()
            for each in session.findings
            if each.checkpoint is None
        ),
    )
    return Bundled(head, tuple(entries.values()), two)


def bundle_page(bundle: Bundled, gate: Gate) -> Page:
    """Give a bundle as the text of its file.

    Raises CannotWriteError where anything went wrong on the way.
    """
    with refusing():
        passed = gate.passed(bundle)
        lines = map(_line, (passed.subject.head, *passed.subject.entries, *_parts(passed, gate)))
        return gate.page("".join(lines))


def _parts(passed: Passed[Bundled], gate: Gate) -> Iterator[dict[str, Any]]:
    two: Passed[TwoStates] = passed.part("two")
    if passed.subject.two is not None:
        subject = two.subject
        comparison = compare(subject.old, subject.new, mask=subject.is_masked)
        told = diff_json(comparison, subject.a.ref, subject.b.ref, subject.fork_point)
        yield {"part": "diff", "value": told}
        yield {"part": "markdown", "value": markdown.comparison_page(two, comparison)}
    yield {"part": "redaction", "counts": gate.redaction.counts, "hits": gate.hits}


def _line(value: Any) -> str:
    return escaped(encoded(value)) + "\n"


def _entries(
    source: Source, session: Session, points: Sequence[int], file: str | None, *, is_first: bool
) -> Iterator[Entry]:
    """Give the entries of a session, those on the ways to its points.

    They come in storage order; of a second session parents first, since they may need new names.
    """
    did: dict[int, Did] = {}
    for point in points:
        path = [row for row in session.tree.path_to(point) if row not in did]
        did.update(zip(path, _did_along(source, session, path), strict=True))
    rows = sorted(did) if is_first else sorted(did, key=session.tree.depth)
    findings: dict[str, list[Finding]] = {}
    for found in session.findings:
        findings.setdefault(found.checkpoint or "", []).append(found)
    for row in rows:
        parent, name = session.parents[row], session.ids[row]
        entry = entry_of(
            session.heads[row], name, None if parent == NO_ROW else session.ids[parent], did[row]
        )
        yield msgspec.structs.replace(
            entry,
            name=whole(entry.name),
            summary="" if entry.insert.get(MESSAGES) else whole_summary(session.heads[row]),
            label=session.labels.get(row),
            row=row + 1,
            file=file,
            findings=_told(findings.get(name, ())),
        )


def _did_along(source: Source, session: Session, path: Sequence[int]) -> Iterator[Did]:
    """Give what each of some rows did, in one walk; each is the parent of the next."""
    course: Course | None = None
    for row, changes in zip(path, source.changes_along(path), strict=True):
        parent = session.parents[row]
        # A root tells all, and a gap has no state, though what comes after it has.
        if parent == NO_ROW or session.heads.is_gap(row) or session.heads.is_gap(parent):
            before, after = None if parent == NO_ROW else source.state(parent), source.state(row)
            course = Course(after)
            yield did_between(before, after)
            continue
        course = course or Course(source.state(parent))
        yield course.did(changes)


def _join(entries: dict[str, Entry], entry: Entry, names: dict[str, str]) -> None:
    """Add an entry, under another name where its own is that of another one."""
    parent = names.get(entry.parent, entry.parent) if entry.parent else None
    entry = msgspec.structs.replace(entry, parent=parent)
    known = entries.get(entry.id)
    if known == msgspec.structs.replace(entry, row=known and known.row, file=known and known.file):
        return
    name = entry.id
    while name in entries:
        name += "'"
    if name != entry.id:
        names[entry.id] = name
    entries[name] = msgspec.structs.replace(entry, id=name)


def _told(findings: Iterable[Finding]) -> tuple[TellsFinding, ...]:
    return tuple(
        TellsFinding(
            str(each.code), str(each.severity), whole(each.message) or NOT_WHOLE, each.hint
        )
        for each in findings
    )
