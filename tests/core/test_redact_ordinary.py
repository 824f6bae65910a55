"""Ordinary code and session text: how rarely redaction takes what is no secret."""

from __future__ import annotations

import json
import sysconfig
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hostile_files import SAMPLES
from secrets_made import ALNUM, HEX, URL_SAFE, chars, uuid

from tt_debugger.core.redact.redactor import Hit, Redactor

ORACLE = Path(__file__).parents[3] / "shared" / "oracle"
TRUE_HITS = frozenset(("email", "home-name"))
"""Addresses of people and their homes: what stands in the sources of others is one indeed."""
MB = 1_000_000
MOST = 1.0
WORDS = (
    *("the", "state", "of", "a", "session", "is", "read", "once", "and", "every", "question"),
    *("token", "key", "secret", "pass", "password", "author", "cookie", "basic", "bearer", "home"),
    *("users", "data", "image", "export", "diff", "model"),
)


def false_hits(text: str) -> list[Hit]:
    redactor = Redactor()
    redactor.text(text)
    return [hit for hit in redactor.hits if hit.rule not in TRUE_HITS]


def test_in_the_sources_of_python_there_is_at_most_one_false_hit_in_a_megabyte():
    size = 0
    found: list[tuple[str, Hit]] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        text = path.read_text(errors="replace")
        size += len(text)
        found += ((path.name, hit) for hit in false_hits(text))
        if size > 12 * MB:
            break

    assert size > 5 * MB
    assert len(found) <= MOST * size / MB, found


def test_in_sessions_there_is_at_most_one_false_hit_in_a_megabyte():
    paths = [*SAMPLES.glob("*.jsonl"), *ORACLE.rglob("*.jsonl"), *ORACLE.rglob("*.json")]
    found: list[Hit] = []
    size = 0
    for path in paths:
        text = path.read_text(errors="replace")
        size += len(text)
        redactor = Redactor()
        for line in text.splitlines():
            try:
                redactor.value(json.loads(line))
            except ValueError:
                redactor.text(line)
        found += (
            hit
            for hit in redactor.hits
            if hit.rule not in TRUE_HITS and " bytes sha256:" not in hit.placeholder
        )

    assert size > MB / 10
    assert len(found) <= max(MOST * size / MB, 1), found


@pytest.mark.parametrize("seed", [1, 2])
def test_ids_hashes_and_names_that_look_random_are_none(seed: int):
    random = Random(seed)  # noqa: S311 - reproducible on purpose
    text = "\n".join(line for _ in range(5000) for line in look_alikes(random))

    assert len(text) > 2 * MB
    assert len(false_hits(text)) <= MOST * len(text) / MB, false_hits(text)


def look_alikes(random: Random) -> Iterator[str]:
    """Give lines of what sessions are full of: commits, locks, check sums, built code."""
    yield f"commit {chars(random, HEX, 40)}\nAuthor: Ada\n\n    " + words(random, 9)
    yield f"{uuid(random)} {chars(random, HEX, 12)} toolu_{chars(random, ALNUM, 24)}"
    yield f'  "integrity": "sha512-{b64encode(random.randbytes(64)).decode()}",'
    yield '  "resolved": "https://registry.npmjs.org/a/-/a-1.tgz"'
    yield f"{chars(random, HEX, 64)}  dist/chunk-{chars(random, HEX, 8)}.js"
    yield f"call_{chars(random, ALNUM, 24)} msg_{chars(random, ALNUM, 24)}"
    name = chars(random, ALNUM, 2)
    yield f"var {name}=function(e,t){{return e.key===t.token&&{name}k(e)}},pass={name}"
    key = chars(random, URL_SAFE, 22)
    yield f'{{"token": "{words(random, 1)}", "key": "{key}", "tokens": 12}}'
    yield f"self.{words(random, 4, '_')} = {words(random, 1)}_{random.randrange(99)}"
    yield f"2026-03-{random.randint(10, 28)}T10:00:00.000Z INFO {words(random, 5, '-')}"
    yield f"{words(random, 20)}: {random.randrange(10**9)}."


def words(random: Random, count: int, between: str = " ") -> str:
    return between.join(random.choices(WORDS, k=count))
