"""What is asked and cannot be meant so: why nothing was found is said, and what to type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ask = Callable[..., Any]


TOOLS = "hint: no tool bush here; there are bash, edit, read, write\n"
BY_WHEN = "hint: a condition is given by --when: ttdbg"
PI = "sample_sessions/pi.jsonl"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("grep", "--when", "tool=bush", PI), 1, f"nothing found in 1 session\n{TOOLS}"),
        (("grep", "note", "--when", "tool=bush", PI), 1, f"nothing found in 1 session\n{TOOLS}"),
        (("grep", "zebra", PI), 1, "nothing found in 1 session\n"),
        (
            ("watch", PI, "--when", "tool=bush"),
            0,
            f"tool=bush never holds on this branch\n{TOOLS}",
        ),
        (
            ("watch", PI, "--when", "tool=bush", "--json"),
            0,
            f"tool=bush never holds on this branch\n{TOOLS}",
        ),
        (
            ("bisect", PI, "--when", "tool=bush"),
            1,
            (
                "tool=bush happens at a checkpoint: each is looked at\n"
                f"37 of 37 checkpoints tested, none where tool=bush holds\n{TOOLS}"
            ),
        ),
        (
            ("watch", PI, "cost>0.1"),
            0,
            (
                "cost>0.1 is never there on this branch; did you mean usage.cost?\n"
                f"{BY_WHEN} watch {PI} --when 'cost>0.1'\n"
            ),
        ),
        (
            ("watch", PI, "error"),
            0,
            f"error is never there on this branch\n{BY_WHEN} watch {PI} --when error\n",
        ),
        (
            ("watch", PI, "tool=bash"),
            2,
            (
                "ttdbg: 'tool=bash': '=' is no operator of JMESPath, which compares with '==' "
                f"(column 5)\n{BY_WHEN} watch {PI} --when tool=bash\n"
            ),
        ),
        (
            ("watch", PI, "--when", "/model"),
            2,
            (
                "ttdbg: '/model' is no condition: '/' means nothing here (column 1)\n"
                f"hint: a place is watched without --when: ttdbg watch {PI} /model\n"
            ),
        ),
        (
            ("bisect", PI, "cost>0.1"),
            2,
            (
                "ttdbg: Got unexpected extra argument (cost>0.1)\n"
                f"{BY_WHEN} bisect {PI} --when 'cost>0.1'\n"
            ),
        ),
        (
            ("bisect", PI, "length(messages) > 3"),
            2,
            (
                "ttdbg: Got unexpected extra argument (length(messages) > 3)\n"
                f"{BY_WHEN} bisect {PI} --when 'length(messages) > 3'\n"
            ),
        ),
        (
            ("blame", PI, "cost>0.1"),
            2,
            (
                "ttdbg: 'cost>0.1' is no place in a state: only a place was written by somebody\n"
                f"{BY_WHEN} watch {PI} --when 'cost>0.1'\n"
            ),
        ),
        (
            ("blame", PI, "tool=bash"),
            2,
            (
                "ttdbg: 'tool=bash': '=' is no operator of JMESPath, which compares with '==' "
                f"(column 5)\n{BY_WHEN} watch {PI} --when tool=bash\n"
            ),
        ),
        (
            ("blame", PI, "error"),
            2,
            f"ttdbg: there is no error in the state here\n{BY_WHEN} watch {PI} --when error\n",
        ),
        (
            ("bisect", PI, "--when", "cost"),
            2,
            (
                "ttdbg: 'cost': cost wants a comparison: 'cost>1' (in quotes: a shell takes > for "
                "itself) (column 1)\nhint: jmes:cost is the field of the state\n"
            ),
        ),
        (
            ("grep", "--when", "role=usr", PI),
            2,
            (
                "ttdbg: 'role=usr': there is no role 'usr' (column 6)\n"
                "hint: there are user, assistant, system, tool\n"
            ),
        ),
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_wrong_question_has_a_hint(
    ttdbg: Ask, arguments: tuple[str, ...], code: int, said: str
) -> None:
    answer = ttdbg(*arguments)

    assert (answer.code, answer.err) == (code, said)


def test_of_several_sessions_the_newest_is_looked_at(ttdbg: Ask, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(Path(PI).read_bytes())

    answer = ttdbg("grep", "--when", "tool=bush", tmp_path)

    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines()[0] == "nothing found in 2 sessions"
    assert answer.err.splitlines()[1] in {
        f"hint: in the newest, {tmp_path}/{name}.jsonl: no tool bush here; "
        "there are bash, edit, read, write"
        for name in ("a", "b")
    }


def test_what_is_found_is_not_explained(ttdbg: Ask) -> None:
    answer = ttdbg("grep", "--when", "tool=bush or error", PI)

    assert answer.code == 0
    assert "hint" not in answer.err
