"""A step: what an agent does between two checkpoints, recorded as one when it ends.

A step that fails is recorded as a failure and changes nothing. Around an effect with a key are
recorded that it is intended, that it begins and that it is done; the step's changes are recorded
with the last of these, so that neither is there without the other.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec

from tt_debugger.core.json import canonical
from tt_debugger.core.model import Usage
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import Event, Failure
from tt_debugger.errors import EffectUnknownError, UsageError
from tt_debugger.record.models import json_of

if TYPE_CHECKING:
    from tt_debugger.record.recorder import Recorder

_T = TypeVar("_T")

LONGEST_FAILURE = 10_000
"""Characters of an error that are recorded."""


class About(msgspec.Struct, frozen=True):
    """What a step is: its name, the tool that it calls, what it used, why it is a critical one.

    `effect_key` is the key of the effect that it has on the world. Of an effect that may have
    happened or not, `was_done` asks the world; with `retry_unknown` it is done again, because
    whoever receives it takes the same key for the same effect.
    """

    name: str = ""
    tool: str | None = None
    usage: Usage | None = None
    event: Event | None = None
    effect_key: str | None = None
    was_done: Callable[[], bool] | None = None
    retry_unknown: bool = False


class Step:
    """A step that is being taken; a context manager, of both kinds."""

    def __init__(self, recorder: Recorder, about: About) -> None:
        self.about = about
        self._recorder = recorder
        self._base: Any = None
        self._updates: list[Mapping[str, Any]] = []
        self._has_happened = False
        """Whether the effect happened in this step, and not before."""
        self._is_done = False
        self._result: Any = None

    @property
    def effect(self) -> Effect | None:
        """What is known of the step's effect, None where it has none or nothing is known."""
        key = self.about.effect_key
        return None if key is None else self._recorder.effects.get(key)

    @property
    def is_done(self) -> bool:
        """Whether the effect has happened, now or before."""
        return self._is_done

    @property
    def result(self) -> Any:
        """What the effect gave, as JSON has it; None where it was not done."""
        return self._result

    def update(self, fields: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Change fields of the state, each by its reducer, when the step ends."""
        self._updates.append(self._recorder.as_json({**(fields or {}), **named}))

    def message(self, message: Any) -> None:
        """Add a message when the step ends."""
        self.update(messages=[message])

    def save(self, state: Any) -> None:
        """Have the state be this one when the step ends, as far as it differs from before."""
        self._must_be_entered()
        self._updates.append(self._recorder.fields_that_differ(self._base, state))

    def perform(self, function: Callable[..., _T], /, *arguments: Any, **named: Any) -> _T | Any:
        """Have the effect, unless it happened before; give what it gave, then or now.

        What it gave before is as JSON has it. Raises what the function raises: whether the effect
        happened is unknown then. Raises UsageError for a function that is to be awaited, or that
        gives a generator: calling it makes nothing happen.
        """
        _must_happen_when_called(function, may_await=False)
        if not self._begin(input_hash(arguments, named)):
            return self._result
        result = function(*arguments, **named)
        if inspect.isawaitable(result):
            raise _to_be_awaited(function)
        self.done(result)
        return result

    async def perform_async(
        self, function: Callable[..., Awaitable[_T]], /, *arguments: Any, **named: Any
    ) -> _T | Any:
        """Do the same with a function that is awaited."""
        _must_happen_when_called(function, may_await=True)
        if not await asyncio.to_thread(self._begin, input_hash(arguments, named)):
            return self._result
        result = await function(*arguments, **named)
        self.done(result)
        return result

    def begin(self) -> None:
        """Record that the effect begins: from here on it may have happened. Raises UsageError.

        It is for who cannot `perform` it by calling a function.
        """
        if not self._begin(None):
            raise UsageError(
                f"the effect {self._key()!r} is done", "see `is_done` before you begin it"
            )

    def done(self, result: Any = None) -> None:
        """Say that the effect has happened, and what it gave; recorded when the step ends."""
        self._key()
        self._is_done = self._has_happened = True
        self._result = result

    def __enter__(self) -> Self:
        if self._base is not None:
            raise UsageError(
                "the step was taken already", "a step is taken once: recorder.step(...) gives one"
            )
        self._base = self._recorder.recorded_state
        key = self.about.effect_key
        if key is not None:
            self._meet(key)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._fail(error)
            return
        try:
            self._end()
        except UsageError as refused:
            # What it was to change cannot be merged.
            self._fail(refused)
            raise

    def _fail(self, error: BaseException) -> None:
        """Record that the step failed, and what of it happened."""
        if self._has_happened:
            # What went wrong came after: what happened must be known.
            self._recorder.note_effect(self.about, "done", result=self._result)
        event: Event = "error" if isinstance(error, Exception) else "interrupt"
        failure = failure_of(error)
        about = msgspec.structs.replace(self.about, event=event)
        self._recorder.note_step(about, (), failure=failure)

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Whoever is cancelled still has what happened recorded.
        await asyncio.shield(asyncio.to_thread(self.__exit__, kind, error, trace))

    def _meet(self, key: str) -> None:
        """See what is known of the effect, and say that it is intended where it is not done."""
        known = self.effect
        if known is not None and known.status is Status.UNKNOWN and self.about.was_done:
            self._recorder.settle(key, done=bool(self.about.was_done()))
        with self._recorder.alone():
            if self._is_still_to_do(key) is Status.NOT_DONE:
                self._recorder.note_effect(self.about, "intended")

    def _begin(self, given: str | None) -> bool:
        """Record that the effect begins, and tell so; False where it is done, here or elsewhere.

        A step inside of this one, on another branch or in another thread may have had it since.
        """
        key = self._key()
        self._must_be_entered()
        if self._is_done:
            return False
        with self._recorder.alone():
            if self._is_still_to_do(key) is None:
                return False
            self._recorder.note_effect(self.about, "begun", input_hash=given)
        return True

    def _is_still_to_do(self, key: str) -> Status | None:
        """Give what is known of the effect, None where it is done and its result is taken over.

        Raises EffectUnknownError where it may have happened and must not be tried again. One that
        is tried again stays unknown: to intend it once more does not undo that it was begun.
        """
        known = self.effect
        if known is None:
            return Status.NOT_DONE
        if known.status is Status.DONE:
            self._is_done, self._result = True, known.result
            return None
        if known.status is Status.UNKNOWN and not self.about.retry_unknown:
            raise _unknown(key)
        return known.status

    def _end(self) -> None:
        if self._has_happened:
            self._recorder.note_effect(
                self.about, "done", result=self._result, updates=self._updates
            )
        else:
            self._recorder.note_step(self.about, self._updates)

    def _must_be_entered(self) -> None:
        if self._base is None:
            raise UsageError(
                "the step has not begun", "use it in a block: with recorder.step(...) as step"
            )

    def _key(self) -> str:
        if self.about.effect_key is None:
            raise UsageError(
                "the step has no effect",
                "give it a key: recorder.step(name, effect_key=...)",
            )
        return self.about.effect_key


def failure_of(error: BaseException) -> Failure:
    """Give what is recorded of an error: its type, and its text as far as it is text."""
    text = str(error)[:LONGEST_FAILURE].encode(errors="replace").decode()
    return Failure(type(error).__name__, text)


def _must_happen_when_called(function: Callable[..., Any], *, may_await: bool) -> None:
    """Raise UsageError for a function of which nothing happens when it is called."""
    if inspect.iscoroutinefunction(function) and not may_await:
        raise _to_be_awaited(function)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise UsageError(
            f"{_name_of(function)} gives a generator: nothing happens when it is called",
            "perform a function that goes through it",
        )


def _to_be_awaited(function: Callable[..., Any]) -> UsageError:
    return UsageError(
        f"what {_name_of(function)} gives is to be awaited",
        "write `await step.perform_async(...)`",
    )


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _unknown(key: str) -> EffectUnknownError:
    return EffectUnknownError(
        f"whether the effect {key!r} happened is not known: it was begun, "
        "and nothing says how it ended",
        "look, and say so with `recorder.settle(key, done=...)`; or give the step `was_done`, "
        "which looks, or `retry_unknown`, where the same key does it once",
    )


def input_hash(arguments: Sequence[Any], named: Mapping[str, Any]) -> str | None:
    """Give the SHA-256 of what goes into an effect; None where JSON has no form for it."""
    try:
        return sha256(canonical(json_of([list(arguments), dict(named)]))).hexdigest()
    except UsageError:
        return None
