"""Git commits: a repository is read as git itself reads it, and what is wrong with it is told."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, facts, load, replay_of
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import ANN, CHECKPOINT, CLAUDE, EPOCH, Made, a_shop, tampered

from tt_debugger.core.changes import fold
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import claims, recognise
from tt_debugger.formats.git_commits import STORE, GitCommits, trees
from tt_debugger.formats.git_commits.agents import crediting, is_agent
from tt_debugger.formats.git_commits.commits import Commit, commits_in, in_order, record_of
from tt_debugger.formats.git_commits.history import NEWEST
from tt_debugger.formats.git_commits.mentions import Mentions
from tt_debugger.formats.git_commits.trailers import trailers_of, values_of
from tt_debugger.formats.git_commits.trees import parsed, text_of
from tt_debugger.storage.probe import RepositoryProbe, probe

SAMPLE = FIXTURES / "git_commits" / "sample.git"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "shop")


@pytest.fixture
def opened(request: pytest.FixtureRequest) -> Callable[[Path], tuple[GitCommits, Session]]:
    def open_it(path: Path) -> tuple[GitCommits, Session]:
        store = GitCommits.open(str(path))
        request.addfinalizer(store.close)
        return store, store.load(store.sessions()[0]).session

    return open_it


Opened = Callable[[Path], tuple[GitCommits, Session]]


def states(store: GitCommits, session: Session) -> list[Any]:
    replay = replay_of(store, session)
    return [replay.state(row) for row in range(len(session))]


def check_replay(store: GitCommits, session: Session) -> None:
    """Check that each state is that of the first parent with the changes made to it."""
    replay = replay_of(store, session)
    for row, parent in enumerate(session.parents):
        before = {} if parent == NO_ROW else replay.state(parent)
        assert fold(before, replay.changes(row)) == replay.state(row)


def shown(session: Session) -> list[tuple[str, str | None, str | None, str]]:
    """Give of each row its subject, that of its parent, its label, and who made it."""
    subjects = [each.head.summary for each in session]
    return [
        (
            subjects[row],
            None if parent == NO_ROW else subjects[parent],
            session.labels.get(row),
            str(session.heads.role(row)),
        )
        for row, parent in enumerate(session.parents)
    ]


def test_a_repository_is_one_tree_of_commits(opened: Opened):
    _, session = opened(SAMPLE)

    assert shown(session) == [
        ("Begin a shop", None, None, "user"),
        ("Add green tea", "Begin a shop", None, "assistant"),
        ("Add black tea", "Add green tea", "topic", "assistant"),
        ("Draw a logo", "Add green tea", None, "user"),
        ("Merge black tea", "Draw a logo", "v1", "user"),
        ("Run it from a script", "Merge black tea", None, "assistant"),
        ("Checkpoint: a1b2c3d4e5f6", None, "entire/checkpoints/v1", "assistant"),
        ("Sell coffee too", "Run it from a script", None, "user"),
        ("Say what the shop sells", "Run it from a script", "main", "user"),
    ]
    assert (session.id, session.title, session.active) == ("sample", "sample (main)", 8)
    assert session.subsessions == {5: (f"Entire checkpoint {CHECKPOINT}",)}
    assert session.aliases == {
        "entire/checkpoints/v1": 6,
        "main": 8,
        "topic": 2,
        "v1": 4,
        "HEAD": 8,
    }
    assert session.findings == ()
    assert [each.head.time for each in session][:2] == [EPOCH + 60, EPOCH + 120]


def test_the_sample_is_what_its_script_makes(tmp_path: Path, opened: Opened):
    made = a_shop(tmp_path / "shop")
    _, anew = opened(made.folder)
    _, sample = opened(SAMPLE)

    assert list(anew.ids) == list(sample.ids)
    assert shown(anew) == shown(sample)


def test_states_are_the_files_that_git_has_and_what_it_says_of_a_commit(opened: Opened):
    store, session = opened(SAMPLE)

    for name, state in zip(session.ids, states(store, session), strict=True):
        listed = git("ls-tree", "-r", "-z", name).split("\0")
        expected: dict[str, Any] = {}
        modes: dict[str, str] = {}
        for each in filter(None, listed):
            mode, _, blob, path = re.split(r"[ \t]", each, maxsplit=3)
            text = "" if mode == "160000" else git("cat-file", "blob", blob)
            expected[path] = {
                "120000": {"$type": "git.symlink", "$value": text},
                "160000": {"$type": "git.submodule", "$value": blob},
            }.get(mode, text)
            if path == "logo.png":
                expected[path] = {"$bytes": "iVBORw0KAAE="}
            modes |= {path: mode} if mode == "100755" else {}
        said = git("log", "-1", "--format=%B%x00%an <%ae>%x00%cI%x00%P", name).split("\0")
        assert state["files"] == expected
        assert state.get("modes", {}) == modes
        assert state["message"].rstrip("\n") == said[0].rstrip("\n")
        assert (state["author"], state["time"]) == (said[1], said[2].replace("+00:00", ".000Z"))
        parents = said[3].split()
        assert state.get("parents", []) == (parents if len(parents) > 1 else [])
        told = {*state} - {"modes", "parents"}
        assert told == {"files", "message", "author", "time", "trailers"}
    check_replay(store, session)


def git(*arguments: str, given: str = "") -> str:
    done = subprocess.run(  # noqa: S603 - git, in a repository of ours
        ["git", "--git-dir", str(SAMPLE), *arguments],  # noqa: S607 - whichever git there is
        capture_output=True,
        check=True,
        input=given.encode(),
        env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "TZ": "UTC"},
    )
    return done.stdout.decode(errors="replace").rstrip("\n" if arguments[0] == "log" else "")


lines = st.sampled_from(
    (
        "Key: value",
        "key: other",
        "Signed-off-by: Ann <ann@example.com>",
        "(cherry picked from commit 0123)",
        " goes on",
        "\tgoes on",
        "",
        "  ",
        "Words that say something",
        "See https://example.com/a",
        "a b: c",
        "Key : spaced",
        "Key:",
        "X-1:tight",
        ": nothing",
        "Co-Authored-By: Claude <noreply@anthropic.com>",
    )
)


@settings(max_examples=25)
@given(st.lists(st.lists(lines, max_size=9).map("\n".join), min_size=1, max_size=8))
def test_trailers_are_those_that_git_finds(messages: list[str]):
    with tempfile.TemporaryDirectory() as folder:
        made = Made(Path(folder))
        tree = made.git("write-tree")
        for message in messages:
            name = made.git("commit-tree", tree, given=f"Subject\n\n{message}\n".encode())
            told = made.git("log", "-1", "--format=%(trailers:only,unfold)", name).splitlines()
            pairs = [(key, value.strip()) for key, _, value in (t.partition(":") for t in told)]
            mine = trailers_of(f"Subject\n\n{message}\n")
            flat = {key.lower(): values_of(mine, key) for key in mine}
            expected: dict[str, list[str]] = {}
            for key, value in pairs:
                expected.setdefault(key.strip().lower(), []).append(value)
            assert flat == expected


def test_a_trailer_that_comes_again_has_a_list_and_the_first_paragraph_has_none():
    assert trailers_of("A: b\n") == {}
    assert trailers_of("S\n\nReviewed-by: Bo\nreviewed-by: Cy\nFixes: 1\n") == {
        "Reviewed-by": ["Bo", "Cy"],
        "Fixes": "1",
    }


def test_very_many_trailers_and_lines_of_one_are_read_once():
    found = trailers_of("S\n\n" + "A: b\n" * 100_000 + "C: d\n" + " e\n" * 100_000)
    assert found == {"A": ["b"] * 100_000, "C": "d" + " e" * 100_000}


@pytest.mark.parametrize(
    ("name", "mail"),
    [
        ("Ann (aider)", "ann@example.com"),
        ("Claude", "noreply@anthropic.com"),
        ("Ann", "noreply@anthropic.com"),
        ("copilot-swe-agent[bot]", "198982749+Copilot@users.noreply.github.com"),
        ("Cursor Agent", "cursoragent@cursor.com"),
        ("dependabot[bot]", "support@github.com"),
        ("Codex", "codex@openai.com"),
        ("openhands", "openhands@all-hands.dev"),
        ("google-labs-jules[bot]", "x@users.noreply.github.com"),
    ],
)
def test_an_agent_is_known_by_its_name_or_mail(name: str, mail: str):
    assert is_agent(name, mail)


@pytest.mark.parametrize(
    ("name", "mail"),
    [
        ("Ann", "ann@example.com"),
        ("Claude Monet", "claude.monet@gmail.com"),
        ("Claudette", "c@example.com"),
        ("Robot Smith", "robot@example.com"),
        ("Devin Townsend", "devin@yahoo.com"),
    ],
)
def test_a_person_is_none(name: str, mail: str):
    assert not is_agent(name, mail)


@pytest.mark.parametrize(
    ("message", "credited"),
    [
        (f"Fix\n\n{CLAUDE}\n", True),
        ("Fix\n\nCo-authored-by: aider (gpt-5) <aider@aider.chat>\n", True),
        ("Fix\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)\n", True),
        ("Fix\n\nEntire-Checkpoint: a1b2c3d4e5f6\n", True),
        ("Fix\n\nClaude-Session: https://claude.ai/code/x\n", True),
        ("Fix\n\nCo-authored-by: Bo <bo@example.com>\nSee claude.md\n", False),
        ("Write about claude and codex\n", False),
        ("Make the entire-page cache smaller\n", False),
    ],
)
def test_a_message_credits_an_agent_where_a_line_of_it_says_so(message: str, *, credited: bool):
    assert bool(crediting(Mentions([message.lower().encode()]))) == credited


words = st.sampled_from([b"session", b"entire-", b"-s"])
texts = st.lists(st.lists(st.one_of(words, st.binary(max_size=3)), max_size=3).map(b"".join))


@given(texts, st.lists(words))
def test_mentions_are_the_texts_with_one_of_the_words(told: list[bytes], asked: list[bytes]):
    expected = {place for place, each in enumerate(told) if any(word in each for word in asked)}
    assert Mentions(told).of(asked) == expected


def test_of_a_commit_that_unpacks_to_very_much_only_what_counts_is_kept():
    name, parent, part = b"a" * 40, b"b" * 40, 1 << 18

    def answer() -> Iterator[bytes]:
        yield (
            name + b"\0" + b" ".join([parent] * 10_000) + b"\x001\0" + b"n" * 5000 + b"\0m\0S\n\n"
        )
        yield from [b"x" * part] * 40
        yield f"\n\n{CLAUDE}\n".encode() + b"\0"

    (found,) = commits_in(answer())

    parents = " ".join([parent.decode()] * 1560)
    assert found == Commit(name.decode(), parents, 1, "n" * 1000, "S", by_agent=True)


commits = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.integers(1, 4), max_size=2)), max_size=12
)


@given(commits, st.randoms())
def test_commits_come_parents_first_and_in_one_order_however_they_are_told(
    drawn: list[tuple[int, list[int]]], random: Any
):
    every: list[Commit] = []
    for number, (time, above) in enumerate(drawn):
        parents = [f"{number - back:040x}" for back in above if number - back >= 0]
        every.append(Commit(f"{number:040x}", " ".join(parents), time, "", "", by_agent=False))
    ordered, firsts = in_order(every)
    rows = {each.name: row for row, each in enumerate(ordered)}

    assert sorted(rows) == sorted(each.name for each in every)
    for row, each in enumerate(ordered):
        assert all(rows[parent] < row for parent in each.parents.split())
        assert firsts[row] == rows.get(each.first, NO_ROW)
    random.shuffle(every)
    assert in_order(every) == (ordered, firsts)
    # What is newer than all others comes behind them, and moves none.
    newer = Commit("f" * 40, every[0].name if every else "", 9, "", "", by_agent=False)
    assert in_order([newer, *every])[0] == [*ordered, newer]


def test_a_commit_of_any_bytes_is_read_as_far_as_it_makes_sense():
    tree = "1" * 40
    data = (
        f"tree {tree}\nparent {'2' * 40}\nparent zz\n"
        "author Jos\xe9 <jose@example.com> 1767225600 +0100\ncommitter x\n"
        "encoding ISO-8859-1\ngpgsig a\n b\n\nCaf\xe9\n"
    ).encode("latin-1")
    record = record_of(data)

    assert record.body == {
        "tree": tree,
        "parents": ["2" * 40],
        "author": "José <jose@example.com>",
        "authored": "2026-01-01T00:00:00.000Z",
        "committer": "x <>",
        "time": "1970-01-01T00:00:00.000Z",
        "message": "Café\n",
        "trailers": {},
    }
    # No codec of Python's that does more than to decode.
    assert record_of(b"encoding unicode_escape\n\n\\x41").message == "\\x41"


@given(st.binary(max_size=80))
def test_no_bytes_of_a_commit_or_a_tree_raise(data: bytes):
    assert isinstance(record_of(data).body, dict)
    assert isinstance(parsed(data, 20), dict)


@given(st.lists(st.binary(max_size=6), unique=True))
def test_each_name_of_bytes_has_a_text_of_its_own_without_a_slash(names: list[bytes]):
    texts = [text_of(each) for each in names]
    assert len(set(texts)) == len(names)
    assert not any("/" in each for each in texts)
    "".join(texts).encode()


def test_a_name_that_is_no_text_is_shown_with_its_bytes(made: Made, opened: Opened):
    blob = made.git("hash-object", "-w", "--stdin", given=b"tea\n")
    entries = b"".join(b"100644 blob %s\t%s\0" % (blob.encode(), n) for n in (b"caf\xe9", b"a b"))
    tree = made.git("mktree", "-z", given=entries)
    made.git("update-ref", "refs/heads/main", made.git("commit-tree", tree, "-m", "One"))

    store, session = opened(made.folder)

    assert states(store, session)[0]["files"] == {"caf\\xe9": "tea\n", "a b": "tea\n"}


def test_files_that_did_not_change_are_the_same_objects(made: Made, opened: Opened):
    made.commit("One\n", {"a.txt": "a" * 100, "b.txt": "b" * 100})
    made.commit("Two\n", {"a.txt": "c" * 100})
    store, session = opened(made.folder)

    one, two = states(store, session)

    assert one["files"]["b.txt"] is two["files"]["b.txt"]


def test_of_large_files_and_of_very_much_text_only_hash_and_size_are_shown(
    made: Made, opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(trees, "STEPS", (400, 200, 100, 50))
    monkeypatch.setattr(trees, "MOST_TEXT", 1000)
    made.commit("Small\n", {"a": "a" * 40, "b": "b" * 300, "huge": "h" * 5000})
    made.commit("More\n", {"c": "c" * 350, "d": "d" * 390})
    made.commit("Less\n", {"c": None, "run": "#!/bin/sh\n"})
    (made.folder / "run").chmod(0o755)
    made.commit("Run\n")
    store, session = opened(made.folder)

    small, more, less, run = (each["files"] for each in states(store, session))

    blob = {name: made.git("rev-parse", f"HEAD~2:{name}") for name in ("b", "huge")}
    huge = {"$opaque": "blob", "size": 5000, "blob": blob["huge"]}
    assert small == {"a": "a" * 40, "b": "b" * 300, "huge": huge}
    assert more["b"] == {"$opaque": "blob", "size": 300, "blob": blob["b"]}
    assert (more["a"], less["b"], list(run)) == ("a" * 40, "b" * 300, list(less))
    check_replay(store, session)


def test_a_tree_that_unfolds_to_billions_of_files_is_not_unfolded(made: Made, opened: Opened):
    below = made.git("hash-object", "-w", "--stdin", given=b"boom\n")
    kind = "100644 blob"
    for _ in range(12):
        entries = "".join(f"{kind} {below}\tf{number}\n" for number in range(10))
        below, kind = made.git("mktree", given=entries.encode()), "040000 tree"
    made.git("update-ref", "refs/heads/main", made.git("commit-tree", below, "-m", "Bomb"))
    made.git("read-tree", "--empty")
    store, session = opened(made.folder)

    (state,) = states(store, session)

    assert state["files"] == {"$opaque": "tree", "size": 10**12, "tree": below}
    check_replay(store, session)


def test_folders_that_are_too_deep_are_not_looked_into(
    made: Made, opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(trees, "MOST_DEEP", 2)
    made.commit("One\n", {"a/b/c/d.txt": "d\n", "a/b/e.txt": "e\n"})
    made.commit("Two\n", {"a/b/c/d.txt": "D\n"})
    store, session = opened(made.folder)

    one, two = (each["files"] for each in states(store, session))

    deep = made.git("rev-parse", "HEAD:a/b/c")
    assert two == {
        "a/b/e.txt": "e\n",
        "a/b/c": {"$opaque": "tree", "size": None, "tree": deep},
    }
    assert one["a/b/e.txt"] is two["a/b/e.txt"]
    check_replay(store, session)


def test_commits_that_only_logs_lead_to_are_dead_branches(made: Made, opened: Opened):
    made.commit("One\n", {"a": "1"})
    made.commit("Two\n", {"a": "2"})
    made.git("reset", "-q", "--hard", "HEAD~1")
    made.commit("Other\n", {"a": "3"})
    _, session = opened(made.folder)

    assert shown(session) == [
        ("One", None, None, "user"),
        ("Two", "One", None, "user"),
        ("Other", "One", "main", "user"),
    ]


def test_refs_of_any_kind_lead_to_commits_but_notes_and_replacements_do_not(
    made: Made, opened: Opened
):
    first = made.commit("One\n", {"a": "1"})
    tree = made.git("rev-parse", "HEAD^{tree}")
    for number, ref in enumerate(("refs/stash", "refs/codex/ghost", "refs/remotes/up/main")):
        other = made.git("commit-tree", tree, "-p", first, "-m", f"C{number}", **made.later())
        made.git("update-ref", ref, other)
    made.git("notes", "add", "-m", "a note", first)
    lie = made.git("commit-tree", tree, "-m", "A lie", **made.later())
    made.git("replace", first, lie)
    _, session = opened(made.folder)

    assert shown(session) == [
        ("One", None, "main", "user"),
        ("C0", "One", "stash", "user"),
        ("C1", "One", "codex/ghost", "user"),
        ("C2", "One", "up/main", "user"),
    ]


def test_names_on_one_commit_make_one_label_work_trees_among_them(
    made: Made, opened: Opened, tmp_path: Path
):
    made.commit("One\n", {"a": "1"})
    made.git("tag", "v1")
    made.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "other"))
    _, session = opened(made.folder)
    _, of_worktree = opened(tmp_path / "other")

    assert session.labels == {0: "main, side, v1, worktree other"}
    assert (session.title, of_worktree.title) == ("shop (main)", "other (side)")
    assert list(session.ids) == list(of_worktree.ids)


def test_a_shallow_clone_says_where_its_history_ends(made: Made, opened: Opened, tmp_path: Path):
    for number in range(3):
        made.commit(f"C{number}\n", {"a": str(number)})
    url = made.folder.as_uri()
    made.git("clone", "-q", "--depth", "2", url, str(tmp_path / "clone"))
    store, session = opened(tmp_path / "clone")

    assert [each.head.summary for each in session] == ["C1", "C2"]
    assert [(each.code, each.severity, each.checkpoint) for each in session.findings] == [
        ("TT201", "note", session.ids[0])
    ]
    check_replay(store, session)


def test_a_partial_clone_fetches_nothing_and_says_what_is_missing(
    made: Made, opened: Opened, tmp_path: Path
):
    made.git("config", "uploadpack.allowFilter", "true")
    made.commit("One\n", {"a": "1"})
    clone = tmp_path / "clone"
    filtered = ("--filter=blob:none", "--no-checkout")
    made.git("clone", "-q", *filtered, made.folder.as_uri(), str(clone))
    blob = made.git("rev-parse", "HEAD:a")
    store, session = opened(clone)

    (state,) = states(store, session)

    assert state["files"] == {"a": {"$opaque": "missing blob", "size": None, "blob": blob}}
    assert [(each.code, each.severity) for each in session.findings] == [("TT110", "note")]
    check_replay(store, session)


def test_a_commit_that_is_gone_leaves_its_children_as_roots(made: Made, opened: Opened):
    made.commit("One\n", {"a": "1"})
    gone = made.commit("Two\n", {"a": "2"})
    made.commit("Three\n", {"a": "3"})
    (made.folder / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    store, session = opened(made.folder)

    assert [(line[0], line[1]) for line in shown(session)] == [("One", None), ("Three", None)]
    assert [(each.code, each.checkpoint) for each in session.findings] == [
        ("TT110", None),
        ("TT201", session.ids[1]),
    ]
    check_replay(store, session)


def test_commits_that_a_lying_index_puts_in_a_circle_are_read_by_their_hashes(
    made: Made, opened: Opened
):
    root = made.commit("One\n", {"a.txt": "a\n"})
    names = [made.commit(f"{word}\n", {"a.txt": word}) for word in ("Two", "Three")]
    made.git("repack", "-adq")
    (index,) = (made.folder / ".git" / "objects" / "pack").glob("*.idx")
    data = bytearray(index.read_bytes())
    count = int.from_bytes(data[1028:1032])
    hashes = [data[at : at + 20].hex() for at in range(1032, 1032 + 20 * count, 20)]
    old, new = (1032 + 24 * count + 4 * hashes.index(each) for each in (root, names[-1]))
    data[old : old + 4] = data[new : new + 4]
    index.chmod(0o644)
    index.write_bytes(data)

    _, session = opened(made.folder)

    assert (session.ids, list(session.parents)) == (names, [NO_ROW, 0])
    assert "come before themselves" in session.findings[0].message


def test_a_branch_that_names_no_commit_is_told_of(made: Made, opened: Opened):
    made.commit("One\n", {"a": "1"})
    (made.folder / ".git" / "refs" / "heads" / "lost").write_text("1" * 40)
    _, session = opened(made.folder)

    assert [(each.code, each.message) for each in session.findings] == [
        ("TT406", "lost names 111111111111, which is no commit that is there")
    ]


def test_a_damaged_blob_or_tree_is_shown_as_what_is_left(made: Made, opened: Opened):
    made.commit("One\n", {"a": "1", "b/c": "2"})
    for name in (made.git("rev-parse", "HEAD:a"), made.git("rev-parse", "HEAD:b")):
        path = made.folder / ".git" / "objects" / name[:2] / name[2:]
        path.chmod(0o644)
        path.write_bytes(zlib.compress(b"blob 1\0x"))
    store, session = opened(made.folder)

    blob = made.git("rev-parse", "HEAD:a")
    assert states(store, session)[0]["files"] == {
        "a": {"$opaque": "damaged blob", "size": 1, "blob": blob}
    }
    check_replay(store, session)


def test_a_repository_without_commits_holds_none(made: Made, opened: Opened):
    _, session = opened(made.folder)
    assert (len(session), session.active, session.title) == (0, None, "shop (main)")


def test_hashes_of_64_digits_are_read_alike(tmp_path: Path, opened: Opened):
    made = Made(tmp_path / "new", "--object-format=sha256")
    made.commit("One\n", {"a/b.txt": "1\n"})
    made.commit("Two\n", {"a/b.txt": "2\n"})
    store, session = opened(made.folder)

    assert [len(name) for name in session.ids] == [64, 64]
    assert states(store, session)[1]["files"] == {"a/b.txt": "2\n"}
    check_replay(store, session)


def anew(path: Path) -> dict[str, Any]:
    store, loaded = load(path, STORE.format)
    seen = facts(loaded.session)
    store.close()
    return seen


def test_what_is_new_is_read_on_and_is_what_reading_anew_gives(made: Made):
    made.commit("One\n", {"a": "1"})
    store, loaded = load(made.folder, STORE.format)
    steps: list[Callable[[], object]] = [
        lambda: made.commit("Two\n", {"a": "2"}),
        lambda: made.git("switch", "-q", "-c", "side"),
        lambda: made.commit("Three\n", {"b": "3"}),
        lambda: made.git("switch", "-q", "main"),
        lambda: made.commit("Four\n", {"c": "4"}, ("Ann (aider)", "a@example.com")),
        lambda: made.git("merge", "-q", "--no-ff", "-m", "Merge", "side", **made.later()),
        lambda: made.git("branch", "-q", "-D", "side"),
        lambda: made.git("tag", "-a", "-m", "one", "v1"),
        lambda: made.git("reset", "-q", "--hard", "HEAD~1"),
        lambda: made.git("pack-refs", "--all"),
        lambda: made.git("repack", "-q", "-a", "-d"),
        lambda: made.commit("Old\n", {"d": "5"}, ANN, "--date=2001-01-01T00:00:00Z"),
    ]
    for step in steps:
        before = facts(loaded.session)
        step()
        grown = store.follow(loaded.cursor)
        assert facts(grown.session) == anew(made.folder)
        assert store.follow(grown.cursor).session is grown.session
        assert facts(loaded.session) == before
        loaded = grown
    assert len(loaded.session) == 6
    store.close()


def test_a_commit_that_is_older_than_others_is_put_where_it_belongs(made: Made):
    made.commit("One\n", {"a": "1"})
    store, loaded = load(made.folder, STORE.format)
    tree = made.git("rev-parse", "HEAD^{tree}")
    old = made.git("commit-tree", tree, "-m", "Old", GIT_COMMITTER_DATE="1000000000 +0000")
    made.git("update-ref", "refs/heads/old", old)

    grown = store.follow(loaded.cursor)

    assert [each.head.summary for each in grown.session] == ["Old", "One"]
    store.close()


def test_only_what_is_new_is_asked_of_git(made: Made, monkeypatch: pytest.MonkeyPatch):
    made.commit("One\n", {"a": "1"})
    store, loaded = load(made.folder, STORE.format)
    assert isinstance(store, GitCommits)
    monkeypatch.setattr(store.store, "_read", lambda: pytest.fail("all of it was read"))

    made.commit("Two\n", {"a": "2"})

    assert len(store.follow(loaded.cursor).session) == 2
    store.close()


def test_what_is_watched_changes_when_a_ref_does(made: Made):
    made.commit("One\n", {"a": "1"})
    store, _ = load(made.folder, STORE.format)
    assert isinstance(store, GitCommits)

    assert str(made.folder / ".git" / "HEAD") in store.watched()
    assert str(made.folder / ".git" / "refs") in store.watched()
    store.close()


def test_the_newest_commits_are_shown_before_all_are_read(made: Made):
    tree = made.git("write-tree")
    parent = ""
    for number in range(NEWEST + 5):
        above = ("-p", parent) if parent else ()
        parent = made.git("commit-tree", tree, *above, "-m", f"C{number}", **made.later())
    made.git("update-ref", "refs/heads/main", parent)
    store, loaded = load(made.folder, STORE.format)
    assert isinstance(store, GitCommits)

    tail = store.tail()

    assert tail is not None
    assert list(tail.ids) == list(loaded.session.ids)[-NEWEST:]
    assert [each.head for each in tail] == [each.head for each in loaded.session][-NEWEST:]
    assert (tail.active, tail.labels, tail.findings) == (NEWEST - 1, {NEWEST - 1: "main"}, ())
    assert tail.parents[0] == NO_ROW
    store.close()


def test_of_a_short_history_all_is_read_as_soon(opened: Opened):
    assert opened(SAMPLE)[0].tail() is None


def test_a_transcript_that_entire_keeps_can_be_opened(opened: Opened):
    store, session = opened(SAMPLE)
    (name,) = session.subsessions[5]

    location = store.subsession(session, name)

    assert location is not None
    transcript, loaded = load(Path(location), "claude_code")
    assert list(loaded.session.ids) == ["u1", "u2"]
    transcript.close()
    assert store.subsession(session, name) == location
    assert store.subsession(session, "Entire checkpoint 000000000000") is None
    assert Path(location).parent.stat().st_mode & 0o077 == 0


def test_a_session_that_a_commit_names_is_found_where_its_agent_keeps_it(
    made: Made, opened: Opened, own_home: Path
):
    known, other = (f"01234567-89ab-cdef-0123-45678900000{number}" for number in (1, 2))
    made.commit(f"One\n\nSession-Id: {known}\n", {"a": "1"})
    made.commit(f"Two\n\nClaude-Session: https://claude.ai/code/{other}\n", {"a": "2"})
    folder = own_home / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    (folder / f"{known}.jsonl").write_text("{}\n")
    store, session = opened(made.folder)

    assert session.subsessions == {0: (f"session {known}",), 1: (f"session {other}",)}
    assert store.subsession(session, f"session {known}") == str(folder / f"{known}.jsonl")
    assert store.subsession(session, f"session {other}") is None


def test_a_transcript_in_the_files_of_a_commit_is_found_there(made: Made, opened: Opened):
    kept = ".entire/metadata/s1"
    made.commit(f"Work\n\nEntire-Metadata: {kept}\n", {f"{kept}/full.jsonl": "{}\n"})
    store, session = opened(made.folder)
    (name,) = session.subsessions[0]

    location = store.subsession(session, name)

    assert location is not None
    assert Path(location).read_text() == "{}\n"


def test_a_commit_that_went_is_told_of_when_it_is_asked_for(made: Made, opened: Opened):
    name = made.commit("One\n", {"a": "1"})
    store, session = opened(made.folder)
    (made.folder / ".git" / "objects" / name[:2] / name[2:]).unlink()

    with pytest.raises(CannotReadError, match="cannot be read any more"):
        store.bodies(session, [0])


def test_all_is_read_of_a_repository_that_would_run_programs_and_none_is_run(
    tmp_path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    made = a_shop(tmp_path / "shop")
    made.git("replace", "HEAD", "HEAD~1")
    canary = tmp_path / "canary"
    tampered(made, canary)
    (made.folder / ".git" / "objects" / "info").mkdir(exist_ok=True)
    borrowed = made.folder / ".git" / "objects" / "info" / "alternates"
    borrowed.write_text("/proc/self/root\n//evil/share\n")
    before = {path: path.lstat().st_ctime_ns for path in made.folder.rglob("*")}
    started: list[Any] = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda said, **more: started.append(said) or popen(said, **more)
    )

    store, session = opened(made.folder)
    check_replay(store, session)
    for row, names in session.subsessions.items():
        store.raw(session, row)
        assert [store.subsession(session, name) for name in names] != [None]
    store.tail()
    store.follow(store.load(session.id).cursor)
    store.close()

    assert [each.head.summary for each in session] == [
        each.head.summary for each in opened(SAMPLE)[1]
    ]
    assert {each[3] for each in started} == {"log", "cat-file"}
    assert {path: path.lstat().st_ctime_ns for path in made.folder.rglob("*")} == before
    assert not canary.exists()


def test_states_that_are_kept_in_a_repository_are_still_states(made: Made):
    state = b'{"schema_version": 1, "session_id": "s", "step": %d, "completed_steps": []}'
    for number in range(3):
        made.commit(f"C{number}\n", {f"{number}.json": state % number})

    seen = probe(str(made.folder))

    assert isinstance(seen, RepositoryProbe)
    assert [each.store.format for each in claims(seen) if each.match] == [
        "snapshots",
        "git_commits",
    ]


def test_a_work_tree_without_files_is_a_repository_all_the_same(made: Made):
    assert recognise(probe(str(made.folder)))[0] is STORE
    assert recognise(probe(str(made.folder / ".git")))[0] is STORE
    with pytest.raises(CannotReadError, match="it is a folder"):
        probe(str(made.folder / ".git" / "refs" / "tags"))


FILES = sorted(each for each in SAMPLE.rglob("*") if each.is_file())


@settings(max_examples=30)
@given(st.sampled_from(FILES), st.data())
def test_whatever_file_of_a_repository_is_damaged_what_is_left_is_shown(
    file: Path, data: st.DataObject
):
    content = file.read_bytes()
    begin = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(begin, min(begin + 60, len(content))))
    over = data.draw(st.sampled_from((b"", b"\0" * 20, b"\xff", b"0" * 40, b"ref: ", b"\n")))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "s.git"
        for each in SAMPLE.rglob("*"):
            target = copy / each.relative_to(SAMPLE)
            if each.is_dir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            whole = content[:begin] + over + content[end:] if each == file else each.read_bytes()
            target.write_bytes(whole)
        with suppress(CannotReadError):
            store, loaded = load(copy, STORE.format)
            session = loaded.session
            for name in session.subsessions.get(5, ()):
                store.subsession(session, name)
            check_replay(store, session)
            assert session.active is None or 0 <= session.active < len(session)
            store.close()
