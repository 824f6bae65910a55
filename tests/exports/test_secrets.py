"""No secret that stands anywhere in a session is in any export of it."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from builders import PI_HEADER, jsonl, pi, user
from exported import pages
from scanner import found_in, needs_kingfisher
from secrets_made import EMBEDDINGS, Made, made

from tt_debugger.core.redact.redactor import Owner
from tt_debugger.exports.gate import Gate

EVERY = list(made(each=1))
TOKEN = next(each for each in EVERY if each.family == "github classic")


def called(value: Any) -> dict[str, Any]:
    """Give a message that calls a tool with this as an argument."""
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"value": value}}
    return {"role": "assistant", "content": [call], "provider": "p", "model": "m"}


def answered(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": content}


def planted(path: Path, secrets: list[Made]) -> Path:
    """Write a session of two branches in which each secret stands in each embedding."""
    records: list[dict[str, Any]] = [PI_HEADER, pi("a", None, user("hello"))]
    parent = "a"
    for number, each in enumerate(secrets):
        values = [embed(each) for embed in EMBEDDINGS]
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        messages = [called(values), answered("\n\n".join(texts)), user(texts[number % len(texts)])]
        for place, message in enumerate(messages):
            name = f"n{number}-{place}"
            records.append(pi(name, parent, message))
            parent = name
    records.append(pi("other", "a", called([embed(secrets[0]) for embed in EMBEDDINGS])))
    path.write_bytes(jsonl(*records))
    return path


WINDOW = 16


def names_of(text: str) -> set[str]:
    """Give the families of the secrets that stand in a text, or a good part of which does."""
    return {each.family for each in EVERY if any(part in text for part in parts_of(each.secret))}


def parts_of(secret: str) -> list[str]:
    """Give parts of which one is in every run of twenty characters of a secret."""
    ends = range(0, max(len(secret) - WINDOW, 0) + 1, 4)
    return [secret[begin : begin + WINDOW] for begin in ends]


class Exported(NamedTuple):
    """A session as it is written, and the texts of all its exports by their names."""

    written: str
    texts: dict[str, str]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """A session with every secret in every embedding: it takes a while to be exported."""
    path = planted(tmp_path_factory.mktemp("every") / "s.jsonl", EVERY)
    last = 3 * len(EVERY)
    found = pages(path, last + 1, last)
    return Exported(path.read_text(), {name: page.text for name, page in found.items()})


def test_no_secret_of_any_family_is_in_any_export(everything: Exported):
    leaks = {name: names_of(text) for name, text in everything.texts.items()}

    assert len(names_of(everything.written)) > 50
    assert {name: each for name, each in leaks.items() if each} == {}


@needs_kingfisher
def test_a_scanner_of_others_finds_nothing_in_any_export(everything: Exported):
    found = {name: found_in(text) for name, text in everything.texts.items()}

    assert {name: each for name, each in found.items() if each} == {}
    assert len({rule for rule, _ in found_in(everything.written)}) > 30


def test_a_secret_that_only_one_side_has_is_not_cut_into_pieces_by_the_diff(tmp_path: Path):
    half = len(TOKEN.secret) // 2
    path = tmp_path / "s.jsonl"
    same, other = f"key {TOKEN.secret} end", f"key {TOKEN.secret[:half]} end"
    path.write_bytes(
        jsonl(
            PI_HEADER,
            pi("a", None, user("q")),
            pi("b", "a", user(same)),
            pi("c", "a", user(other)),
        )
    )

    for name, page in pages(path, 1, 2).items():
        assert TOKEN.secret[half:] not in page.text, name


@pytest.mark.parametrize("where", ["title", "cwd", "id", "label", "file"])
def test_a_secret_in_what_names_a_session_is_replaced_too(tmp_path: Path, where: str):
    secret = TOKEN.secret
    header = PI_HEADER | ({"cwd": f"/srv/{secret}"} if where == "cwd" else {})
    name = secret if where == "id" else "a"
    records = [
        header,
        pi(name, None, user("q")),
        pi("t", name, type="session_info", name=f"title {secret}" if where == "title" else "t"),
        pi("l", "t", type="label", targetId=name, label=secret if where == "label" else "l"),
        pi("u", "l", user("more")),
    ]
    path = tmp_path / (f"{secret}.jsonl" if where == "file" else "s.jsonl")
    path.write_bytes(jsonl(*records))

    for exported, page in pages(path, 0, 3).items():
        assert secret not in page.text, exported


def test_who_exports_is_not_told(tmp_path: Path):
    owner = Owner(
        "/home/adalovelace", "adalovelace", "engine-room", {"MY_TOKEN": "swordfish-9x7Q"}
    )
    path = tmp_path / "s.jsonl"
    said = "in /home/adalovelace/notes on engine-room with swordfish-9x7Q"
    path.write_bytes(jsonl(PI_HEADER, pi("a", None, user("q")), pi("b", "a", user(said))))

    for name, page in pages(path, 0, 1, Gate.redacting(owner)).items():
        told = [each for each in ("adalovelace", "engine-room", "swordfish") if each in page.text]
        assert (name, told) == (name, [])


def test_structure_only_leaves_nothing_that_was_said(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    said = "the quick brown fox"
    path.write_bytes(
        jsonl(
            PI_HEADER | {"cwd": "/srv/foxhole"},
            pi("a", None, user(said)),
            pi("b", "a", called({"text": said})),
            pi("c", "a", answered(said)),
        )
    )

    for name, page in pages(path, 1, 2, Gate.redacting(Owner(), structure_only=True)).items():
        left = [each for each in ("quick", "brown", "fox") if each in page.text]
        assert (name, left) == (name, [])


def test_what_stands_in_two_exports_of_one_gate_has_one_placeholder(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        jsonl(
            PI_HEADER | {"cwd": "/srv"},
            pi("a", None, user(TOKEN.shown)),
            pi("b", "a", user(f"again {TOKEN.shown}")),
        )
    )
    page = pages(path, 0, 1)["diff.json"]

    placeholders = {hit.placeholder for hit in page.hits}
    assert len(placeholders) == 1
    assert placeholders.pop() in page.text
    assert set(page.redaction.counts or {}) == {hit.rule for hit in page.hits}


@pytest.mark.parametrize("before", range(60, 125, 13))
def test_a_secret_that_the_summary_of_a_checkpoint_cuts_is_not_there_by_half(
    tmp_path: Path, before: int
):
    path = tmp_path / "s.jsonl"
    text = f"{'x ' * (before // 2)}{TOKEN.secret} and more of it" * 3
    path.write_bytes(
        jsonl(
            PI_HEADER,
            pi("a", None, user(text)),
            pi("b", "a", type="custom", customType="note", data={"text": text}),
            pi("c", "b", called(text)),
            pi("d", "c", answered(text)),
            pi("e", "d", type="label", targetId="a", label=text),
        )
    )

    for name, page in pages(path, 0, 4).items():
        assert names_of(page.text) == set(), name


@pytest.mark.parametrize("end", ["yy", "'y&y", '"y\\y', "y y", "*y_y*", "`y<y>"])
def test_what_only_its_name_tells_is_taken_out_before_a_page_can_cut_or_escape_it(
    tmp_path: Path, end: str
):
    secret = f"Qz7fK2mW-x8Tn1pQ2{end}"
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        jsonl(
            PI_HEADER,
            pi("a", None, called({"DB_PASSWORD": secret})),
            pi("b", "a", user(f"we saw it {secret} as said")),
            pi("c", "a", user(f"we saw it {secret[:-3]}Abc as said")),
        )
    )

    for name, page in pages(path, 1, 2).items():
        # As a reader sees it: no marks of words, no escapes.
        seen = html.unescape(re.sub(r"<[^<>]*>", "", page.text))
        seen = re.sub(r"\\+(.)", r"\1", seen)
        assert re.sub(r"\\+(.)", r"\1", secret) not in seen, name
