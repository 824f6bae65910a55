"""LOCATION#FRAGMENT: which file, which session, which point."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import jsonl
from hostile_files import pi, said

from tt_debugger.cli.main import main
from tt_debugger.debugger import Debugger

Ask = Callable[..., Any]

# base ─ mid1 ─ mid2 ─ leaf, and old1 ─ old2 off the base; the last entry is the active leaf.
BRANCHED = pi(
    said("base1111", None, timestamp="2026-01-01T00:00:01Z"),
    said("old11111", "base1111", timestamp="2026-01-01T00:00:02Z"),
    said("old22222", "old11111", timestamp="2026-01-01T00:00:03Z"),
    said("mid11111", "base1111", timestamp="2026-01-01T00:00:04Z"),
    said("mid22222", "mid11111", timestamp="2026-01-01T00:00:05Z"),
    {
        "type": "label",
        "id": "label111",
        "parentId": "mid22222",
        "timestamp": "2026-01-01T00:00:06Z",
        "targetId": "mid11111",
        "label": "half way: 50% + ~",
    },
    said("leaf1111", "label111", timestamp="2026-01-01T00:00:07Z"),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "a.jsonl"
    made.write_bytes(BRANCHED)
    return made


def id_at(ttdbg: Ask, location: str) -> str:
    answer = ttdbg("show", location, "--json")
    assert answer.code == 0, answer.err
    return answer.json["checkpoint"]["id"]


@pytest.mark.parametrize(
    ("ref", "own"),
    [
        ("@", "leaf1111"),
        ("root", "base1111"),
        ("mid11111", "mid11111"),
        ("mid1", "mid11111"),
        ("o", None),
        ("l", None),
        ("le", "leaf1111"),
        ("row=2", "old11111"),
        ("label=half%20way%3A%2050%25%20%2B%20%7E", "mid11111"),
        ("time=2026-01-01T00:00:05Z", "mid22222"),
        ("time=2026-01-01T00:00:03Z", "base1111"),
        ("time=2026-01-01T01:00:05+01:00", "mid22222"),
        ("line=4", "old22222"),
        ("@~", "label111"),
        ("@~1", "label111"),
        ("@~~", "mid22222"),
        ("@~4", "base1111"),
        ("root+", "mid11111"),
        ("root+4", "leaf1111"),
        ("old1+", "old22222"),
        ("old2~+", "old22222"),
        ("row=2+1~2", "base1111"),
        ("s1:@", "leaf1111"),
        ("s1:", "leaf1111"),
        ("s:root", "base1111"),
        ("%73%31:root", "base1111"),
        ("s1:row=3", "old22222"),
        ("%6d%69%64%31", "mid11111"),
    ],
)
def test_a_ref_names_a_checkpoint(ttdbg: Ask, file: Path, ref: str, own: str | None) -> None:
    if own is None:
        assert ttdbg("show", f"{file}#{ref}").code == 2
    else:
        assert id_at(ttdbg, f"{file}#{ref}") == own


@pytest.mark.parametrize(
    ("ref", "message", "hint"),
    [
        (
            "zzzz",
            "there is no checkpoint 'zzzz' in this session",
            "there are: old11111, old22222, mid11111, mid22222, label111, leaf1111",
        ),
        ("old", "checkpoint 'old' names 2 checkpoints", "old1, old2"),
        ("row=0", "there is no row 0", "rows: 1 to 7"),
        ("row=8", "there is no row 8", "rows: 1 to 7"),
        ("step=1", "there is no step 1 in this session", "this format has no steps"),
        ("line=99", "no checkpoint's record is on line 99", None),
        (
            "label=nope",
            "there is no label 'nope' in this session",
            "there are: half%20way%3A%2050%25%20%2B%20%7E",
        ),
        ("mark=nope", "there is no mark 'nope' in this session", None),
        (
            "time=2025-01-01T00:00:00Z",
            "nothing on the active path is as early as 2025-01-01T00:00:00Z",
            None,
        ),
        ("time=noon", "'noon' is no ISO time", "for example time=2026-01-31T12:00:00Z"),
        ("root~", "base has only 0 ancestors, not 1", None),
        ("@+", "leaf has no children", None),
        ("root..", "'root..' is no range", "a range is POINT..POINT, both ends named"),
        ("..@", "'..@' is no range", "a range is POINT..POINT, both ends named"),
        ("~2", "'~2' names no point", "put an id, @, root or KEY=VALUE before it"),
        ("root..@", "one point is asked for, not a range", "name one of its ends"),
        ("nope:@", "'nope' names no sessions here", "there are: s1"),
    ],
)
def test_a_ref_that_names_nothing_or_too_much_is_an_error_with_candidates(
    ttdbg: Ask, file: Path, ref: str, message: str, hint: str | None
) -> None:
    answer = ttdbg("show", f"{file}#{ref}")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [f"ttdbg: {message}", *([f"hint: {hint}"] if hint else [])]


def test_a_mark_names_the_checkpoint_that_it_was_set_on(
    ttdbg: Ask, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Debugger.open(str(file)) as debugger:
        debugger.set_mark("a", debugger.session.rows["old11111"])
        debugger.set_mark("half way", debugger.session.rows["mid11111"])

    assert id_at(ttdbg, f"{file}#mark=a") == "old11111"
    assert id_at(ttdbg, f"{file}#mark=a~") == "base1111"
    assert id_at(ttdbg, f"{file}#s1:mark=half%20way+") == "mid22222"
    assert ids_of_range(ttdbg, f"{file}#root..mark=a") == "base1111 old11111"
    assert ttdbg("show", f"{file}#mark=b").err.splitlines() == [
        "ttdbg: there is no mark 'b' in this session",
        "hint: there are: a, half%20way",
    ]


def ids_of_range(ttdbg: Ask, location: str) -> str:
    header, *lines = ttdbg("replay", location, "--json").stream
    assert header["ttdbg"] == 1
    return " ".join(each["checkpoint"]["id"] for each in lines)


@pytest.mark.parametrize(
    ("ends", "ids"),
    [
        ("root..@", "base1111 mid11111 mid22222 label111 leaf1111"),
        ("root..old2", "base1111 old11111 old22222"),
        ("mid1..mid1", "mid11111"),
        ("@~2..@~", "mid22222 label111"),
        ("s1:root+..row=5", "mid11111 mid22222"),
        ("label=half%20way%3A%2050%25%20%2B%20%7E..@~1", "mid11111 mid22222 label111"),
    ],
)
def test_a_range_runs_along_one_path_and_holds_both_ends(
    ttdbg: Ask, file: Path, ends: str, ids: str
) -> None:
    assert ids_of_range(ttdbg, f"{file}#{ends}") == ids


@pytest.mark.parametrize(
    ("ends", "message"),
    [("@..root", "leaf is no ancestor of base"), ("old1..@", "old1 is no ancestor of leaf")],
)
def test_a_range_whose_first_end_is_no_ancestor_of_the_second_is_an_error(
    ttdbg: Ask, file: Path, ends: str, message: str
) -> None:
    answer = ttdbg("replay", f"{file}#{ends}")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [
        f"ttdbg: {message}",
        "hint: a range runs along one path, from an earlier checkpoint to a later one",
    ]


@pytest.mark.parametrize("command", ["log", "doctor"])
def test_a_command_about_a_whole_session_takes_no_point_but_a_session(
    ttdbg: Ask, file: Path, command: str
) -> None:
    assert ttdbg(command, f"{file}#s1:").code == 0
    answer = ttdbg(command, f"{file}#root")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [
        "ttdbg: this command takes a whole session, not a point in it",
        "hint: leave out what follows the #",
    ]


def test_every_id_that_log_prints_can_be_typed_and_leads_back_to_its_row(
    ttdbg: Ask, in_samples: Path
) -> None:
    for sample in sorted(in_samples.glob("*.jsonl")):
        rows = [line.split()[:2] for line in ttdbg("log", sample).out.splitlines()]
        for short, row in rows:
            answer = ttdbg("show", f"{sample}#{short}", "--json")
            assert answer.json["checkpoint"]["row"] == int(row)


STRANGE_IDS = [
    "a:b", "c~2", "d+", "e..f", "g#h", "@", "root", "row=1", "..", "100%", "%41", "i j", "k\tl",
    ".m", "n.", "\u202eo", "p\u200b", "ä", "日本", "s1:", "q/r", "", "~", "x\ny", "🙂",
]  # fmt: skip


def test_ids_of_any_characters_are_printed_so_that_they_can_be_typed(
    ttdbg: Ask, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(pi(*(said(own, None) for own in STRANGE_IDS)))
    shorts = [line.split()[0] for line in ttdbg("log", file).out.splitlines()]
    ids = [each["id"] for each in ttdbg("log", file, "--json").json["checkpoints"]]

    assert len(set(shorts)) == len(STRANGE_IDS)
    assert [id_at(ttdbg, f"{file}#{short}") for short in shorts] == ids
    assert [id_at(ttdbg, f"{file}#s1:{short}") for short in shorts] == ids
    assert [ids_of_range(ttdbg, f"{file}#{short}..{short}") for short in shorts] == ids


def test_a_session_id_of_any_characters_can_be_typed_percent_encoded(
    ttdbg: Ask, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    header = {"type": "session", "version": 3, "id": "a:b..c#d", "cwd": "/w"}
    file.write_bytes(jsonl(header, said("x", None)))

    assert id_at(ttdbg, f"{file}#a%3Ab%2E%2Ec%23d:x") == "x"
    answer = ttdbg("show", f"{file}#nope:x")
    assert answer.err.splitlines()[-1] == "hint: there are: a%3Ab%2E%2Ec%23d"


# --- The file ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a#b.jsonl", "#.jsonl", "a#@", "a#b#c.jsonl", "s1:x.jsonl"])
def test_the_whole_argument_is_first_tried_as_an_existing_path(
    ttdbg: Ask, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.write_bytes(BRANCHED)

    assert ttdbg("log", file, "--json").json["location"] == str(file)
    assert id_at(ttdbg, f"{file}#@") == "leaf1111"
    assert id_at(ttdbg, f"{file}#root+") == "mid11111"


def test_of_two_files_the_longest_existing_name_counts(ttdbg: Ask, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(pi(said("short", None)))
    (tmp_path / "a#b").write_bytes(pi(said("long", None)))

    assert id_at(ttdbg, f"{tmp_path}/a#b") == "long"
    assert id_at(ttdbg, f"{tmp_path}/a#b#@") == "long"
    assert id_at(ttdbg, f"{tmp_path}/a#short") == "short"


def test_a_relative_path_is_given_back_as_it_was_given(
    ttdbg: Ask, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)

    assert ttdbg("log", "./a.jsonl", "--json").json["location"] == "./a.jsonl"


def test_a_missing_file_with_a_ref_is_refused_with_a_word_about_the_ref(
    ttdbg: Ask, tmp_path: Path
) -> None:
    answer = ttdbg("show", tmp_path / "none.jsonl#@")

    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith(
        f"ttdbg: cannot read {tmp_path}/none.jsonl: there is no such file\n"
    )


def test_an_argument_with_a_nul_byte_is_refused(ttdbg: Ask) -> None:
    answer = ttdbg("log", "a\0b")

    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith("ttdbg: cannot read a␀b: ")


def test_following_a_link_shows_the_file_behind_it(ttdbg: Ask, file: Path) -> None:
    link = file.with_name("link.jsonl")
    link.symlink_to(file)

    assert id_at(ttdbg, f"{link}#@") == "leaf1111"


def states(*names: str) -> bytes:
    """Give states of several sessions, a line each."""
    return b"".join(
        json.dumps({"thread_id": name, "schema_version": 1, "status": "running"}).encode() + b"\n"
        for name in names
    )


def test_where_there_are_several_sessions_the_newest_is_taken_and_the_others_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "states.jsonl"
    file.write_bytes(states("one", "two: x", "three"))

    assert main(["log", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["session"]["id"] == "three"
    assert err == f"{file}: the newest of 3 sessions; others: two%3A%20x, one\n"

    assert main(["log", f"{file}#two%3A%20x:", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["session"]["id"] == "two: x"
    assert err == ""


def test_a_session_in_the_place_of_a_checkpoint_is_told_with_its_colon(
    ttdbg: Ask, in_samples: Path
):
    file = in_samples / "langgraph.sqlite"
    told = {
        name: ttdbg(command, f"{file}#{name}").err.splitlines()[-2:]
        for name, command in (("refund-7802", "show"), ("refund-7731", "blame"))
    }

    assert told == {
        name: [
            f"ttdbg: there is no checkpoint '{name}' in this session",
            f"hint: that is a session: {file}#{name}:",
        ]
        for name in ("refund-7802", "refund-7731")
    }


@pytest.mark.parametrize("ref", ["row=3", "@", "@~1", "root", "label=a b"])
def test_a_second_point_that_lacks_its_sign_is_told_with_it(ttdbg: Ask, file: Path, ref: str):
    meant = f"'#{ref}'"

    assert ttdbg("diff", f"{file}#root", ref) == (
        3,
        "",
        f"ttdbg: cannot read {ref}: there is no such file\nhint: did you mean {meant}?\n",
    )


def test_a_file_that_is_called_as_a_ref_is_the_second_point(
    ttdbg: Ask, file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(file.parent)
    Path("row=3").write_bytes(BRANCHED)

    assert ttdbg("diff", f"{file}#@", "row=3").code == 0
