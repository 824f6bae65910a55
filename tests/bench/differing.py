"""Two states of many messages compared: ours beside encoding both, and beside other diffs.

In each pair one message was inserted, ten were changed and five removed; whatever else a diff
tells is a wrong verdict, and ends the run. Arms take turns within a round, each in this process
but for that of Node, which times itself.

`deepdiff-rs` is measured where it is installed; `jsondiffpatch` where npm can install it.
"""

from __future__ import annotations

import copy
import gc
import importlib
import json
import random
import shutil
import subprocess
import tempfile
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
from bench.figures import Figure, median_ratio
from bench.sessions import WORDS

from tt_debugger.core.diff.edits import Op, edits
from tt_debugger.core.diff.states import diff
from tt_debugger.core.diff.texts import text_rows

PLANTED = {Op.ADD: 1, Op.CHANGE: 10, Op.REMOVE: 5}
NODE = """
import { create } from 'jsondiffpatch';
import { readFileSync } from 'node:fs';
const [old, now] = process.argv.slice(2).map((each) => JSON.parse(readFileSync(each)));
const differ = create({ objectHash: (item) => item.id });
const begun = process.hrtime.bigint();
differ.diff(old, now);
console.log(Number(process.hrtime.bigint() - begun) / 1e9);
"""

Taken = dict[str, list[float]]
Pair = tuple[Any, Any]


def differing(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Measure states with ids and without, and two long texts."""
    few, many, most = (100, 1000, 5000) if quick else (1000, 10_000, 100_000)
    for has_ids in (True, False):
        name = f"diff, {'ids' if has_ids else 'no ids'}"
        pairs = {count: planted(count, has_ids=has_ids) for count in (few, many, most)}
        # What one arm has made is not looked through again while another is timed.
        gc.collect()
        gc.freeze()
        arms = _arms(pairs, few, many, most, has_ids=has_ids)
        yield from _figures(name, _taken(arms, rounds), many, most, has_ids=has_ids)
    yield from _texts(rounds)


def planted(count: int, *, has_ids: bool) -> Pair:
    """Give two states of so many messages that differ as planned."""
    chance = random.Random(count)  # noqa: S311 - the same states each time
    old = [_message(chance, number, has_ids=has_ids) for number in range(count)]
    new = copy.deepcopy(old)
    places = chance.sample(range(count), PLANTED[Op.CHANGE] + PLANTED[Op.REMOVE])
    for place in places[PLANTED[Op.REMOVE] :]:
        new[place]["content"][0]["text"] += " and one thing more"
    for place in sorted(places[: PLANTED[Op.REMOVE]], reverse=True):
        del new[place]
    new.insert(count // 2, _message(chance, count, has_ids=has_ids))
    return {"messages": old, "model": "m"}, {"messages": new, "model": "m"}


def _message(chance: random.Random, number: int, *, has_ids: bool) -> dict[str, Any]:
    text = " ".join(chance.choices(WORDS, k=chance.randint(5, 120)))
    role = ("user", "assistant", "toolResult")[number % 3]
    message: dict[str, Any] = {
        "role": role,
        "content": [{"type": "text", "text": text}],
        "timestamp": 1_789_377_124_000 + number,
    }
    if has_ids:
        message["id"] = str(uuid.UUID(int=chance.getrandbits(128)))
    if role == "assistant":
        message["usage"] = {"input": number, "output": 2 * number}
    return message


def _arms(
    pairs: dict[int, Pair], few: int, many: int, most: int, *, has_ids: bool
) -> dict[str, Callable[[], float]]:
    arms: dict[str, Callable[[], float]] = {
        "encode": lambda: _seconds(lambda: list(map(msgspec.json.encode, pairs[many]))),
        "ours few": lambda: _ours(pairs[few]),
        "ours": lambda: _ours(pairs[many]),
        "ours most": lambda: _ours(pairs[most]),
    }
    if has_ids:
        arms["deepdiff few"] = lambda: _deepdiff(pairs[few])
        arms |= _optional_arms(pairs[many])
    return arms


def _optional_arms(pair: Pair) -> dict[str, Callable[[], float]]:
    arms: dict[str, Callable[[], float]] = {}
    try:
        rust = importlib.import_module("deepdiff_rs")
    except ImportError:
        pass
    else:
        arms["deepdiff-rs"] = lambda: _seconds(lambda: rust.DeepDiff(*pair).to_dict())
    folder = _node_folder(pair)
    if folder is not None:
        arms["jsondiffpatch"] = lambda: _node(folder)
    return arms


def _ours(pair: Pair) -> float:
    found = None

    def run() -> None:
        nonlocal found
        found = diff(*pair)

    seconds = _seconds(run)
    assert found is not None
    told = Counter(each.op for each in edits(found.difference, pair[0]))
    if told != PLANTED:
        message = f"planted were {PLANTED}, found {dict(told)}"
        raise AssertionError(message)
    return seconds


def _deepdiff(pair: Pair) -> float:
    """Time the one setting of DeepDiff that reaches the same verdict."""
    from deepdiff import DeepDiff
    from deepdiff.helper import CannotCompare

    def is_one(old: Any, new: Any, _level: object = None) -> bool:
        try:
            return old["id"] == new["id"]
        except (TypeError, KeyError):
            raise CannotCompare from None

    return _seconds(lambda: DeepDiff(*pair, iterable_compare_func=is_one))


def _node_folder(pair: Pair) -> Path | None:
    """Give a folder with jsondiffpatch and both states in it, None where there is no npm."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return None
    folder = Path(tempfile.gettempdir()) / "ttdbg-bench" / "node"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules" / "jsondiffpatch").is_dir():
        command = ["npm", "install", "--silent", "--prefix", str(folder), "jsondiffpatch"]
        if subprocess.run(command, check=False, capture_output=True).returncode:  # noqa: S603
            return None
    (folder / "run.mjs").write_text(NODE)
    for name, state in zip(("old.json", "new.json"), pair, strict=True):
        (folder / name).write_text(json.dumps(state))
    return folder


def _node(folder: Path) -> float:
    command = ["node", "run.mjs", "old.json", "new.json"]
    done = subprocess.run(  # noqa: S603 - our own script
        command, cwd=folder, check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def _texts(rounds: int) -> Iterator[Figure]:
    """Time two texts of 20 KB: one a version of the other, and two with nothing in common."""
    chance = random.Random(7)  # noqa: S311 - the same texts each time

    def text() -> list[str]:
        return [" ".join(chance.choices(WORDS, k=9)) for _ in range(430)]

    one, other = text(), text()
    version = [f"{line} more" if chance.random() < 0.1 else line for line in one]
    pairs = {"a version": ("\n".join(one), "\n".join(version))}
    pairs["nothing in common"] = ("\n".join(one), "\n".join(other))
    text_rows(*pairs["a version"])  # imports what the first one needs
    taken = _taken(
        {
            what: lambda pair=pair: _seconds(lambda: text_rows(*pair))
            for what, pair in pairs.items()
        },
        max(rounds, 5),
    )
    for what, seconds in taken.items():
        size = len(pairs[what][0]) // 1000
        yield Figure(f"diff, texts of {size} KB", what, _median(seconds) * 1e3, "ms", 10)


def _figures(name: str, taken: Taken, many: int, most: int, *, has_ids: bool) -> Iterator[Figure]:
    goal = 4.0 if has_ids else None
    ours = taken["ours"]
    yield Figure(name, f"{many:,} messages", _median(ours) * 1e3, "ms")
    yield Figure(
        name, f"{many:,} / msgspec encodes both", median_ratio(ours, taken["encode"]), "x", goal
    )
    growth = median_ratio(taken["ours most"], ours)
    yield Figure(name, f"{most:,} / {many:,}", growth, "x", 12)
    if not has_ids:
        return
    few = median_ratio(taken["ours few"], taken["deepdiff few"])
    yield Figure(name, "DeepDiff with a compare function", few, "x", 1 / 200)
    for arm, bound in (("deepdiff-rs", 1 / 5), ("jsondiffpatch", 1.0)):
        ratio = median_ratio(ours, taken[arm]) if arm in taken else None
        yield Figure(name, f"{many:,} / {arm}", ratio, "x", bound)


def _taken(arms: dict[str, Callable[[], float]], rounds: int) -> Taken:
    taken: Taken = defaultdict(list)
    for _ in range(rounds):
        for name, arm in arms.items():
            taken[name].append(arm())
    return taken


def _seconds(run: Callable[[], object]) -> float:
    begun = perf_counter()
    run()
    return perf_counter() - begun


def _median(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 2]
