"""Maps: a small TOML file that says which table and columns hold checkpoints.

What it leaves out is told by the names of the columns, as far as they tell it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.text import summary_line
from tt_debugger.errors import UsageError
from tt_debugger.formats.shared.tables.layouts import Form, Layout, keyed, layout_of
from tt_debugger.storage.map_files import map_data, map_path
from tt_debugger.storage.tables import Table

MAPPED = 99
"""The score of a location for which there is a map: somebody said what it holds."""

_COLUMNS = ("session", "id", "parent", "order", "state", "time", "schema_version", "tool")
_FORMS = {"states": Form.STATES, "history": Form.HISTORY, "turns": Form.TURNS}
_FORM, _TABLE, _PREFIX = "form", "table", "prefix"
_KEYS = (_TABLE, *_COLUMNS, _FORM, _PREFIX)
_MOST_NAMED = 40


class TableMap(msgspec.Struct, frozen=True):
    """What a map says: its own path, a table, columns by what they hold, and a prefix of keys."""

    path: str
    said: Mapping[str, str]

    @property
    def prefix(self) -> str | None:
        """With what the keys of a key-value store begin."""
        return self.said.get(_PREFIX)

    @property
    def names_table(self) -> bool:
        """Whether it is about a table."""
        return _TABLE in self.said


def map_of(location: str) -> TableMap | None:
    """Give the map for a location, None where there is none. Raises UsageError for a bad one."""
    path = map_path(location)
    return None if path is None else read_map(path)


def read_map(path: str) -> TableMap:
    """Read a map. Raises UsageError where it is none, CannotReadError where it cannot be read."""
    # Only who has a map pays for the import.
    import tomllib

    try:
        said = tomllib.loads(map_data(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _refused(path, f"it is no TOML: {summary_line(str(error))}") from error
    unknown = [each for each in said if each not in _KEYS]
    if unknown:
        raise _refused(path, f"it has an unknown key {summary_line(unknown[0], 40)!r}")
    wrong = [key for key, value in said.items() if not (isinstance(value, str) and value)]
    if wrong:
        raise _refused(path, f"its key {wrong[0]!r} is no text")
    if said.get(_FORM, "states") not in _FORMS:
        raise _refused(path, f"its key {_FORM!r} is none of {', '.join(_FORMS)}")
    if not said:
        raise _refused(path, "it says nothing")
    return TableMap(path, dict(said))


def mapped(table_map: TableMap, tables: Mapping[str, Table]) -> Layout:
    """Give the layout that a map says. Raises UsageError where it names what is not there."""
    path, said = table_map.path, dict(table_map.said)
    name = said.get(_TABLE)
    if name is None:
        raise _refused(path, f"it has no key {_TABLE!r}", _there("tables", tables))
    table = tables.get(name)
    if table is None:
        raise _refused(path, f"there is no table {name!r}", _there("tables", tables))
    for key in _COLUMNS:
        if key in said and said[key] not in table.columns:
            what = f"the table {name!r} has no column {said[key]!r} for {key!r}"
            raise _refused(path, what, _there("columns", table.columns))
    told = layout_of(table)
    if told is None and "state" not in said:
        raise _refused(path, "it has no key 'state'", _there("columns", table.columns))
    layout = _with(told or Layout(table.name, Form.STATES, said["state"]), said, table)
    if layout.form is Form.HISTORY and layout.session is None:
        raise _refused(path, "it has no key 'session'", _there("columns", table.columns))
    return keyed(layout, table)


def _with(layout: Layout, said: Mapping[str, str], table: Table) -> Layout:
    """Give a layout in which what a map says counts before what the names of columns tell."""
    columns: dict[str, Any] = {
        key: said[key]
        for key in ("session", "id", "parent", "order", "state", "tool")
        if key in said
    }
    if "time" in said:
        columns["times"] = (said["time"],)
    if "schema_version" in said:
        columns["version"] = said["schema_version"]
    layout = msgspec.structs.replace(layout, **columns)
    form = _FORMS.get(said.get(_FORM, ""))
    if form is None:
        is_alone = table.key == (layout.session,) and not (layout.order or layout.parent)
        form = Form.HISTORY if is_alone else layout.form
        if form is Form.HISTORY and not is_alone and "session" in said:
            form = Form.STATES
    return msgspec.structs.replace(layout, form=form)


def _there(what: str, names: Iterable[str]) -> str:
    every = [summary_line(each, 40) for each in names]
    more = f" and {len(every) - _MOST_NAMED} more" if len(every) > _MOST_NAMED else ""
    return (
        f"there are the {what} {', '.join(every[:_MOST_NAMED])}{more}"
        if every
        else (f"there are no {what}")
    )


def _refused(path: str, why: str, hint: str | None = None) -> UsageError:
    return UsageError(
        f"cannot use the map {path}: {why}",
        hint or f"a map has the keys {', '.join(_KEYS)}, each a text",
    )
