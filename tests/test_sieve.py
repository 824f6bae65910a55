"""The sieve: what a search would find in a session is never sieved out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import FIXTURES, jsonl, pi
from cli.homes import keep, pi_session

from tt_debugger.core.listing import Entry
from tt_debugger.core.search import Query, Regex
from tt_debugger.debugger import Debugger
from tt_debugger.discovery import Discovery, sieve
from tt_debugger.discovery.sieve import may_hold

MOST = 40
"""Texts that are looked for in each session."""


def read(location: Path) -> list[Entry]:
    """Give the sessions at a location with what is known of them."""
    discovery = Discovery(str(location))
    found = [each for each in discovery if each is not None]
    return [one for each in found for one in discovery.read(each).entries]


def held(entry: Entry, text: str) -> bool:
    query = Query.parse(text)
    assert query is not None
    return may_hold(entry, query)


def texts_in(debugger: Debugger) -> Iterator[str]:
    """Give what the index says, what stands in records, and what is neither in one piece."""
    session = debugger.session
    said = [session.ids[row] for row in range(len(session))]
    for row in range(len(session)):
        head = session.heads[row]
        raw = debugger.raw(row).decode(errors="replace")
        for text in (head.summary, f"{head.name} {head.summary}", raw[:400]):
            words = re.findall(r"\w+\W+\w+", text)
            said += [text[:60], *words, *(each.upper() for each in words[:2])]
    return (each.strip() for each in said if each.strip())


@pytest.mark.parametrize("format_name", sorted(each.name for each in FIXTURES.iterdir()))
def test_no_hit_is_sieved_out(format_name: str):
    entries = [each for each in read(FIXTURES / format_name) if each.failed is None]
    for entry in entries:
        with Debugger.open(entry.location, entry.session) as debugger:
            every = list(dict.fromkeys(texts_in(debugger)))
            for text in every[:: max(len(every) // MOST, 1)]:
                query = Query.parse(text)
                assert query is not None
                if not may_hold(entry, query):
                    hits = [hit for found in debugger.search(query) for hit in found.hits]
                    assert hits == [], (entry.location, text)


def test_what_no_session_says_is_sieved_out():
    sieved = [
        each
        for each in read(FIXTURES)
        if each.facts is not None and each.facts.made is not None and not held(each, "zebra qwx")
    ]

    assert {"pi", "tau", "claude_code", "codex"} <= {each.format for each in sieved}


def test_words_that_only_stand_apart_in_the_file_are_not_sieved_out(tmp_path):
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls  -la"}}
    said = {"role": "assistant", "content": [call]}
    keep(
        tmp_path / "a.jsonl",
        jsonl({"type": "session", "id": "s", "version": 3}, pi("a", None, said)),
        9,
    )
    (entry,) = read(tmp_path)

    assert held(entry, "ls -la")
    assert held(entry, "bash ls")
    assert not held(entry, "ls -lb")


def test_what_is_not_known_is_not_sieved_out(tmp_path):
    path = keep(tmp_path / "a.jsonl", pi_session("s", "Water the plants"), 9)
    (entry,) = read(tmp_path)
    (unread,) = (each for each in Discovery(str(tmp_path)) if each is not None)

    assert not held(entry, "zebra")
    assert held(unread, "zebra")
    assert may_hold(entry, Regex.parse("zebra", ignores_case=False))
    keep(path, pi_session("s", "Water the lawns"), 5)
    assert held(entry, "zebra")
    path.unlink()
    assert held(entry, "zebra")


@pytest.mark.parametrize("size", range(1, 24))
def test_a_character_that_is_written_as_a_number_is_seen_where_two_readings_part_it(
    tmp_path, monkeypatch, size
):
    monkeypatch.setattr(sieve, "_CHUNK", size)
    kelvin = keep(tmp_path / "k.jsonl", b'{"a": "300 \\u212a of them"}\n', 0)
    other = keep(tmp_path / "o.jsonl", b'{"a": "300 \\u212b of them"}\n', 0)

    query = Query.of("k", is_exact=False)
    assert sieve.is_in(str(kelvin), query, ["k"])
    assert not sieve.is_in(str(other), query, ["k"])
