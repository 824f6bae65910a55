"""An agent that is killed, again and again, until it has done its work.

Run as a program of its own, as only a process without threads may fork. It prints what it saw.

The work of a session is some steps; every third has an effect on a world outside, which is a file
that anybody may add a line to and look through, and that takes the same line twice. A kill comes
some reports and a random while after the agent was started, or where the agent does it itself:
before its effect, or between the effect and the record of it. So nothing depends on how fast a
machine is but the place at which a kill happens to hit.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from tt_debugger.errors import CannotWriteError
from tt_debugger.record.recorder import Recorder

STEPS = 12
EVERY = 3
"""Steps of which one has an effect."""
REPORTS = 6
"""Reports that are waited for before a kill, at most."""
EXPLICIT = 8
"""Kills of which one comes before an effect and one after it."""

Die = str | None
"""Where the agent kills itself: `before` its effect or `after` it; None where it does not."""


class Asked(msgspec.Struct, frozen=True):
    """What is to be done: `NUMBER` in the location gives way to that of the session.

    It ends after so many kills, or where `seconds` are given and over after the fewest of them.
    `has_sessions` tells that a session is named beside the location.
    """

    location: str
    folder: str
    kills: int
    seed: int
    seconds: float | None = None
    fewest: int = 0
    has_sessions: bool = False


class Place(msgspec.Struct, frozen=True):
    """Where an agent records, and its world."""

    location: str
    session: str
    world: str

    def opened(self) -> Recorder:
        start = {"n": 0, "messages": []}
        return Recorder.open(self.location, state=start, session=self.session)

    def effects(self) -> list[str]:
        """Give what happened in the world, in its order."""
        world = Path(self.world)
        return world.read_text().split() if world.exists() else []

    def effect(self, key: str) -> str:
        file = os.open(self.world, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, f"{key}\n".encode())
        os.close(file)
        return f"receipt of {key}"


def key_of(number: int) -> str | None:
    return f"effect-{number}" if number % EVERY == 0 else None


KEYS = [key for number in range(1, STEPS + 1) if (key := key_of(number))]


def agent(place: Place, say: Callable[[str], None], die: Die) -> None:
    """Do what is left of the work, and say what is done."""
    with place.opened() as recorder:
        say(f"opened {recorder.state['n']}")
        while (number := recorder.state["n"] + 1) <= STEPS:
            take_step(recorder, place, number, say, die)
            say(f"acknowledged {number}")
        say(f"finished {json.dumps([recorder.state, effects_of(recorder)])}")


def effects_of(recorder: Recorder) -> dict[str, str]:
    return {key: each.status for key, each in recorder.effects.items()}


def take_step(
    recorder: Recorder, place: Place, number: int, say: Callable[[str], None], die: Die
) -> None:
    key = key_of(number)

    def was_done() -> bool:
        answer = key in place.effects()
        say(f"unknown {'done' if answer else 'not'}")
        return answer

    def effect() -> str:
        assert key is not None
        if die == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        told = place.effect(key)
        if die == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return told

    with recorder.step(f"step {number}", effect_key=key, was_done=was_done) as step:
        say(f"begun {number}")
        if key:
            step.perform(effect)
        step.update(n=number)
        step.message({"role": "assistant", "content": f"step {number}"})


class Seen:
    """What was seen of all sessions."""

    def __init__(self) -> None:
        self.flaws: list[str] = []
        self.counts: Counter[str] = Counter()


class Session:
    """One session, whose agent is killed until its work is done."""

    def __init__(self, place: Place, seen: Seen) -> None:
        self.is_finished = False
        self.after: Die = None
        """How the agent ended itself the last time, where nobody has asked the world since."""
        self._place = place
        self._seen = seen
        self._last = 0
        """The last step that was acknowledged."""
        self._last_begun = 0
        self._heard: dict[str, Callable[[str], None]] = {
            "opened": self._opened,
            "begun": self._begun,
            "acknowledged": self._acknowledged,
            "unknown": self._unknown,
            "refused": self._refused,
            "finished": self._finished,
        }

    def run(self, reports: int, delay: float, die: Die) -> bool:
        """Let the agent run; tell whether it was killed."""
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            _run_child(self._place, readable, writable, die)
        os.close(writable)
        said = b""
        # What an agent that killed itself has left is always looked at.
        wanted = b"\nunknown" if self.after else b"\n"
        while wanted not in b"\n" + said or said.count(b"\n") < reports or die:
            more = os.read(readable, 1 << 16)
            if not more:
                break
            said += more
        if not die:
            time.sleep(delay)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        while more := os.read(readable, 1 << 16):
            said += more
        os.close(readable)
        is_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        self.hear(said.decode().splitlines())
        if die and is_killed:
            self.after = die
        return is_killed and not self.is_finished

    def hear(self, lines: list[str]) -> None:
        """Judge what an agent has said, and what became of the world."""
        for line in lines:
            what, _, about = line.partition(" ")
            hear = self._heard.get(what)
            if hear is None:
                self._seen.flaws.append(line)
            else:
                hear(about)
        happened = self._place.effects()
        if len(happened) != len({*happened}):
            self._seen.flaws.append(f"twice in {self._place}: {happened}")

    def _begun(self, number: str) -> None:
        self._seen.counts["repeated"] += int(number) <= self._last_begun
        self._last_begun = max(self._last_begun, int(number))

    def _acknowledged(self, number: str) -> None:
        self._last = int(number)

    def _unknown(self, answer: str) -> None:
        self._seen.counts[f"unknown {answer}"] += 1
        self.after = None

    def _refused(self, why: str) -> None:
        self._seen.counts["refused"] += 1
        if self._seen.counts["refused"] > self._seen.counts["opened"]:
            self._seen.flaws.append(f"refused again and again: {why}")

    def _opened(self, about: str) -> None:
        number = int(about)
        self._seen.counts["opened"] += 1
        if number < self._last:
            self._seen.flaws.append(f"lost: {self._last} was acknowledged, {number} is there")
        if number > self._last_begun:
            self._seen.flaws.append(f"{number} is there and was not begun")
        if self._last_begun - number > 1:
            self._seen.flaws.append(f"{self._last_begun} was begun, {number} is there")

    def _finished(self, about: str) -> None:
        self.is_finished = True
        self._seen.counts["finished"] += 1
        if tuple(json.loads(about)) != EXPECTED:
            self._seen.flaws.append(f"other than without kills: {about}")
        if self._place.effects() != KEYS:
            self._seen.flaws.append(f"the world is another: {self._place.effects()}")


EXPECTED = (
    {
        "n": STEPS,
        "messages": [
            {"role": "assistant", "content": f"step {number}"} for number in range(1, STEPS + 1)
        ],
    },
    dict.fromkeys(KEYS, "done"),
)
"""The state and the effects at the end, where nothing is killed."""


def _run_child(place: Place, readable: int, writable: int, die: Die) -> None:
    os.close(readable)

    def say(line: str) -> None:
        os.write(writable, f"{line}\n".encode())

    try:
        while True:
            try:
                agent(place, say, die)
                break
            except CannotWriteError as error:
                # A server may still do what an agent asked of it that is dead by now.
                say(f"refused {error.message}")
    except BaseException as error:  # noqa: BLE001 - it is told, and the process ends
        say(f"{type(error).__name__}: {error}".replace("\n", " "))
    os._exit(0)


def main(asked: Asked) -> None:
    rng = random.Random(asked.seed)  # noqa: S311 - moments, no secrets
    began = time.monotonic()
    seen = Seen()
    typical = _time_of_a_step(asked)
    # What is there by now stays, and is not looked through in each process that comes of this.
    gc.freeze()
    killed = number = 0
    session = None
    while killed < asked.kills and not seen.flaws:
        is_over = asked.seconds is not None and time.monotonic() - began > asked.seconds
        if is_over and killed >= asked.fewest:
            break
        if session is None or session.is_finished:
            number += 1
            session = Session(_place(asked, number), seen)
        die = {0: "before", EXPLICIT // 2: "after"}.get(killed % EXPLICIT)
        delay = rng.uniform(0, 1.5 * typical)
        if session.run(rng.randint(1, REPORTS), delay, None if session.after else die):
            killed += 1
            seen.counts[f"killed {die or 'at random'}"] += 1
    while session is not None and not session.is_finished and not seen.flaws:
        session.run(1 << 30, 0.0, None)
    told = {"kills": killed, "sessions": number, "flaws": seen.flaws, **seen.counts}
    print(json.dumps(told | {"seconds": round(time.monotonic() - began, 1)}))  # noqa: T201 - the answer


def _place(asked: Asked, number: int) -> Place:
    world = f"{asked.folder}/world-{number}"
    location = asked.location.replace("NUMBER", str(number))
    return Place(location, f"s{number}" if asked.has_sessions else "main", world)


def _time_of_a_step(asked: Asked) -> float:
    """Give how long a step takes about; a session without kills must be as expected.

    All that a recorder imports is imported then, once for all processes that come of this one.
    """
    seen = Seen()
    place = _place(asked, 0)
    said: list[str] = []
    began = time.monotonic()
    agent(place, said.append, None)
    took = time.monotonic() - began
    Session(place, seen).hear(said)
    assert seen.flaws == [], seen.flaws
    assert seen.counts["finished"] == 1
    return took / STEPS


if __name__ == "__main__":
    main(msgspec.json.decode(sys.argv[1], type=Asked))
