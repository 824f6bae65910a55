"""`ttdbg export`: what it writes where, and what it refuses to."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import PI_HEADER, jsonl, pi, user

from tt_debugger.core.redact.redactor import Redactor
from tt_debugger.exports.forms import FORMS

Ask = Callable[..., Any]
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(
        jsonl(
            PI_HEADER | {"cwd": "/srv/app"},
            pi("aaaa", None, user("hello")),
            pi("bbbb", "aaaa", user(f"the key is {TOKEN}")),
            pi("cccc", "aaaa", user("no key here")),
        )
    )
    return path


def test_one_point_is_the_transcript_of_its_branch_on_stdout(ttdbg: Ask, session: Path):
    answer = ttdbg("export", f"{session}#bbbb")

    assert answer.code == 0
    assert answer.out.startswith("# Session ")
    assert "hello" in answer.out
    assert "no key here" not in answer.out
    assert str(session.parent) not in answer.out
    assert answer.err == "Redacted: github-token 1.\n"
    assert TOKEN not in answer.out


def test_with_state_it_is_the_state(ttdbg: Ask, session: Path):
    answer = ttdbg("export", f"{session}#cccc", "--state", "--format", "json")

    assert answer.code == 0
    assert answer.json["state"]["messages"][-1]["content"] == user("no key here")["content"]
    assert answer.json["redacted"] == {}
    assert answer.err == "Redacted: nothing was found to hide.\n"


def test_two_points_are_what_differs(ttdbg: Ask, session: Path):
    answer = ttdbg("export", f"{session}#bbbb", "#cccc", "--format", "json")

    assert answer.code == 0
    told = answer.json
    assert (told["a"], told["b"]) == ("talk.jsonl#bbbb", "talk.jsonl#cccc")
    assert (told["equal"], told["fork_point"]) == (False, "aaaa")
    assert TOKEN not in answer.out


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_one_of_a_diff(ttdbg: Ask, session: Path, form: str):
    answer = ttdbg("export", f"{session}#bbbb", f"{session}#cccc", "--format", form)

    assert answer.code == 0
    assert answer.out
    assert TOKEN not in answer.out


def test_the_name_of_the_file_tells_the_form(ttdbg: Ask, session: Path, tmp_path: Path):
    for form in FORMS.values():
        target = tmp_path / f"out{form.ending}"
        named = ttdbg("export", f"{session}#bbbb", "#cccc", "--output", target)
        asked = ttdbg("export", f"{session}#bbbb", "#cccc", "--format", form.name)

        assert (named.code, named.out) == (0, "")
        assert target.read_text(encoding="utf-8") == asked.out
        size = target.stat().st_size
        assert named.err == f"{target}: {size:,} bytes\n{asked.err}"


def test_the_report_says_where_and_never_what(ttdbg: Ask, session: Path):
    answer = ttdbg("export", f"{session}#bbbb", "--report")

    place = "/turns/1/messages/0/content/0/text"
    assert answer.err.splitlines() == [
        "Redacted: github-token 1.",
        f"github-token  {place}  ‹github-token:1›",
    ]


def test_a_bundle_opens_again(ttdbg: Ask, session: Path, tmp_path: Path):
    bundle = tmp_path / "report.ttdbg"

    answer = ttdbg("export", f"{session}#bbbb", "#cccc", "--bundle", bundle)

    assert answer.code == 0
    assert TOKEN not in bundle.read_text()
    log = ttdbg("log", bundle, "--json").json
    assert log["format"] == "bundle"
    assert [each["id"] for each in log["checkpoints"]] == ["aaaa", "bbbb", "cccc"]
    assert log["labels"] == {"bbbb": "A", "cccc": "B"}
    assert log["active_leaf"] == "cccc"
    shown = ttdbg("show", f"{bundle}#label=B", "--json").json
    assert shown["state"] == ttdbg("show", f"{session}#cccc", "--json").json["state"]
    assert ttdbg("doctor", bundle).code == 0


def test_structure_only_says_nothing_that_was_said(ttdbg: Ask, session: Path):
    answer = ttdbg("export", f"{session}#cccc", "--structure-only")

    assert answer.code == 0
    assert "cccc" in answer.out
    assert [word for word in ("hello", "no key", "talk", "srv") if word in answer.out] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--format", "json-patch"],
        ["--format", "unified"],
        ["--format", "pdf"],
        ["--no-redact", "--structure-only", "--share-secrets"],
        ["--bundle", "b", "--output", "c"],
        ["--bundle", "b", "--format", "html"],
        ["--bundle", "b", "--state"],
        ["#bbbb", "--state"],
        ["--share-secrets"],
    ],
)
def test_what_cannot_be_meant_is_2(
    ttdbg: Ask, session: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(session.parent)
    answer = ttdbg("export", session, *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert [each.name for each in session.parent.iterdir()] == [session.name]


def test_an_unknown_ref_is_2_and_a_missing_file_3(ttdbg: Ask, session: Path):
    assert ttdbg("export", f"{session}#zzzz").code == 2
    assert ttdbg("export", session, "#zzzz").code == 2
    assert ttdbg("export", f"{session}#aaaa..cccc").code == 2
    assert ttdbg("export", f"{session}x").code == 3


def test_a_file_that_is_there_is_not_written_over_without_force(
    ttdbg: Ask, session: Path, tmp_path: Path
):
    target = tmp_path / "a.md"
    target.write_text("mine")

    refused = ttdbg("export", session, "--output", target)

    assert (refused.code, target.read_text()) == (2, "mine")
    assert "--force" in refused.err
    assert ttdbg("export", session, "--output", target, "--force").code == 0
    assert target.read_text().startswith("# Session")


def test_the_session_itself_is_never_written_over(ttdbg: Ask, session: Path, tmp_path: Path):
    before = session.read_bytes()
    link = tmp_path / "link.jsonl"
    link.symlink_to(session)

    for target in (session, link):
        for option in ("--output", "--bundle"):
            answer = ttdbg("export", session, option, target, "--force")
            assert (answer.code, session.read_bytes()) == (2, before)
            assert "never written over" in answer.err


def test_where_redaction_fails_nothing_is_written(
    ttdbg: Ask, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise ValueError(TOKEN)

    monkeypatch.setattr(Redactor, "finished", broken)
    target = tmp_path / "a.md"

    for option in ("--output", "--bundle"):
        answer = ttdbg("export", session, option, target)
        assert (answer.code, answer.out, target.exists()) == (3, "", False)
        assert answer.err == (
            "ttdbg: the export was refused: ValueError on the way\nhint: nothing was written\n"
        )


def test_without_a_terminal_secrets_are_shared_only_if_that_is_said(ttdbg: Ask, session: Path):
    refused = ttdbg("export", f"{session}#bbbb", "--no-redact")
    shared = ttdbg("export", f"{session}#bbbb", "--no-redact", "--share-secrets")

    assert (refused.code, refused.out) == (2, "")
    assert "--share-secrets" in refused.err
    assert shared.code == 0
    assert TOKEN in shared.out
    assert "Not redacted" in shared.out
    assert "Not redacted" in shared.err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code"), [("share secrets\n", 0), ("yes\n", 2), ("\n", 2)])
def test_on_a_terminal_the_words_must_be_typed(
    session: Path, tmp_path: Path, typed: str, code: int, monkeypatch: pytest.MonkeyPatch
):
    from tt_debugger.cli.main import main

    asked = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr", asked)
    target = tmp_path / "a.md"

    assert main(["export", f"{session}#bbbb", "--no-redact", "--output", str(target)]) == code

    assert target.exists() is (code == 0)
    assert "every secret of the session" in asked.getvalue()


def test_two_sessions_are_compared_by_their_content(ttdbg: Ask, session: Path, tmp_path: Path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(
        jsonl(PI_HEADER, pi("x1", None, user("hello")), pi("x2", "x1", user("and more")))
    )

    answer = ttdbg("export", f"{session}#cccc", other, "--format", "json")

    assert (answer.json["a"], answer.json["b"]) == ("talk.jsonl#cccc", "other.jsonl#x2")
    assert answer.json["fork_point"] == "aaaa"


def test_json_on_stdout_is_json_whatever_was_said(ttdbg: Ask, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER, pi("a", None, user("\x1b]0;x\x07 \ud83c \u202e\u2028 é"))))

    answer = ttdbg("export", path, "--format", "json")

    said = json.loads(answer.out)["checkpoints"][0]["messages"][0]["content"]
    assert "é" in json.dumps(said, ensure_ascii=False)
    assert "\x1b" not in answer.out
