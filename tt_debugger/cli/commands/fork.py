"""`ttdbg fork`: a new branch from any checkpoint, which the agent itself resumes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, location, opened
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Change, Put, State
from tt_debugger.core.paths import Path, value_at
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import safe_line, safe_text
from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.core.fork.plan import Forked
    from tt_debugger.debugger import Debugger
    from tt_debugger.forking import Drafted, Standing


class Asked:
    """The edits that a command line asks for, applied one after the other."""

    def __init__(self, debugger: Debugger, at: Standing) -> None:
        self.edits: list[Change] = []
        self._debugger = debugger
        self._at = at
        self._state = at.state

    def put(self, path: Path, value: Any) -> None:
        """Put a value at a path."""
        from tt_debugger.core.fork.edits import putting

        self._add(putting(self._state, path, value))

    def drop(self, paths: Sequence[Path]) -> None:
        """Take away what is at some paths, as they are named before any of it is gone."""
        from tt_debugger.core.fork.edits import dropping

        found = [dropping(self._state, path) for path in paths]
        # From the last item of a list on, so that the places of the others stay what they are.
        for each in sorted(found, key=lambda drop: _order(drop.path), reverse=True):
            self._add(each)

    def say(self, text: str) -> None:
        """Add what the user says."""
        self._add(self._debugger.message(self._state, text, time.time()))

    def edit(self) -> None:
        """Let the user edit the message of the checkpoint, or the state, in their editor."""
        from tt_debugger.core.fork.edits import edits_between

        path = self._path_of_message()
        before = self._state if path is None else value_at(self._state, path)
        after = _edited_by_hand(before)
        if path is None:
            for each in edits_between(before, after):
                self._add(each)
        elif not is_same(before, after):
            self._add(Put(path, after))

    def _path_of_message(self) -> Path | None:
        """Give the path of the one message of the checkpoint, None where it is not one."""
        from tt_debugger.core.fork.edits import stands
        from tt_debugger.forking.put import messages_at

        found = messages_at(self._debugger, self._at)
        # What was edited before may have moved it.
        is_one = len(found) == 1 and stands(self._state, self._at.state, found[0])
        return found[0] if is_one else None

    def _add(self, edit: Change) -> None:
        from tt_debugger.core.fork.edits import edited

        self._state = edited(self._state, (edit,))
        self.edits.append(edit)


def _order(path: Path) -> tuple[tuple[bool, int, str], ...]:
    """Give what sorts paths so that the items of a list stand in their order."""
    return tuple(
        (isinstance(key, int), key if isinstance(key, int) else 0, str(key)) for key in path
    )


class _AgentOption(click.Option):
    """Names the agents where help is asked for: it takes all formats to know them."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Give the option with its help."""
        from tt_debugger.forking import composing

        self.help = f"For another agent: {', '.join(composing())}."
        return super().get_help_record(ctx)


@click.command("fork")
@location
@click.option("--set", "puts", metavar="PATH=JSON", multiple=True, help="Put a value at a path.")
@click.option("--drop", "drops", metavar="PATH", multiple=True, help="Take away what is there.")
@click.option("--message", metavar="TEXT", help="Add what the user says.")
@click.option("--edit", is_flag=True, help="Edit the message, else the state, in $EDITOR.")
@click.option("--note", metavar="TEXT", help="Why: kept with the fork.")
@click.option("--to", "target", metavar="PLACE", help="Where to write it: a file, a branch name.")
@click.option("--as", "agent", cls=_AgentOption, metavar="FORMAT")
@click.option("--in-place", is_flag=True, help="A branch in the session itself, where it can.")
@click.option("--dry-run", is_flag=True, help="Show the exact records, and write nothing.")
@json_option
def command(  # noqa: PLR0913 - one for each option
    location: str,
    *,
    puts: tuple[str, ...],
    drops: tuple[str, ...],
    message: str | None,
    edit: bool,
    note: str | None,
    target: str | None,
    agent: str | None,
    in_place: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Fork a session: write a new branch that the agent itself resumes.

    The fork begins with all that leads to the checkpoint, with or without an edit; the original
    stays as it is. Without a ref it begins at the active leaf. PATH is like messages[3].content
    or /messages/3/content; -1 is the last item of a list, and - the place behind it. A tool call
    is kept with its result. With --as another agent is told what was said; what cannot be carried
    over is named first. `ttdbg undo` takes a fork back.
    """
    from tt_debugger.core.fork.edits import parse_assignment, parse_path
    from tt_debugger.forking import Wish, composed, drafted, forked, standing

    assignments = [parse_assignment(each) for each in puts]
    with opened(location) as (debugger, fragment):
        row = debugger.point(fragment)
        at = standing(debugger, row, for_another_agent=agent is not None)
        asked = Asked(debugger, at)
        for path, value in assignments:
            asked.put(path, value)
        asked.drop([parse_path(each) for each in drops])
        if edit:
            asked.edit()
        # Another agent is told in its own words, whatever the format of this one.
        if message is not None and agent is None:
            asked.say(message)
        wish = Wish(note, target, in_place)
        if agent is None:
            draft = drafted(debugger, at, asked.edits, wish)
        else:
            draft = composed(debugger, at, agent, asked.edits, wish, said=message)
        _narrate(debugger, at, draft)
        is_told = dry_run and not as_json
        for each in () if is_told else draft.draft.notes:
            output.narrate(each)
        written = None if dry_run else forked(draft)
    _answer(draft, written, as_json=as_json)


def _edited_by_hand(value: State) -> Any:
    """Let the user edit a value as JSON. Raises UsageError where nothing good comes back."""
    from tt_debugger.forking.editor import edited_outside

    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    changed = edited_outside(text, ".json")
    if changed is None:
        raise UsageError("nothing was saved in the editor: nothing is written")
    try:
        after: Any = json.loads(changed)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"what was saved is no JSON: {error}", "nothing is written") from error
    if isinstance(value, dict) and not isinstance(after, dict):
        raise UsageError("what was saved is no object, as it was before", "nothing is written")
    return cast("Any", after)


def _narrate(debugger: Debugger, at: Standing, draft: Drafted) -> None:
    """Say what is otherwise than one may expect."""
    from tt_debugger.core.fork.edits import told_edit

    if at.row != at.asked:
        asked, row = (debugger.session.ids[each] for each in (at.asked, at.row))
        output.narrate(
            f"a tool call is kept with its result: forking at {row} instead of {asked}"
            f"; {quoted(asked)}~ is before the call"
        )
    for edit in draft.plan.edits:
        output.narrate(told_edit(at.state, edit))


def _answer(drafted: Drafted, written: Forked | None, *, as_json: bool) -> None:
    from tt_debugger.core.fork.told import told
    from tt_debugger.forking import ref_of

    draft = drafted.draft
    if as_json:
        records = list(told(draft))
        output.json_line(
            {
                "ttdbg": VERSION,
                "location": draft.location,
                "session": draft.session,
                "ref": ref_of(draft),
                "resume_command": draft.resume_command,
                "records": [each.value for each in records],
                "how": [str(each.how) for each in records],
                "notes": list(draft.notes),
                "operation": None if written is None else written.operation,
            }
        )
        return
    if written is None:
        output.lines(_dry_lines(drafted))
        output.narrate("nothing was written")
        return
    output.plain_lines([safe_line(ref_of(draft)), safe_text(draft.resume_command)])
    output.narrate(f"`ttdbg undo {written.operation}` takes it back")


def _dry_lines(drafted: Drafted) -> Iterator[Text]:
    from tt_debugger.views.fork import draft_lines

    yield from draft_lines(drafted.draft, output.palette(), output.glyphs())
