"""Another scanner looks at what was redacted: kingfisher, where it is installed, finds nothing."""

from __future__ import annotations

import msgspec
from scanner import found_in, needs_kingfisher
from secrets_made import EMBEDDINGS, made

from tt_debugger.core.redact.redactor import Redactor

pytestmark = needs_kingfisher


def pages(*, is_redacted: bool) -> str:
    redactor = Redactor()
    values = [embed(each) for each in made(seed=3, each=2) for embed in EMBEDDINGS]
    lines = [
        msgspec.json.encode(redactor.value(value) if is_redacted else value).decode()
        for value in values
    ]
    page = "\n\n".join(lines)
    return redactor.finished(page) if is_redacted else page


def test_kingfisher_finds_nothing_in_what_was_redacted():
    assert found_in(pages(is_redacted=True)) == []


def test_kingfisher_finds_much_in_the_same_before():
    assert len({rule for rule, _ in found_in(pages(is_redacted=False))}) > 30
