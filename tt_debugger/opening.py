"""Opening: from what a person typed to the format that reads it, and to the session in it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from tt_debugger.core.model import Extent, Heads, Session, SessionId
from tt_debugger.core.refs import Fragment, parse_fragment, quoted
from tt_debugger.errors import CannotReadError, UnknownRefError, UsageError, outside_errors
from tt_debugger.formats import recognise
from tt_debugger.storage import servers
from tt_debugger.storage.probe import SCHEME, means_refs, probe
from tt_debugger.storage.stdin import STDIN
from tt_debugger.store import Cursor, HasMany, Loaded, Probe, Progress, Store, Tails

MOST_OFFERED = 20
"""Sessions that are named where it is not clear which one is meant."""
_RECORDED = "refs/agents/"
"""How refs of git begin that a recorder writes: no commit has such a name."""


def split_location(text: str) -> tuple[str, Fragment]:
    """Split LOCATION[#FRAGMENT]. The whole is first tried as an existing path.

    Of the address of a server the location is what may be shown of it. Raises UsageError, which
    repeats nothing of an address that is of no known kind.
    """
    text = text.lstrip() if servers.is_server(text.lstrip()) else text
    if servers.is_server(text):
        address, rest = servers.split(text)
        return servers.admitted(address), parse_fragment(rest) if rest else Fragment()
    recorded = _recorded(text)
    if recorded is not None:
        return recorded
    if not exists(text) and servers.looks_like_address(text):
        raise UsageError(
            "this is no address of a kind that ttdbg knows",
            "it opens postgresql://HOST/DATABASE and redis://HOST:PORT/NUMBER, and paths",
        )
    if exists(text) or "#" not in text:
        return text, Fragment()
    places = [place for place, character in enumerate(text) if character == "#"]
    for place in reversed(places):
        if exists(text[:place]):
            return text[:place], parse_fragment(text[place + 1 :])
    return text[: places[-1]], parse_fragment(text[places[-1] + 1 :])


def _recorded(text: str) -> tuple[str, Fragment] | None:
    """Split what names recordings in git: `git:PATH`, or a folder with a ref of a recorder.

    Such a ref stands for its session. None for any other text.
    """
    is_named = means_refs(text)
    whole = text.removeprefix(SCHEME if is_named else "")
    # A path may have a # of its own, a ref of git has no colon.
    folder, sign, rest = whole.rpartition(f"#{_RECORDED}")
    if sign and (is_named or is_folder(folder)):
        session, _, points = rest.partition(":")
        return f"{SCHEME}{folder or '.'}", parse_fragment(f"{session}:{points}")
    if not is_named:
        return None
    folder, sign, rest = (whole, "", "") if exists(whole) else whole.partition("#")
    return f"{SCHEME}{folder or '.'}", parse_fragment(rest) if rest else Fragment()


def exists(path: str) -> bool:
    """Tell whether something is at a path; a text that can be no path is none.

    Whether something answers at the address of a server is seen when it is asked.
    """
    if path == STDIN or servers.is_server(path) or _is_path(path):
        return True
    return path.startswith(SCHEME) and _is_path(path.removeprefix(SCHEME))


def _is_path(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def is_folder(path: str) -> bool:
    """Tell whether a folder is at a path."""
    try:
        return path != STDIN and Path(path).is_dir()
    except (OSError, ValueError):
        return False


def format_of(seen: Probe) -> type[Store] | None:
    """Give the format of a location, None where it holds nothing at all.

    Raises CannotReadError where it holds what no format recognises.
    """
    if not seen.head.strip() and seen.size == len(seen.head):
        return None
    return recognise(seen)[0]


def tail_of(location: str) -> Session | None:
    """Give the newest checkpoints of a location that takes long to read, as far as they tell.

    Raises CannotReadError.
    """
    found = format_of(probe(location))
    if found is None:
        return None
    with outside_errors(found.format):
        store = found.open(location)
        try:
            tail = store.tail() if isinstance(store, Tails) else None
            if tail is not None:
                tail.take_in()
            return tail
        finally:
            store.close()


def opened(
    location: str, session: str | None, progress: Progress
) -> tuple[Store | None, Loaded, tuple[SessionId, ...]]:
    """Give the store of a location, the session asked for, and the ids of the others.

    A blank file has no store yet.
    """
    seen = probe(location)
    found = format_of(seen)
    if found is None:
        return None, _blank(seen.size), ()
    with outside_errors(found.format):
        store = found.open(location)
        try:
            ids = store.sessions()
            chosen = _chosen(store, ids, session)
            others = tuple(each for each in ids if each != chosen)
            return store, store.load(chosen, progress), others
        except BaseException:
            store.close()
            raise


def _chosen(store: Store, ids: Sequence[SessionId], wanted: str | None) -> SessionId:
    """Give the session named, by its id or a unique prefix; without a name the newest.

    A name is tried as given, then percent-decoded.
    """
    if wanted is None:
        if not ids:
            raise CannotReadError(f"there are no sessions in {store.location}")
        return ids[-1]
    names = (wanted, unquote(wanted))
    known = [*ids]
    if isinstance(store, HasMany):
        known += (each for name in dict.fromkeys(names) for each in store.sessions_named(name))
    exact = [each for name in names for each in known if each == name]
    if exact:
        return exact[0]
    matches = list(dict.fromkeys(each for each in known if each.startswith(names)))
    if len(matches) != 1:
        offered = matches or ids
        listed = ", ".join(map(quoted, offered[-MOST_OFFERED:]))
        more = len(offered) - MOST_OFFERED
        raise UnknownRefError(
            f"{wanted!r} names {len(matches) or 'no'} sessions here",
            f"there are: {listed}{f' and {more:,} more' if more > 0 else ''}",
        )
    return matches[0]


def _blank(size: int) -> Loaded:
    """Give the session of a file that holds nothing."""
    session = Session(SessionId(""), None, Heads(), [], array("q"), extent=Extent(size, 0))
    return Loaded(session, Cursor(None))
