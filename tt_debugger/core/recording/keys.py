"""Keys: the names under which a server of keys and values holds the log of a session.

Sessions and tenants are percent-encoded in them: neither has a colon or a sign of patterns of its
own there, so that no name can reach into what is another's.
"""

from __future__ import annotations

from typing import Self
from urllib.parse import quote, unquote

import msgspec

from tt_debugger.core.recording.naming import session_name

_PREFIX = "checkpoint"
_HEADER, _TURNS = "header", "turns"
_BADLY = "surrogatepass"
"""How half a character is encoded: as others are, so that two names never become one."""


class Named(msgspec.Struct, frozen=True):
    """A session of a tenant, the empty one where none is named."""

    tenant: str
    session: str

    @property
    def shown(self) -> str:
        """The name by which refs and lists call it."""
        return session_name(self.tenant, self.session)

    @property
    def state(self) -> str:
        """The key of the state of its newest snapshot, where outsiders look for it."""
        session = quote(self.session, safe="", errors=_BADLY)
        if not self.tenant:
            return f"{_PREFIX}:{session}"
        tenant = quote(self.tenant, safe="", errors=_BADLY)
        if tenant == _PREFIX:
            # As it is, its sessions would be called as the parts of another one are.
            tenant = f"%{ord(tenant[0]):02X}{tenant[1:]}"
        return f"{tenant}:{_PREFIX}:{session}"

    @property
    def header(self) -> str:
        """The key of its header."""
        return f"{self.state}:{_HEADER}"

    @property
    def turns(self) -> str:
        """The key of the list of its entries."""
        return f"{self.state}:{_TURNS}"

    @classmethod
    def by_part(cls, key: str) -> Self | None:
        """Give the session that a key has the header or the entries of; None for any other."""
        match key.split(":"):
            case [prefix, session, _]:
                tenant = ""
            case [tenant, prefix, session, _]:
                pass
            case _:
                return None
        if prefix != _PREFIX:
            return None
        try:
            named = cls(unquote(tenant, errors=_BADLY), unquote(session, errors=_BADLY))
        except UnicodeError:
            return None
        # There are other ways to encode a name, which nothing of ours has.
        return named if key in (named.header, named.turns) else None


PATTERN = f"*{_PREFIX}:*"
"""What all keys of sessions match."""
