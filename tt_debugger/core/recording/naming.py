"""Naming: one name for a session and its tenant, where several of both lie in one place.

A session of nobody in particular has its own id for a name. Otherwise the tenant stands before
it, up to the first slash, with its own slashes and percent signs encoded. So no two sessions have
one name: `main`, `acme/main`, `/a/b` (the session `a/b` of nobody).
"""

from __future__ import annotations

from urllib.parse import unquote


def session_name(tenant: str, session: str) -> str:
    """Give the name of a session, as refs and lists have it."""
    if not tenant and "/" not in session:
        return session
    return f"{tenant.replace('%', '%25').replace('/', '%2F')}/{session}"


def tenant_and_session(name: str) -> tuple[str, str]:
    """Give the tenant and the id that a name was made of."""
    tenant, slash, session = name.partition("/")
    return (unquote(tenant, errors="strict"), session) if slash else ("", name)
