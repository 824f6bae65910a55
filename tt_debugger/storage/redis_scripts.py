"""Redis: a connection that sends what it is told once, and never again by itself.

What was sent when a connection broke may have been done or not; whoever wrote it has to look.
What the server or its driver says never gets into an error: it may repeat the address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_debugger.errors import CannotWriteError, TtdbgError
from tt_debugger.storage.redis import client_of
from tt_debugger.storage.redis_writing import refused
from tt_debugger.storage.refusals import refused_by_redis
from tt_debugger.storage.servers import admitted

Command = tuple[str | bytes | int, ...]

_BEFORE = ("connecting to", "invalid username", "invalid password", "Authentication", "NOAUTH")
"""What the driver says of a connection that was not made, so that nothing went through it."""


class RedisServer:
    """A database of a server that is written to by somebody who keeps a log there.

    Raises StoreError where its driver is missing.
    """

    def __init__(self, location: str) -> None:
        self.location = admitted(location)
        self._client = client_of(self.location)
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        self._client.set_retry(Retry(NoBackoff(), 0))

    def answers(self, *commands: Command) -> list[Any]:
        """Ask several things at once. Raises StoreError."""
        problem: TtdbgError
        try:
            return self._sent(commands, raises=True)
        except Exception as error:  # noqa: BLE001 - an option of the address may break the driver
            problem = refused_by_redis(self.location, error)
        raise problem

    def answer_if_any(self, command: Command) -> Any:
        """Ask one thing that a server may refuse to tell, or may not know: None then.

        Raises StoreError where no server answers.
        """
        import redis

        problem: TtdbgError
        try:
            (told,) = self._sent([command], raises=False)
        except Exception as error:  # noqa: BLE001 - an option of the address may break the driver
            problem = refused_by_redis(self.location, error)
        else:
            return None if isinstance(told, redis.RedisError) else told
        raise problem

    def written(self, *commands: Command) -> list[Any]:
        """Send several commands on one connection; give the answers.

        Raises CannotWriteError, or UnsupportedError for what the server cannot have.
        """
        import redis

        problem: TtdbgError
        try:
            return self._sent(commands, raises=True)
        except Exception as error:  # noqa: BLE001 - an option of the address may break the driver
            is_lost = isinstance(error, redis.ConnectionError | redis.TimeoutError)
            if is_lost and not any(each in str(error) for each in _BEFORE):
                # What is left of the answers must not be taken for those to something else.
                self.close()
                problem = CannotWriteError(
                    f"the connection to {self.location} was lost in the middle of writing:"
                    " whether anything was written is not known",
                    "write the same again: what is there is not added twice",
                )
            else:
                problem = refused(self.location, error)
        raise problem

    def close(self) -> None:
        """Let go of the connections; the next question makes a new one."""
        self._client.connection_pool.disconnect()

    def _sent(self, commands: Sequence[Command], *, raises: bool) -> list[Any]:
        pipeline = self._client.pipeline(transaction=False)
        for each in commands:
            pipeline.execute_command(*each)
        return pipeline.execute(raise_on_error=raises)


def told_by(info: bytes) -> Mapping[str, str]:
    """Give what a server tells of itself, as the answer to INFO has it."""
    lines = info.decode(errors="replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)
