"""Servers as locations: addresses of databases that are shown without their secrets.

An address that somebody typed may hold a user, a password and options. It is admitted once, and
from then on only its shown form goes round: in locations, refs, titles, findings and errors. The
whole stays in here, for the modules that connect.
"""

from __future__ import annotations

import re
import threading

import msgspec

from tt_debugger.errors import CannotReadError, UsageError

POSTGRES = "postgresql"
REDIS = "redis"
REDIS_TLS = "rediss"
SOCKET = "unix"
"""A socket of Redis, as its driver writes it."""

_SCHEMES = {
    POSTGRES: POSTGRES,
    "postgres": POSTGRES,
    REDIS: REDIS,
    REDIS_TLS: REDIS_TLS,
    SOCKET: SOCKET,
}
_BEGIN = re.compile(r"([a-z][a-z0-9.-]*)(?:\+[a-z0-9_.-]*)?://", re.IGNORECASE)
_LIKE = re.compile(r"\A\s*[a-z][a-z0-9+.-]+(?::/{1,2}|//)\S*@|\bpassword\s*=", re.IGNORECASE)
_PORTS = {POSTGRES: "5432", REDIS: "6379", REDIS_TLS: "6379"}
_WRITTEN = (
    "write it as postgresql://user:password@host:port/database or redis://user:password@host:port/0,"
    " and the signs : / ? # @ in a user or password as %3A %2F %3F %23 %40"
)


class Address(msgspec.Struct, frozen=True):
    """A place at a server: which kind it is of, how it is shown, and the whole of it."""

    scheme: str
    shown: str
    _typed: str
    is_bare: bool = False
    """Whether nothing was typed but what is shown."""

    def reveal(self) -> str:
        """Give the whole address, for a driver and nobody else."""
        return self._typed

    def __repr__(self) -> str:
        # What is shown where a program fails has no secret in it either.
        return f"Address({self.shown!r})"


_admitted: dict[str, Address] = {}
_one_at_a_time = threading.Lock()


def must_be_server(location: str) -> None:
    """Let pass only the address of a server. Raises CannotReadError."""
    if not is_server(location):
        raise CannotReadError(f"cannot read {location}: it is no address of a server")


def is_server(text: str) -> bool:
    """Tell whether a text is an address that `admitted` takes."""
    begin = _BEGIN.match(text)
    return begin is not None and begin[1].lower() in _SCHEMES


def looks_like_address(text: str) -> bool:
    """Tell whether a text may hold a login: an address of another kind, or a misspelt one."""
    return _LIKE.search(text) is not None


def split(text: str) -> tuple[str, str | None]:
    """Split ADDRESS[#FRAGMENT]: neither has a # of its own that is not percent-encoded."""
    address, sign, fragment = text.partition("#")
    return address, fragment if sign else None


def admitted(text: str) -> str:
    """Give an address as it may be shown; a text that is none, and a shown one, as it is.

    Two that are shown alike, but differ in what is not shown, are told apart by a number. Raises
    UsageError, which repeats nothing, where what may be shown cannot be told.
    """
    if not is_server(text):
        return text
    with _one_at_a_time:
        if text in _admitted:
            return text
        address = _address(text)
        # What is typed without a login means what was opened with one before.
        if address.is_bare and address.shown in _admitted:
            return address.shown
        known = (each for each in _admitted.values() if each.reveal() == address.reveal())
        if (same := next(known, None)) is not None:
            return same.shown
        shown, number = address.shown, 1
        while shown in _admitted:
            number += 1
            sign = "&" if "?" in address.shown else "?"
            shown = f"{address.shown}{sign}{number}"
        _admitted[shown] = msgspec.structs.replace(address, shown=shown)
        return shown


def address_of(shown: str, *schemes: str) -> Address:
    """Give what an admitted address stands for. Raises CannotReadError for one of no scheme."""
    address = _admitted.get(shown)
    if address is None or (schemes and address.scheme not in schemes):
        raise CannotReadError(
            f"cannot read {shown}: it is no address of such a server",
            "give one that begins with postgresql:// or redis://",
        )
    return address


def with_options(shown: str, **options: str) -> str:
    """Give the address of a place at PostgreSQL with more options of its driver, as it is shown.

    What `options` says, the settings of a session, is said beside what the address says itself.
    """
    from urllib.parse import parse_qsl, quote, urlencode, urlsplit

    parts = urlsplit(address_of(shown, POSTGRES).reveal())
    said = dict(parse_qsl(parts.query, keep_blank_values=True))
    if "options" in said and "options" in options:
        options["options"] = f"{said['options']} {options['options']}"
    query = urlencode({**said, **options}, quote_via=quote)
    return admitted(parts._replace(query=query).geturl())


def _address(text: str) -> Address:
    from urllib.parse import parse_qs, quote, unquote, urlsplit

    begin = _BEGIN.match(text)
    assert begin is not None  # noqa: S101 - is_server said so
    scheme = _SCHEMES[begin[1].lower()]
    try:
        # A byte that is no text has no form in an address.
        text.encode()
        parts = urlsplit(f"{scheme}://{text[begin.end() :]}")
        query = parse_qs(parts.query, keep_blank_values=True)
    except ValueError:
        raise _unclear() from None
    login, sign, host = parts.netloc.rpartition("@")
    # A sign in a password that was not encoded cuts the address at a wrong place.
    is_cut = "@" in parts.path or ("@" in parts.query and not (parts.path or sign))
    if is_cut or "#" in text or not _are_hosts(host):
        raise _unclear()
    if sign:
        # The drivers do not agree on where a login with raw signs in it ends.
        user, colon, password = login.partition(":")
        login = f"{quote(unquote(user), safe='')}{colon}{quote(unquote(password), safe='')}"
    typed = parts._replace(netloc=f"{login}{sign}{host}").geturl()
    if scheme == SOCKET:
        number = _number(query.get("db", ["0"])[-1])
        return Address(scheme, f"unix://{quote(unquote(parts.path))}?db={number}", typed)
    name = unquote(parts.path[1:])
    if scheme == POSTGRES:
        host = quote(query["host"][-1], safe=",[]:") if "host" in query else host
        if "port" in query and host:
            host = f"{host.rpartition(':')[0] or host}:{_number(query['port'][-1])}"
        name = query.get("dbname", [name])[-1]
    else:
        host = host or "localhost"
        name = _number(query.get("db", [name or "0"])[-1])
    shown = f"{scheme}://{_with_port(host, scheme)}/{quote(name)}"
    return Address(scheme, shown, typed, is_bare=not (sign or parts.query))


def _are_hosts(text: str) -> bool:
    """Tell whether a text is one host or several, each with a number as its port, if any."""
    return all(
        re.fullmatch(r"(\[[0-9a-fA-F:.%]*\]|[^:\[\]\s]*)(:[0-9]{0,5})?", each)
        for each in text.split(",")
    )


def _with_port(host: str, scheme: str) -> str:
    """Give the host with its port, so that one place has one form."""
    if not host or "," in host:
        return host
    if re.fullmatch(r"(\[[^\]]*\]|[^:]*)", host):
        return f"{host}:{_PORTS[scheme]}"
    return f"{host}{_PORTS[scheme]}" if host.endswith(":") else host


def _number(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise _unclear()
    return str(int(text))


def _unclear() -> UsageError:
    return UsageError("the address of the server is not written as one", _WRITTEN)
