"""An agent that saves its state whole after each turn, and the letter that went out twice.

First the state and its parts, then the run that changes and saves it, then the story.
"""
# ruff: noqa: INP001 - a script imports this from beside itself; there is no package

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

Status = Literal["running", "paused", "completed", "failed", "awaiting_human"]


@dataclass
class PlanStep:
    """A step of the plan."""

    description: str
    status: Literal["pending", "in_progress", "done"] = "pending"


@dataclass
class Message:
    """What was said, or what a tool answered."""

    id: str
    role: Literal["user", "assistant", "tool"]
    content: str


@dataclass
class WorkingMemory:
    """What the agent has in mind."""

    focus: str
    facts: list[str]
    open_questions: list[str]


@dataclass
class ConversationMemory:
    """What it would keep of a conversation that is too long."""

    summary: str
    most_messages: int


@dataclass
class MemoryRef:
    """Where a memory is kept."""

    id: str
    about: str


@dataclass
class ToolSpec:
    """A tool that the agent may call."""

    name: str
    description: str


@dataclass
class ToolCall:
    """A call with what came of it."""

    id: str
    name: str
    arguments: dict[str, object]
    result: str
    failed: bool
    seconds: float


@dataclass(kw_only=True)
class AnyState:
    """What every version of the state holds."""

    schema_version: int
    thread_id: str
    agent_id: str
    user_id: str
    goal: str
    current_step: int
    messages: list[Message]
    working_memory: WorkingMemory
    short_term_memory: ConversationMemory
    available_tools: list[ToolSpec]
    tool_call_history: list[ToolCall]
    iterations: int
    tokens_used: int
    cost_usd: float
    start_time: datetime
    last_checkpoint: datetime
    status: Status
    checkpointer_metadata: dict[str, object]


@dataclass(kw_only=True)
class StateOfVersion2(AnyState):
    """The state before the update of the workers: memories stand in it, a plan does not."""

    schema_version: int = 2
    long_term_memory: list[str]


@dataclass(kw_only=True)
class AgentState(AnyState):
    """The state of today."""

    schema_version: int = 3
    plan: list[PlanStep] | None
    long_term_refs: list[MemoryRef]


def migrated(state: StateOfVersion2) -> AgentState:
    """Gives a state of version 2 as one of version 3: with a plan, and references to memories."""
    kept: dict[str, Any] = {each.name: getattr(state, each.name) for each in fields(AnyState)}
    kept["schema_version"] = 3
    refs = [
        MemoryRef(f"mem-{number}", about)
        for number, about in enumerate(state.long_term_memory, start=1)
    ]
    return AgentState(**kept, plan=None, long_term_refs=refs)


class Run:
    """The agent at work: its state now, and the lines that its checkpointer has written."""

    def __init__(self, state: AnyState) -> None:
        """Begins with a state that is not saved yet."""
        self.state = state
        self.lines: list[str] = []

    def message(self, role: Literal["user", "assistant", "tool"], content: str) -> None:
        """Adds a message."""
        said = self.state.messages
        said.append(Message(f"m{len(said) + 1}", role, content))

    def turn(self, content: str) -> None:
        """Begins a turn with what the model says; its tokens are a fair guess."""
        read = 640 + sum(len(each.content) for each in self.state.messages) // 4
        written = 40 + len(content) // 4
        self.state.iterations += 1
        self.state.tokens_used += read + written
        self.state.cost_usd = round(self.state.cost_usd + read * 3e-6 + written * 15e-6, 6)
        self.message("assistant", content)

    def call(
        self, name: str, result: str, seconds: float, *, failed: bool = False, **arguments: object
    ) -> None:
        """Adds a call of a tool, and what the tool answered."""
        calls = self.state.tool_call_history
        calls.append(ToolCall(f"t{len(calls) + 1}", name, arguments, result, failed, seconds))
        self.message("tool", result)

    def learn(self, fact: str, focus: str, *questions: str) -> None:
        """Adds a fact, and turns to what follows from it."""
        memory = self.state.working_memory
        self.state.working_memory = WorkingMemory(focus, [*memory.facts, fact], [*questions])

    def save(self, reason: str, seconds: float, status: Status = "running") -> None:
        """Writes the state, `seconds` after the last time."""
        state = self.state
        state.status = status
        state.last_checkpoint += timedelta(seconds=seconds)
        saves = len(self.lines) + 1
        state.checkpointer_metadata = {"backend": "jsonl", "saves": saves, "reason": reason}
        self.lines.append(json.dumps(asdict(state), default=datetime.isoformat))


# --- The story: a letter that went out twice ---------------------------------------------------

TOOLS = [
    ToolSpec("query", "Run SQL on the members' database."),
    ToolSpec("read_log", "Read the log of a service between two times."),
    ToolSpec("change_schema", "Change the tables of the members' database."),
    ToolSpec("sandbox_send", "Send a letter to made-up members; nothing leaves the sandbox."),
    ToolSpec("send", "Send a letter to members. Needs the consent of a human."),
]
ASKED = (
    "Some members got the September letter twice. Find out why, and see to it that it cannot "
    "happen in October."
)
STEPS = [
    "Make it happen in the sandbox",
    "Make a second copy impossible",
    "Try the October letter in the sandbox",
    "Apologise to the 412 members",
]
MAILER_LOG = """\
06:00:01 worker-a: took letter-2026-09/2 (412 members)
06:30:01 queue: letter-2026-09/2 not confirmed within 1800 s, offered again
06:31:10 worker-b: took letter-2026-09/2 (412 members)
06:44:37 worker-b: finished letter-2026-09/2
06:58:41 worker-a: finished letter-2026-09/2"""
DRAFT = """\
May I send this to the 412 members?

Dear member, on 1 September our letter reached you twice. One of our two senders was slow, and \
the queue took it for dead and gave its work to the other. We have changed our database so that \
it refuses a second copy. Please forgive the noise, and this third letter."""


def agent_state_story() -> bytes:
    """Gives the states of the run, a line each."""
    started = datetime(2026, 9, 10, 9, 2, 11, 318_204, tzinfo=UTC)
    state = StateOfVersion2(
        thread_id="letter-2026-09",
        agent_id="postmaster",
        user_id="ines",
        goal="Nobody gets a letter twice",
        current_step=0,
        messages=[],
        working_memory=WorkingMemory("how many, and who?", [], []),
        short_term_memory=ConversationMemory("", 40),
        available_tools=TOOLS,
        tool_call_history=[],
        iterations=0,
        tokens_used=0,
        cost_usd=0.0,
        start_time=started,
        last_checkpoint=started,
        status="running",
        checkpointer_metadata={},
        long_term_memory=["Letters go out on the 1st of a month at 06:00, in parts."],
    )
    run = Run(state)
    find_the_cause(run, state)
    current = migrated(state)
    run.state = current
    run.save("migration", 412.7)
    make_it_impossible(run, current)
    apologise(run, current)
    return "".join(f"{line}\n" for line in run.lines).encode()


def find_the_cause(run: Run, state: StateOfVersion2) -> None:
    """Three questions to the data; then the workers are stopped for an update."""
    run.message("user", ASKED)
    run.save("start", 0.2)

    run.turn("How many are they?")
    run.call(
        "query",
        "copies | members\n     1 |    1492\n     2 |     412",
        0.31,
        sql="SELECT copies, count(*) AS members FROM (SELECT count(*) AS copies FROM sends "
        "WHERE letter = '2026-09' GROUP BY member) GROUP BY copies",
    )
    run.learn("412 of 1904 members have two copies", "what do they share?", "Same mail provider?")
    run.save("tool_call", 6.4)

    run.turn("No third copies: something ran twice. When did the second ones go out?")
    run.call(
        "query",
        "part | copy | first | last\n   2 |    1 | 06:00 | 06:58\n   2 |    2 | 06:31 | 06:44",
        0.28,
        sql="SELECT part, copy, min(at) AS first, max(at) AS last FROM numbered_sends "
        "WHERE letter = '2026-09' AND part = 2 GROUP BY part, copy",
    )
    run.learn(
        "all 412 are in part 2; its second run began while the first still ran",
        "who started part 2 again at 06:31?",
    )
    run.save("tool_call", 9.8)

    run.turn("All in part 2, and the runs overlap. The log of the mailer should say who began.")
    run.call("read_log", MAILER_LOG, 0.12, service="mailer", begin="06:00", end="07:00")
    run.learn(
        "the queue offers a job again after 1800 s; worker-a took 3520 s",
        "how to make a second copy impossible",
        "Longer time in the queue, or a rule in the database?",
    )
    state.long_term_memory.append("The queue offers a job again after 1800 s without an answer.")
    run.save("tool_call", 8.1)
    run.save("shutdown: workers are being updated", 3.3, "paused")


def make_it_impossible(run: Run, state: AgentState) -> None:
    """The plan, the sandbox, and an index that the old rows do not allow at first."""
    run.turn(
        "A longer time in the queue only makes it rarer. The database shall refuse the second "
        "copy. First I want to see it happen, in the sandbox."
    )
    state.plan = [PlanStep(each) for each in STEPS]
    go_on(state)
    run.save("plan_change", 5.2)

    run.turn("50 made-up members, and one sender that is slower than the queue's patience.")
    run.call(
        "sandbox_send",
        "100 letters to 50 members: 50 have two copies",
        44.9,
        letter="2026-09",
        members=50,
        slow_sender_seconds=1860,
    )
    run.learn("it happens in the sandbox each time", "a unique index on sends")
    go_on(state)
    run.save("tool_call", 51.6)

    run.turn("It happens. Now the index.")
    run.call(
        "change_schema",
        "ERROR: could not create unique index: 412 keys are there twice",
        0.84,
        failed=True,
        sql="CREATE UNIQUE INDEX one_copy ON sends (letter, member)",
    )
    state.plan.insert(1, PlanStep("Move the second copies of September away", "in_progress"))
    state.plan[2].status = "pending"
    run.save("plan_change", 7.7)

    run.turn("Of course: September itself is in the way. Its second copies go to a table apart.")
    run.call(
        "query",
        "412 rows moved to second_copies",
        0.65,
        sql="WITH moved AS (DELETE FROM sends WHERE id IN (SELECT id FROM numbered_sends WHERE "
        "copy = 2) RETURNING *) INSERT INTO second_copies SELECT * FROM moved",
    )
    go_on(state)
    run.call(
        "change_schema",
        "done",
        0.91,
        sql="CREATE UNIQUE INDEX one_copy ON sends (letter, member)",
    )
    run.learn("the index one_copy refuses a second copy", "does October go through?")
    go_on(state)
    run.save("tool_call", 12.4)

    run.turn("The same slow sender, with the October letter.")
    run.call(
        "sandbox_send",
        "50 letters to 50 members: each has one copy; 50 refused by one_copy",
        45.2,
        letter="2026-10",
        members=50,
        slow_sender_seconds=1860,
    )
    run.learn("October: one copy each, with the same slow sender", "a word to the 412")
    go_on(state)
    run.save("tool_call", 52.0)


def apologise(run: Run, state: AgentState) -> None:
    """The draft waits for consent, comes back with a wish, and goes out."""
    run.turn(DRAFT)
    run.save("human_interrupt", 6.9, "awaiting_human")

    run.message("user", "Yes, but in two sentences. And not to those who have left us since.")
    run.save("human_answer", 2_874.5)

    run.turn("Two sentences, and only to those who are still members.")
    run.call(
        "send",
        "403 sent, 9 left out, 0 refused",
        31.7,
        to="second_copies, still members",
        text="Dear member, our September letter reached you twice, and we are sorry. It cannot "
        "happen again: our database now refuses a second copy.",
    )
    run.learn("403 of the 412 are still members, and have our apology", "nothing is left")
    go_on(state)
    run.save("end", 39.3, "completed")


def go_on(state: AgentState) -> None:
    """Ends the step of the plan that is being done, and begins the next one."""
    steps = state.plan or []
    for step in steps:
        if step.status == "in_progress":
            step.status = "done"
    waiting = [number for number, step in enumerate(steps, start=1) if step.status == "pending"]
    if waiting:
        state.current_step = waiting[0]
        steps[waiting[0] - 1].status = "in_progress"
