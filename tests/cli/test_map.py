"""--map: the table and columns of checkpoints from a file, for every command with a LOCATION."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from builders import database_of

from tt_debugger.cli.main import main
from tt_debugger.storage.map_files import MAP


@pytest.fixture
def mapped(tmp_path: Path) -> tuple[str, str]:
    """Give a database that no format reads, and a map for it."""
    database = database_of(
        tmp_path / "s.db",
        "create table brain (k integer primary key, who, mind)",
        """insert into brain values (1, 'bob', '{"n":1}'), (2, 'bob', '{"n":2}')""",
    )
    path = tmp_path / "m.toml"
    path.write_text('table = "brain"\nsession = "who"\nstate = "mind"\nid = "k"\n')
    return str(database), str(path)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_map_is_taken_before_a_command_and_by_it(
    mapped: tuple[str, str],
    is_first: bool,  # noqa: FBT001 - the two cases
    capsys: pytest.CaptureFixture[str],
):
    database, path = mapped
    option = ["--map", path]
    command = ["show", f"{database}#2", "--json"]

    assert main([*option, *command] if is_first else [*command, *option]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == {"n": 2}


def test_a_map_holds_for_its_command_alone(
    mapped: tuple[str, str], monkeypatch: pytest.MonkeyPatch
):
    database, path = mapped
    monkeypatch.setenv(MAP, "another")

    assert main(["log", "--map", path, database]) == 0
    assert os.environ[MAP] == "another"
    monkeypatch.delenv(MAP)
    assert main(["log", database]) == 3
    assert MAP not in os.environ


@pytest.mark.parametrize("name", ["log", "show", "open", "diff", "export", "doctor", "replay"])
def test_a_map_that_is_not_there_is_wrong_usage(name: str, capsys: pytest.CaptureFixture[str]):
    assert main([name, "--map", "nothing.toml", "s.db"]) == 2
    assert "nothing.toml" in capsys.readouterr().err
