from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.text import acting
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UsageError
from tt_debugger.formats.handoff.fields import document_of
from tt_debugger.record.handing_off import (
    Facts,
    HandoffRead,
    composed,
    point_of,
    read,
    state_digest,
)
from tt_debugger.record.recorder import Recorder

FACTS = Facts(
    session="s1",
    location="run.jsonl",
    checkpoint="c7",
    digest=state_digest({"n": 1}),
    time="2026-01-02T03:04:05Z",
    next_step="Write the tests of the parser",
    blockers=("The server is down", "Nobody knows the password"),
    decisions=("Tokens are kept as spans",),
    effects=(
        Effect("mail-1", Status.UNKNOWN, "c5", tool="send_mail"),
        Effect("deploy", Status.NOT_DONE, "c6"),
    ),
    title="Parser",
)
READ = HandoffRead(
    "s1",
    "run.jsonl",
    "c7",
    FACTS.digest,
    FACTS.next_step,
    FACTS.blockers,
    FACTS.decisions,
)
GOLDEN = f"""\
# Handoff: Parser

- Session: `s1`
- Checkpoint path: `run.jsonl#c7`
- Written at: `2026-01-02T03:04:05Z`

## Next step

- Write the tests of the parser

## Blockers

- The server is down
- Nobody knows the password

## Decisions

- Tokens are kept as spans

## Open effects

- `mail-1` (send_mail): unknown: it was begun, and nothing says how it ended
- `deploy`: not done

## For programs

What stands above may be corrected by hand. By this block the next session finds its
checkpoint; leave it as it is.

```json
{{
  "ttdbg_handoff": 1,
  "session": "s1",
  "location": "run.jsonl",
  "checkpoint": "c7",
  "state_sha256": "{FACTS.digest}",
  "written_at": "2026-01-02T03:04:05Z",
  "title": "Parser",
  "next_step": "Write the tests of the parser",
  "blockers": [
    "The server is down",
    "Nobody knows the password"
  ],
  "decisions": [
    "Tokens are kept as spans"
  ]
}}
```
"""

hostile = st.sampled_from(
    (
        "```json\n",
        "```\n",
        "~~~\n",
        "# Blockers\n",
        "Blockers\n===\n",
        "Session: evil\n",
        "**Checkpoint path**: /etc/passwd\n",
        "- Written at: never\n",
        "<!-- \n",
        "---\n",
        "none",
        "\n\n",
        "    code\n",
        "> quote\n",
        "[x](y)",
        '{"ttdbg_handoff":1}',
        "\x1b[31m",
        "\u202e",
        "\r\n",
        "- [ ] box\n",
    )
)
texts = st.lists(st.text(max_size=8) | hostile, max_size=6).map("".join)
facts = st.builds(
    Facts,
    session=st.sampled_from(("s1", "a b", "x/y")),
    location=st.sampled_from(("run.jsonl", "runs/run.db#main:", "memory:")),
    checkpoint=st.sampled_from(("c7", "01J:x")),
    digest=st.just(FACTS.digest),
    time=st.just(FACTS.time),
    next_step=st.none() | texts,
    blockers=st.lists(texts, max_size=3).map(tuple),
    decisions=st.lists(texts, max_size=3).map(tuple),
    effects=st.lists(
        st.builds(Effect, texts, st.sampled_from(Status), st.just("e"), st.none() | texts),
        max_size=2,
    ).map(tuple),
    title=st.none() | texts,
)


def as_read(given: Facts) -> HandoffRead:
    return HandoffRead(
        given.session,
        given.location,
        given.checkpoint,
        given.digest,
        given.next_step,
        given.blockers,
        given.decisions,
    )


def test_a_handoff_is_markdown_for_people_with_a_block_for_programs():
    assert composed(FACTS) == GOLDEN
    assert read(GOLDEN) == READ


def test_what_there_is_nothing_of_is_said_to_be_none():
    bare = msgspec.structs.replace(
        FACTS, next_step=None, blockers=(), decisions=(), effects=(), title=None
    )
    text = composed(bare)
    assert text.startswith("# Handoff: s1\n")
    assert text.count("\n\nNone.\n") == 4
    assert read(text) == as_read(bare)


def test_a_handoff_opens_like_any_other_and_leads_to_its_checkpoint(tmp_path: Path):
    with Recorder.open(str(tmp_path / "run.jsonl"), state={"n": 1}) as recorder:
        checkpoint = recorder.record({"n": 2}, "count")
    text = composed(msgspec.structs.replace(FACTS, checkpoint=checkpoint, time="2100-01-01"))
    (tmp_path / "handoff.md").write_text(text, encoding="utf-8")
    with Debugger.open(str(tmp_path / "handoff.md")) as debugger:
        session = debugger.session
        state = debugger.state(0)
        assert session.format == "handoff"
        assert session.findings == ()
        assert dict(session.subsessions) == {0: (f"run.jsonl#{checkpoint}",)}
    assert state == {
        "title": "Handoff: Parser",
        "task": None,
        "next_step": FACTS.next_step,
        "checkpoint_path": f"run.jsonl#{checkpoint}",
        "session_id": "s1",
        "written_at": "2100-01-01",
        "blockers": list(FACTS.blockers),
        "decisions": list(FACTS.decisions),
        "completed_steps": [],
        "pending_steps": [],
        "artifacts": [],
        "text": text,
    }


def test_what_people_correct_counts():
    text = GOLDEN.replace("- Write the tests of the parser", "Fix the lexer first,\nthen rest")
    text = text.replace("- The server is down\n", "").replace(
        "- Tokens are kept as spans", "* Tokens are kept as spans\n* Spaces too"
    )
    assert read(text) == msgspec.structs.replace(
        READ,
        next_step="Fix the lexer first,\nthen rest",
        blockers=("Nobody knows the password",),
        decisions=("Tokens are kept as spans", "Spaces too"),
    )


def test_of_a_next_step_that_was_written_anew_all_counts():
    step = "First:\n\n1. fix the lexer\n2. fix the parser\n\n### Then\n\nShip it."
    text = GOLDEN.replace("- Write the tests of the parser", step)
    assert read(text) == msgspec.structs.replace(READ, next_step=step)
    text = GOLDEN.replace("Write the tests of the parser", "Ship\n\n  and rest", 1)
    assert read(text) == msgspec.structs.replace(READ, next_step="Ship\n\nand rest")


def test_what_people_take_away_is_gone():
    text = GOLDEN.replace("- The server is down\n- Nobody knows the password\n", "None.\n")
    text = text.replace("## Next step\n\n- Write the tests of the parser\n", "")
    assert read(text) == msgspec.structs.replace(READ, next_step=None, blockers=())


@pytest.mark.parametrize(
    "edited",
    [
        GOLDEN.replace("\n", "\r\n"),
        "\ufeff" + GOLDEN,
        "Read this first!\n\n" + GOLDEN + "\nSigned, A.\n",
        GOLDEN.replace("- ", "*   "),
        GOLDEN.replace("Write the tests", "Write the\n  tests", 1),
        GOLDEN.replace("## Open effects", "## Notes\n\nMail them.\n\n## Open effects"),
        GOLDEN.removesuffix("```\n"),
        GOLDEN.replace("run.jsonl#c7", "elsewhere.jsonl#c1"),
        composed(msgspec.structs.replace(FACTS, session="an older one"))
        + "\n"
        + GOLDEN[GOLDEN.index("## For programs") :],
    ],
)
def test_the_block_survives_what_is_done_around_it(edited):
    assert read(edited) == READ


@given(facts)
def test_a_handoff_gives_back_exactly_what_it_was_made_of(given):
    assert read(composed(given)) == as_read(given)


@given(facts)
def test_no_text_in_a_handoff_is_taken_for_another_part_of_it(given):
    plain = msgspec.structs.replace(
        given,
        next_step=given.next_step and "x",
        blockers=tuple("x" for _ in given.blockers),
        decisions=tuple("x" for _ in given.decisions),
        effects=(),
        title="x",
    )
    found, wanted = document_of(composed(given)), document_of(composed(plain))
    for field in ("session_id", "checkpoint_path", "written_at", "task", "artifacts"):
        assert found[field] == wanted[field]
    assert found["completed_steps"] == found["pending_steps"] == []
    assert len(found["title"]) > 0


@given(facts)
def test_nothing_in_a_handoff_acts_on_a_terminal_or_hides(given):
    assert acting(composed(given)) == set()


def test_half_a_character_cannot_be_handed_off():
    with pytest.raises(UsageError, match="half a character"):
        composed(msgspec.structs.replace(FACTS, next_step="\ud800"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text is no handoff of a recorder: there is no block for programs in it"),
        (
            "# Handoff\n\nNext step: go on\n",
            "the text is no handoff of a recorder: there is no block for programs in it",
        ),
        (
            GOLDEN.replace('"session": "s1",\n', ""),
            (
                "the text is no handoff of a recorder: its block for programs is damaged:"
                " Object missing required field `session`"
            ),
        ),
        (
            GOLDEN.replace('"c7"', "c7"),
            (
                "the text is no handoff of a recorder: its block for programs is damaged:"
                " JSON is malformed: invalid character (byte 86)"
            ),
        ),
        (
            "```\n" + GOLDEN,
            "the text is no handoff of a recorder: there is no block for programs in it",
        ),
        (
            GOLDEN.replace('"ttdbg_handoff": 1', '"ttdbg_handoff": 2'),
            "the handoff has version 2, and version 1 is known",
        ),
    ],
)
def test_a_text_that_is_no_handoff_is_refused(text, message):
    with pytest.raises(UsageError) as caught:
        read(text)
    assert caught.value.message == message
    assert caught.value.hint is not None


def test_a_checkpoint_is_named_as_the_command_line_takes_it():
    assert point_of("run.jsonl", "c7") == "run.jsonl#c7"
    assert point_of("run.jsonl", "a:b") == "run.jsonl#a%3Ab"
    assert point_of("run.db#main:", "c7") == "run.db#main:c7"
    assert point_of("git:.#refs/agents/run", "c7") == "git:.#refs/agents/run:c7"


def test_the_digest_of_a_state_does_not_depend_on_the_order_of_its_keys():
    assert state_digest({"a": 1, "b": [True]}) == state_digest({"b": [True], "a": 1})
    assert state_digest({"a": 1}) != state_digest({"a": 1.0})
    assert state_digest({}) == ("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")
