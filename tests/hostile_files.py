"""Hostile and damaged files, all invented. The small ones lie in fixtures, the others are made.

H and R are the numbers under which the attacks (H) and the reported failures (R) were collected.
A name that ends in `_pi` or `_tau` is the same damage in a format that is read today; E are files
in which every text is an attack.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from builders import jsonl

HERE = Path(__file__).parent
STORED = HERE / "fixtures" / "hostile"
SAMPLES = HERE.parent / "sample_sessions"

ATTACK = "\x1b]0;PWNED\x07\x9b2J\x9d52;c;Zg==\x9c\x1bc\r\x08\x00\x7f\u202e\u2066\u200b\u2028\ud83c"
"""Acts on a terminal, hides or turns text around, or is no text at all."""

HEADER = '{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}'


def said(own: str, parent: str | None, text: str = "text", **more: Any) -> dict[str, Any]:
    """Give a Pi entry in which the user says something."""
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "content": content}
    return {"type": "message", "id": own, "parentId": parent, "message": message} | more


def tau_said(own: str, parent: str | None, text: str = "text") -> dict[str, Any]:
    """Give a Tau entry in which the user says something."""
    message = {"role": "user", "content": text, "timestamp": 0}
    entry = {"id": own, "parent_id": parent, "timestamp": 0.0, "type": "message"}
    return entry | {"message": message}


def pi(*records: dict[str, Any] | str | bytes) -> bytes:
    """Give a Pi file with a header."""
    return jsonl(HEADER, *records)


def write_hostile_files(folder: Path) -> list[Path]:
    """Write all of them into a folder; give their paths in order of their names."""
    for stored in STORED.glob("[HR]*"):
        shutil.copyfile(stored, folder / stored.name)
    for name, make in MADE.items():
        (folder / name).write_bytes(make())
    return sorted(folder.iterdir())


def _every_text_attacked(sample: str, kept: frozenset[str]) -> bytes:
    """Give a sample in which every text carries the attack, apart from what holds it together."""

    def attacked(value: Any) -> Any:
        match value:
            case str():
                return f"{value[:40]}{ATTACK}"
            case dict():
                pairs = {key: v if key in kept else attacked(v) for key, v in value.items()}
                return pairs | {f"key{ATTACK}": f"value{ATTACK}"}
            case list():
                return [attacked(each) for each in value]
            case _:
                return value

    lines = (SAMPLES / sample).read_text(encoding="utf-8").splitlines()
    return jsonl(*(attacked(json.loads(line)) for line in lines))


def _every_name_attacked() -> bytes:
    """Give a Pi file in which ids, parents, types, roles, labels and the session id attack."""
    first, second = f"a{ATTACK}", f"b{ATTACK}"
    return jsonl(
        {"type": "session", "version": 3, "id": f"s{ATTACK}", "parentSession": f"p{ATTACK}"},
        said(first, f"missing{ATTACK}"),
        said(second, first) | {"type": f"type{ATTACK}"},
        {"type": "label", "id": "l", "parentId": second, "targetId": first, "label": ATTACK},
        {"type": "session_info", "id": "i", "parentId": "l", "name": ATTACK},
        {"type": "message", "id": "r", "parentId": "i", "message": {"role": f"role{ATTACK}"}},
        {"type": "custom", "id": "c", "parentId": "r", "customType": ATTACK, "data": ATTACK},
        said("c", "c"),
        {"type": "label", "id": "m", "parentId": "c", "targetId": ATTACK, "label": "x"},
        ATTACK.encode(errors="surrogatepass"),
    )


MADE: dict[str, Callable[[], bytes]] = {
    "H12_split_esc_at_chunk.jsonl": lambda: pi(
        said("a", None, f"A{'x' * 65494}\x1b]0;P\x07B"),
    ),
    "H16_zalgo.jsonl": lambda: pi(
        said("a", None, "Z" + "\N{COMBINING ACUTE ACCENT}" * 5000 + " end")
    ),
    "H20_deep_array.jsonl": lambda: pi(
        f'{{"type":"message","id":"a","parentId":null,"x":{"[" * 3000}{"]" * 3000}}}',
        said("b", "a"),
    ),
    "H21_deep_object_unclosed.jsonl": lambda: jsonl('{"a":' * 20000, said("b", None)),
    "H21_pi.jsonl": lambda: pi('{"a":' * 20000, said("b", None)),
    "H22_big_ints_floats.jsonl": lambda: jsonl(
        f'{{"id":"a","n":{"9" * 5000}}}',
        '{"id":"b","n":1e400}',
        '{"id":"c","n":18446744073709551616}',
        '{"id":"d","n":-0.0}',
    ),
    "H22_pi.jsonl": lambda: pi(
        _custom("a", None, "9" * 5000),
        _custom("b", "a", "1e400"),
        _custom("c", "b", "18446744073709551616"),
        _custom("d", "c", "-0.0"),
        _custom("e", "d", "18446744073709551615"),
    ),
    "H24_invalid_utf8.jsonl": lambda: pi(
        b'{"type":"message","id":"a","t":"\xff\xfe\xc0\xaf\xed\xa0\x80"}', said("b", None)
    ),
    "H25_pi.jsonl": lambda: pi(_custom("a", None, "NaN"), _custom("b", "a", "-Infinity")),
    "H26_nul_bytes.jsonl": lambda: pi(b"\0" * 4096, said("a", None), '{"id":"b","t":"x\\u0000y"}'),
    "H27_bom_tau.jsonl": lambda: b"\xef\xbb\xbf" + jsonl(tau_said("a", None)),
    "H28_crlf.jsonl": lambda: pi(said("a", None), said("b", "a")).replace(b"\n", b"\r\n"),
    "H28_lone_cr.jsonl": lambda: pi(said("a", None), said("b", "a")).replace(b"\n", b"\r"),
    "H28_lone_cr_tau.jsonl": lambda: jsonl(tau_said("a", None), tau_said("b", "a")).replace(
        b"\n", b"\r"
    ),
    "H29_utf16.jsonl": lambda: pi(said("a", None)).decode().encode("utf-16"),
    "H30_empty.jsonl": lambda: b"",
    "H31_only_newlines.jsonl": lambda: b"\n" * 1000,
    "H33_tau.jsonl": lambda: jsonl(
        json.dumps(tau_said("a", None)) + json.dumps(tau_said("b", "a"))
    ),
    "H34_tau.jsonl": lambda: jsonl(
        tau_said("a", "c"), tau_said("b", "a"), tau_said("c", "b"), tau_said("d", "d")
    ),
    "H35_tau.jsonl": lambda: jsonl(
        tau_said("a", None),
        '{"type":["x"],"id":{"a":1},"parent_id":42,"timestamp":-1e18,"message":"str"}',
        '{"type":"message","id":null,"parent_id":true,"message":{"role":7,"content":{"x":1}}}',
    ),
    "H46_markdown.jsonl": lambda: pi(
        said("a", None, f"[x](javascript:alert(1)) <b>&#27;]0;P&#7;&#x202e;</b>\n{'[' * 2000}")
    ),
    "H50_gzip_bomb.jsonl.gz": lambda: gzip.compress(b"[" * 20_000_000, mtime=0),
    "R01_pi.jsonl": lambda: pi(
        said("u1", None),
        said("u2", "u1"),
        '{"type":"message","id":"u3","parentId":"u2","mess',
        said("u4", "u2"),
        said("u5", "u4"),
    ),
    "R01_tau.jsonl": lambda: jsonl(
        tau_said("u1", None), '{"id":"u2","parent_id":"u1","mess', tau_said("u3", "u2")
    ),
    "R02_pi.jsonl": lambda: pi(said("u1", None), said("u2", "u1")) + b'{"type":"message","id":',
    "R02_tau.jsonl": lambda: jsonl(tau_said("u1", None)) + b'{"id":"u2","parent_id":"u1"',
    "R03_pi.jsonl": lambda: pi(said("u1", None), said("u2", "u1", "cut \ud83c"), said("u3", "u2")),
    "R04_pi.jsonl": lambda: pi(
        said("u1", None), said("u2", "u1"), said("u3", "ffff-never-written"), said("u4", "u3")
    ),
    "R08_ses_ok.json": lambda: b'{"id":"ses_ok","title":"t"}',
    "R08_ses_x.json": lambda: b"\0" * 413,
    "R17_pi.jsonl": lambda: pi(
        said("u1", None), said("u2", "u1"), said("u2", "u1", "other body"), said("u3", "u2")
    ),
    "E01_every_text_pi.jsonl": lambda: _every_text_attacked(
        "pi.jsonl", frozenset(("type", "id", "parentId", "role", "timestamp", "targetId"))
    ),
    "E02_every_text_tau.jsonl": lambda: _every_text_attacked(
        "tau.jsonl", frozenset(("type", "id", "parent_id", "role", "timestamp", "target_id"))
    ),
    "E03_every_name_pi.jsonl": _every_name_attacked,
}


def _custom(own: str, parent: str | None, number: str) -> str:
    """Give a custom Pi entry that holds a number as it is written."""
    entry = {"type": "custom", "id": own, "parentId": parent, "customType": "n", "data": {"n": 0}}
    return json.dumps(entry).replace('"n": 0', f'"n": {number}')
