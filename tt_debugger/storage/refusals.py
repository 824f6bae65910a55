"""Refusals: why a server gave no answer, in our own words.

What a driver says of it may repeat the address with its login, so it is only ever looked at.
"""

from __future__ import annotations

import enum

from tt_debugger.errors import CannotWriteError, StoreError

PATIENCE = 30
"""Seconds that a server may work until the next part of its answer."""
_NO_SETTING = "42704"
"""PostgreSQL's code for a setting that nobody has made."""
UNDEFINED_TABLE = "42P01"
"""PostgreSQL's code for a table that is not there."""


class Rows(enum.Enum):
    """Which rows of a table of PostgreSQL a user may see."""

    ALL = enum.auto()
    SOME = enum.auto()
    """Those that policies let it see, which may be any code: they are not run."""
    OF_TENANT = enum.auto()
    """Those of the tenant that the address names, by a policy of ours."""


_LATER = "try again in a moment"
_NOT_THERE = "is it running, and are host and port right?"
_NO_ROOM = "the server has no room for another connection"
_REOPEN = "open the database again"

_POSTGRES_LOGIN = (
    "give a user and a password in the address, in PGUSER and PGPASSWORD, or in ~/.pgpass"
)
_POSTGRES_DOORS = (
    (
        ("session is read-only",),
        "no server of these takes writes",
        "give the address of the primary, or those of all servers; has one still to be promoted?",
    ),
    (
        ("authentication failed", "no password supplied", "role"),
        "the server refuses the login",
        _POSTGRES_LOGIN,
    ),
    (("pg_hba.conf",), "the server lets nobody in from here with this login", _POSTGRES_LOGIN),
    (
        ("database",),
        "the server has no such database, or it may not be entered",
        "`psql --list` lists those of a server",
    ),
    (("too many", "remaining connection slots"), _NO_ROOM, _LATER),
    (("SSL", "certificate"), "no secure connection could be made", "see sslmode in the address"),
    (
        ("refused", "No such file", "translate host name", "timeout", "unreachable", "resolve"),
        "no server answers there",
        _NOT_THERE,
    ),
    (("starting up", "shutting down"), "the server is not ready", _LATER),
)
_POSTGRES_CODES = (
    ("42501", "there are no rights to read {}", "have SELECT on it granted to this user"),
    (UNDEFINED_TABLE, "{} is no longer there", _REOPEN),
    ("3F000", "{} is no longer there", _REOPEN),
    ("42703", "{} no longer has the columns that it had", _REOPEN),
    ("55P03", "{} is locked by somebody else", _LATER),
    ("57014", f"{{}} takes the server longer than {PATIENCE} s", "has its key an index?"),
    ("53300", _NO_ROOM, _LATER),
    ("57P0", "the server is shutting down", _LATER),
    ("08", "the connection was lost", _LATER),
    ("XX", "the server says that {} is damaged", None),
    ("58", "the server cannot read {} from its disk", None),
)
_POSTGRES_WRITES = (
    ("42501", "this user has no rights to do so", "have INSERT, SELECT and DELETE granted to it"),
    ("25006", "the server takes no writes", "give the address of the primary server"),
    ("55P03", "it is busy: somebody else holds its tables", _LATER),
    ("57014", "it takes the server too long", "have the columns of its key an index?"),
    ("40", "it is busy: somebody else writes to the same rows", _LATER),
    ("42P01", "a table is no longer there", _REOPEN),
    ("42703", "a table no longer has the columns that it had", _REOPEN),
    ("53", "there is no room for more", None),
    ("57P0", "the server is shutting down", _LATER),
    ("08", "the connection was lost", _LATER),
    ("XX", "the server says that it is damaged", None),
    ("58", "its disk fails", None),
)
_REDIS_REASONS = (
    (("NOPERM", "NoPermission"), "this user may not do what reading takes", "allow it +@read"),
    (
        ("NOAUTH", "WRONGPASS", "AuthenticationError", "invalid password", "invalid username"),
        "the server refuses the login",
        "give a user and a password in the address: redis://user:password@host:port/0",
    ),
    (("DB index",), "the server has no database of that number", "most have 0 to 15"),
    (
        ("JSON.GET", "unknown command"),
        "the server lacks the module for JSON documents",
        "it comes with Redis 8 and Redis Stack",
    ),
    (("LOADING", "BusyLoading"), "the server is not ready", _LATER),
    (
        ("MOVED", "MovedError", "CLUSTERDOWN", "ClusterDown", "CROSSSLOT", "CrossSlot"),
        "it is one part of a cluster",
        "give the address of a server that holds all keys",
    ),
    (
        ("SSL", "certificate"),
        "no secure connection could be made",
        "is it rediss:// that the server wants, or redis://?",
    ),
    (("Timeout",), "the server does not answer in time", _LATER),
    (("max number of clients",), _NO_ROOM, _LATER),
    (("ConnectionError", "OSError"), "no server answers there", _NOT_THERE),
    (
        ("TypeError", "AttributeError"),
        "the driver does not take the options of the address",
        "leave out what stands behind the ? in it",
    ),
)


def no_driver(location: str, extra: str) -> StoreError:
    """Say what to install for a server."""
    return StoreError(
        f"cannot read {location}: its driver is not installed",
        f"install it with: pip install 'ttdbg[{extra}]'",
    )


def no_connection(location: str, said: str) -> StoreError:
    """Say why there is no connection to PostgreSQL, which is told by a text alone."""
    for signs, message, hint in _POSTGRES_DOORS:
        if any(sign in said for sign in signs):
            return StoreError(f"cannot read {location}: {message}", hint)
    return StoreError(f"cannot read {location}: the server cannot be reached", "try it with psql")


def refused_by_postgres(location: str, about: str, code: str, rows: Rows = Rows.ALL) -> StoreError:
    """Say why a question was not answered, by the code that PostgreSQL gives."""
    if rows is Rows.OF_TENANT and code == _NO_SETTING:
        return StoreError(
            f"cannot read {location}: {about} keeps tenants apart, and the address names none",
            "add ?options=-cttdbg.tenant%3DNAME to it, or read as a user with BYPASSRLS",
        )
    if rows is Rows.SOME and code == "42501":
        return StoreError(
            f"cannot read {location}: {about} hides rows from this user, or is not for it to read",
            "read it as its owner, or as a user with BYPASSRLS",
        )
    for begin, message, hint in _POSTGRES_CODES:
        if code.startswith(begin):
            return StoreError(f"cannot read {location}: {message.format(about)}", hint)
    return StoreError(f"cannot read {location}: the server failed at {about} (code {code})")


def unwritten_by_postgres(location: str, code: str) -> CannotWriteError:
    """Say why nothing was written, by the code that PostgreSQL gives."""
    for begin, message, hint in _POSTGRES_WRITES:
        if code.startswith(begin):
            return CannotWriteError(f"cannot write to {location}: {message}", hint)
    return CannotWriteError(f"cannot write to {location}: the server failed (code {code})")


def refused_by_redis(location: str, error: Exception) -> StoreError:
    """Say why Redis did not answer, by the kind of the error and the word it begins with."""
    said = f"{type(error).__name__} {error}"
    for signs, message, hint in _REDIS_REASONS:
        if any(sign in said for sign in signs):
            return StoreError(f"cannot read {location}: {message}", hint)
    return StoreError(f"cannot read {location}: the server refused", "try it with redis-cli")
