"""Commits in transcripts: what tells of one, and what does not."""

from __future__ import annotations

import pytest

from tt_debugger.core.commits import MadeCommit, commits_in, commits_of


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[main 9d1f3ae] Add tea\n 1 file changed", MadeCommit("9d1f3ae", "Add tea", "main")),
        ("[main (root-commit) 9d1f3ae] One", MadeCommit("9d1f3ae", "One", "main")),
        ("ok\n[detached HEAD 9d1f3ae1] One\n", MadeCommit("9d1f3ae1", "One")),
        ("[fix/a-b 0123456789ab] x: [y] z", MadeCommit("0123456789ab", "x: [y] z", "fix/a-b")),
        ("Commit 9d1f3ae feat: sell tea", MadeCommit("9d1f3ae", "feat: sell tea")),
        ("> Commit 9d1f3ae feat: sell tea  ", MadeCommit("9d1f3ae", "feat: sell tea")),
    ],
)
def test_what_git_and_aider_say_of_a_commit_they_made_tells_its_hash(text: str, told: MadeCommit):
    assert list(commits_in(text)) == [told]


@pytest.mark.parametrize(
    "text",
    [
        "commit 9d1f3ae1a2b3c4d5e6f70123456789abcdef012\nAuthor: Ann",
        "[main 9d1f3a] too short",
        "[INFO deadbee_] no hash",
        "see [main] 9d1f3ae",
        "a[0] = 1234567] ",
        "Commit early, commit often",
    ],
)
def test_what_only_looks_like_it_tells_of_none(text: str):
    assert list(commits_in(text)) == []


def test_texts_of_messages_are_looked_through_at_any_depth_and_each_commit_is_told_once():
    result = {"type": "tool_result", "content": [{"type": "text", "text": "[main 9d1f3ae] A\n"}]}
    messages = [
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "Done: \n[main 9d1f3ae] A"},
        {"type": "function_call_output", "output": "[topic abcdef0] B"},
    ]

    assert commits_of(messages) == (
        MadeCommit("9d1f3ae", "A", "main"),
        MadeCommit("abcdef0", "B", "topic"),
    )


def test_what_is_no_message_at_all_tells_of_no_commit():
    assert commits_of([None, 1, {"a": [2.5, {}]}, []]) == ()
