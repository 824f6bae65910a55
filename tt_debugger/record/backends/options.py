"""Options: what a log is opened with beside its location."""

from __future__ import annotations

import enum

import msgspec

DEFAULT_SESSION = "main"
"""The session of a database that is meant where none is named."""


class Consistency(enum.StrEnum):
    """How far an entry must have come before it counts as written, where there are servers."""

    QUORUM = "quorum"
    """It is on the disks of the primary and of as many standbys as the server is told to ask."""
    SYNC = "sync"
    """It is on the disk of the primary."""
    ASYNC = "async"
    """The primary has heard of it; a crash of its machine may lose the last ones."""


class Options(msgspec.Struct, frozen=True):
    """How a log is to be opened.

    `session` names one of several sessions of a database. `tenant` is whose they are: what others
    have is not seen. `consistency` is None where the backend's own default is meant.
    `reads_from_replicas` lets what is read for questions come from a standby. `ttl` is how many
    seconds a session of Redis is kept after its last entry, None for always.
    `row_level_security` has PostgreSQL itself keep tenants apart, whatever is asked of it.
    """

    session: str = DEFAULT_SESSION
    tenant: str = ""
    consistency: Consistency | None = None
    reads_from_replicas: bool = False
    ttl: int | None = None
    row_level_security: bool = False
