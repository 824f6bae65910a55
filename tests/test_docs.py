"""The documents are true: README names only what exists, and its commands do what it says."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from hostile_files import SAMPLES

from tt_debugger.cli.main import cli, main
from tt_debugger.formats import known_formats

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

BLOCKS = re.DOTALL | re.MULTILINE
SHELL = [each.strip() for each in re.findall(r"^```sh\n(.*?)^```$", README, BLOCKS)]
PROSE = re.sub(r"^```.*?^```$", "", README, flags=BLOCKS)
CODE = re.findall(r"`([^`\n]+)`", PROSE)
NAMED = [each for each in CODE if each.startswith("ttdbg ")]
LINKS = [each for each in re.findall(r"\]\(([^)]+)\)", README) if "://" not in each]
KEEP_A_CHANGELOG = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def section(title: str) -> str:
    """Give what stands below a heading of README."""
    return re.split(r"^## ", PROSE.partition(f"## {title}\n")[2], flags=re.MULTILINE)[0]


def first_column(title: str) -> list[str]:
    """Give the code spans in the first column of a section's table."""
    rows = re.findall(r"^\| (.*?) \|", section(title), re.MULTILINE)
    return [span for row in rows for span in re.findall(r"`([^`]+)`", row)]


def commands() -> dict[str, click.Command]:
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {name: command for name, command in found.items() if command}


def options(command: click.Command) -> set[str]:
    return {option for each in command.params for option in each.opts if option.startswith("-")}


def test_readme_names_every_command_and_no_other() -> None:
    named = {shlex.split(each)[1] for each in NAMED}

    assert named == set(commands())


@pytest.mark.parametrize("line", sorted(set(NAMED)))
def test_readme_names_only_options_that_a_command_has(line: str) -> None:
    _, name, *rest = shlex.split(line)

    named = {each for each in rest if each.startswith("-")}
    assert named - options(commands()[name]) == set()


def test_options_that_readme_names_apart_from_a_command_exist() -> None:
    every = {option for command in commands().values() for option in options(command)}

    assert {each for each in CODE if each.startswith("--")} - every == set()


def test_readme_names_every_option_of_every_command() -> None:
    every = {option for command in commands().values() for option in options(command)}

    assert {each for each in every if each not in README} == set()


def test_readme_lists_every_format_and_no_other() -> None:
    assert sorted(first_column("What it reads")) == sorted(each.format for each in known_formats())


def test_readme_names_only_keys_that_exist() -> None:
    from tt_debugger.tui.keys import KEYS

    names = {"Tab": "tab", "Enter": "enter", "Esc": "escape", "Space": "space"}
    names |= {"?": "question_mark", "Home": "home", "End": "end", "Up": "up", "Down": "down"}
    names |= {"[": "left_square_bracket", "]": "right_square_bracket", ":": "colon"}
    names |= {"{": "left_curly_bracket", "}": "right_curly_bracket", "/": "slash"}
    names |= {"'": "apostrophe", ",": "comma", ".": "full_stop", "+": "plus", "-": "minus"}
    names |= {r"\|": "vertical_line"}
    names |= {"Alt-Left": "alt+left", "Alt-Right": "alt+right", "Ctrl-P": "ctrl+p"}
    keys = {key for each in KEYS for key in each.keys}
    named = {names.get(each, each) for each in re.findall(r"`([^`]+)`", section("Keys"))}
    # Words in code spans that are longer than a key are environment variables and commands.
    named = {each for each in named if len(each) == 1 or each in names.values()}

    assert named
    assert named - keys == set()


@pytest.mark.parametrize(
    "line", [each for each in sorted(set(NAMED)) if "sample_sessions/" in each]
)
def test_commands_on_samples_in_readme_work(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    # The UI needs a terminal; what it would open can be told without one.
    command = ["log" if each == "open" else each for each in shlex.split(line)[1:]]

    assert main(command) == 0, capsys.readouterr().err
    assert capsys.readouterr().out


EXAMPLES = [
    (command, output)
    for command, output in re.findall(r"^```\n\$ (ttdbg [^\n]*)\n(.*?)^```$", README, BLOCKS)
    if output
]


@pytest.mark.parametrize(("command", "shown"), EXAMPLES)
def test_examples_in_readme_begin_as_it_shows(
    command: str,
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)

    main(shlex.split(command)[1:])
    out = capsys.readouterr().out

    beginning = shown.removesuffix("…\n")
    assert out.startswith(beginning)
    assert (out == shown) is (beginning == shown)


def test_each_question_about_the_past_has_an_example_in_readme() -> None:
    asked = {command.split()[1] for command, _ in EXAMPLES}

    assert asked >= {"watch", "blame", "bisect", "grep", "diff", "log"}


def test_refs_in_readme_are_refs() -> None:
    from tt_debugger.core.refs import parse_fragment

    refs = first_column("Refs")

    assert len(refs) >= len(("@", "root", "id", "row", "label", "line", "time", "range"))
    assert [each for each in refs if not parse_fragment(each).points] == []


def test_all_in_one_line_each_readme_says_how_to_try_it_and_how_to_test_it() -> None:
    assert [each.count("\n") for each in SHELL] == [0, 0]
    assert " .venv/bin/ttdbg open sample_sessions/" in SHELL[0]
    assert "pytest" in SHELL[1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the gate is a bash script")
def test_the_gate_runs_the_test_command_of_readme() -> None:
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (found,) = re.findall(r"^tests=.*$", gate, re.MULTILINE)

    ran = subprocess.run(  # noqa: S603 - a line of our own script
        ["bash", "-euc", f'{found}; printf %s "$tests"'],  # noqa: S607 - wherever it is
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )

    assert ran.stdout == SHELL[1]
    assert '"$tests"' in gate.replace(found, "")


@pytest.mark.parametrize("link", sorted(set(LINKS)))
def test_files_that_readme_links_to_exist(link: str) -> None:
    assert (ROOT / link.partition("#")[0]).is_file()


def test_files_that_readme_names_exist() -> None:
    paths = [each for each in CODE if re.fullmatch(r"[.\w-]+(?:/[\w.-]+)+", each)]

    assert paths
    assert [each for each in paths if not (ROOT / each).exists()] == []


def test_changelog_begins_with_what_is_unreleased_and_keeps_its_headings() -> None:
    versions = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)

    assert CHANGELOG.startswith("# Changelog\n")
    assert versions[0] == "[Unreleased]"
    released = r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d"
    assert [each for each in versions[1:] if not re.fullmatch(released, each)] == []
    for version in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        headings = re.findall(r"^### (.*)$", version, re.MULTILINE)
        assert headings == sorted(set(headings), key=KEEP_A_CHANGELOG.index)


def test_changelog_names_only_commands_and_options_that_exist() -> None:
    spans = re.findall(r"`([^`\n]+)`", re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1])
    every = {option for command in commands().values() for option in options(command)}

    named = {shlex.split(each)[1] for each in spans if each.startswith("ttdbg ")}
    assert named - set(commands()) == set()
    assert {each for each in spans if each.startswith("--")} - every == set()


def test_the_samples_are_made_the_same_to_the_byte(tmp_path: Path) -> None:
    for part in SAMPLES.glob("*.py"):
        shutil.copyfile(part, tmp_path / part.name)

    subprocess.run([sys.executable, tmp_path / "make_samples.py"], check=True)  # noqa: S603 - ours

    made = {each.name: each.read_bytes() for each in tmp_path.rglob("*.jsonl")}
    kept = {each.name: each.read_bytes() for each in SAMPLES.rglob("*.jsonl")}
    assert made == kept


def test_the_list_of_commands_says_of_each_its_first_sentence_whole() -> None:
    context = click.Context(cli, info_name="ttdbg", max_content_width=80, terminal_width=80)
    told = cli.get_help(context)

    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        sentence = " ".join((command.help or "").split("\n\n")[0].split())
        assert re.search(rf"^  {name} +{re.escape(sentence)}$", told, re.MULTILINE)


def test_the_programs_of_readme_do_what_it_says(tmp_path: Path):
    """They are one program: a later block goes on with what the ones before have made."""
    blocks = re.findall(r"^```python\n(.*?)^```$", README, BLOCKS)
    program = "\n".join(blocks)

    done = subprocess.run(  # noqa: S603 - the program is the README's own
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert program.count("assert ") > 4
