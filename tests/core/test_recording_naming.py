"""Names of recorded sessions: each is the name of one session of one tenant only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.recording.naming import session_name, tenant_and_session


@pytest.mark.parametrize(
    ("tenant", "session", "name"),
    [
        ("", "main", "main"),
        ("", "", ""),
        ("acme", "main", "acme/main"),
        ("acme", "", "acme/"),
        ("", "a/b", "/a/b"),
        ("a/b", "c", "a%2Fb/c"),
        ("a%2Fb", "c", "a%252Fb/c"),
        ("a", "b%2F/c", "a/b%2F/c"),
    ],
)
def test_the_tenant_stands_before_the_first_slash(tenant: str, session: str, name: str):
    assert session_name(tenant, session) == name
    assert tenant_and_session(name) == (tenant, session)


@given(st.text(), st.text())
def test_a_name_tells_tenant_and_session(tenant: str, session: str):
    assert tenant_and_session(session_name(tenant, session)) == (tenant, session)


@given(st.text(alphabet="a/%2F"), st.text(alphabet="a/%2F"))
def test_names_with_signs_that_names_are_made_of_tell_them_too(tenant: str, session: str):
    assert tenant_and_session(session_name(tenant, session)) == (tenant, session)
