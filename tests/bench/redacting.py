"""Redacting 10 MB of session text, beside one pass of `re` with all rules as one alternation."""

from __future__ import annotations

import gc
import re
import sysconfig
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import msgspec
from bench.figures import Figure, median_ratio

from tt_debugger.core.redact.redactor import Owner, Redactor
from tt_debugger.core.redact.rules import GUARD
from tt_debugger.core.redact.shape_rules import SHAPE_RULES
from tt_debugger.core.redact.token_rules import TOKEN_RULES

SIZE = 10_000_000
TEXTS = 20_000
MOST = 1000.0
PART = 20
"""The pass of `re` sees one part in so many, and its time is taken as often: it is slow."""
OWNER = Owner(
    home="/home/ines", user="ines", host="heron", secrets={"X_TOKEN": "not-in-any-text-1"}
)
"""Somebody of whom the texts know nothing."""


def redacting(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time one long text, a session of many short ones, and a finished page."""
    size = SIZE // 10 if quick else SIZE
    texts = ordinary_texts(size, size * TEXTS // SIZE)
    long = "\n".join(texts)
    session = [
        {"type": "message", "id": f"{at:08x}", "message": {"role": "user", "content": text}}
        for at, text in enumerate(texts)
    ]
    page = msgspec.json.encode(session).decode()
    alternation, part = _alternation(), long[: len(long) // PART]
    arms: dict[str, tuple[str, Callable[[], Any]]] = {
        "text": ("one text", lambda: Redactor(OWNER).text(long)),
        "value": (f"a session of {len(texts):,} texts", lambda: Redactor(OWNER).value(session)),
        "gate": (f"{len(texts):,} texts, as an export passes them", lambda: _passed(session)),
        "page": ("a finished page", lambda: Redactor(OWNER).finished(page)),
        "re": (
            f"one pass of `re`, from a {PART}th of it",
            lambda: sum(1 for _ in alternation.finditer(part)),
        ),
    }
    taken: dict[str, list[float]] = {name: [] for name in arms}
    for _ in range(rounds):
        for name, (_what, arm) in arms.items():
            gc.collect()
            began = perf_counter()
            arm()
            taken[name].append((perf_counter() - began) * 1000 * (PART if name == "re" else 1))
    name = f"redact, {len(long) / 1e6:.0f} MB"
    for arm in ("text", "value", "gate", "page"):
        yield Figure(name, arms[arm][0], median(taken[arm]), "ms", MOST)
    yield Figure(name, arms["re"][0], median(taken["re"]), "ms")
    yield Figure(name, "one text to that pass", median_ratio(taken["text"], taken["re"]), "x", 1.0)


def _passed(session: Any) -> Any:
    """Redact as the gate of exports does: what is secret by its name is learnt first."""
    redactor = Redactor(OWNER)
    redactor.learn(session)
    return redactor.value(session)


def _alternation() -> re.Pattern[str]:
    """Give all rules as one pattern, with what may stand before a token asked once for all."""
    patterns = [each.pattern for each in (*TOKEN_RULES, *SHAPE_RULES)]
    guarded = [each.removeprefix(GUARD) for each in patterns if each.startswith(GUARD)]
    others = [each for each in patterns if not each.startswith(GUARD)]
    tokens = "|".join(f"(?:{each})" for each in guarded)
    return re.compile("|".join((f"{GUARD}(?:{tokens})", *others)), re.ASCII)


def ordinary_texts(size: int, count: int) -> list[str]:
    """Make texts as sessions have them: code, talk, listings, ids and hashes; no secret."""
    random = Random(7)  # noqa: S311 - reproducible on purpose
    code = [
        each.read_text(errors="replace")
        for each in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    ]
    pieces = cycle(piece for text in code for piece in _pieces(text, random))
    texts = list(islice(pieces, count))
    for at in range(0, count, 5):
        texts[at] = _listing(random, len(texts[at]))
    whole = sum(map(len, texts))
    while whole < size:
        piece = next(pieces)
        texts[random.randrange(count)] += piece
        whole += len(piece)
    return texts


def _pieces(text: str, random: Random) -> Iterator[str]:
    at = 0
    while at < len(text):
        length = random.randint(20, 900)
        yield text[at : at + length]
        at += length


def _listing(random: Random, length: int) -> str:
    """Make what tools print: commits, ids, check sums, times."""
    lines: list[str] = []
    while sum(map(len, lines)) < length:
        digest = f"{random.getrandbits(160):040x}"
        lines.append(
            random.choice(
                (
                    f"commit {digest}",
                    f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}",
                    f"2026-03-{random.randint(10, 28)}T10:{random.randint(10, 59)}:00.000Z ok",
                    f"/srv/site/src/part_{digest[:5]}/index.ts:{random.randint(1, 900)}: warning",
                    f"sha256:{digest}{digest[:24]}  dist/chunk-{digest[:8]}.js",
                )
            )
        )
    return "\n".join(lines)
