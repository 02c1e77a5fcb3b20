"""Operations of the table, asked of a server. What a noun does in a way of its own is in its module."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from harena.core.clock import Clock
from harena.core.errors import SandboxUnavailableError
from harena.core.idempotency import IdempotencyKey
from harena.core.operations.operation import Operation
from harena.core.reconnecting import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, MOST_AWAY_SECONDS
from harena.core.records.record import Record
from harena.sdk.http.connection import CLOSED, Connection, step

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", bound=Record)

WAIT_SECONDS = 30
"""how long one request waits for something's end; asked again for as long as somebody waits"""


class Calls:
    """A client of one server. Used from one event loop."""

    _connection: Connection
    _clock: Clock

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """These arguments, of which those in the path can stand there. Raises NotFoundError, ValidationError."""
        return given

    async def place(self, operation: Operation[Any, Any], **given: Any) -> str:
        """The path of an operation on the thing that these arguments name."""
        given = {**await self.reachable(operation.noun, given)}
        return operation.path.format(**{name: step(str(value)) for name, value in given.items()})

    async def call(self, operation: Operation[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the port of the operation would give."""
        return await self.asked(operation, operation.given(*args, **kwargs))

    async def waited(self, operation: Operation[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `call` gives when the thing has ended, or after WAIT_SECONDS."""
        return await self.asked(operation, operation.given(*args, **kwargs), wait_seconds=WAIT_SECONDS)

    async def created(
        self, operation: Operation[Any, Coroutine[Any, Any, T]], content: Any, key: IdempotencyKey | None = None
    ) -> T:
        """Ask for a creation, and once more where its answer was lost: its idempotency key makes it the same one."""
        headers = {"idempotency-key": uuid.uuid4().hex if key is None else key.key}
        return await self.twice(
            lambda: self._read(
                operation,
                self._connection.json(operation.method, operation.path, content=content, headers=headers),
            )
        )

    async def twice(self, ask: Callable[[], Awaitable[T]]) -> T:
        """A creation whose answer was lost is asked for again: its idempotency key makes it the same one."""
        try:
            return await ask()
        except SandboxUnavailableError as error:
            if error.reason != "CONNECTION_LOST":
                raise
        return await ask()

    async def patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What is asked, as soon as a server answers."""
        away, pause = 0.0, FIRST_PAUSE_SECONDS
        while True:
            try:
                return await ask()
            except SandboxUnavailableError as error:
                if error.reason == CLOSED:
                    raise
                if away >= MOST_AWAY_SECONDS:
                    said = f"{error} (it was tried for {away:.0f} seconds)"
                    raise SandboxUnavailableError(said, step=error.step, reason=error.reason) from error
            await self._clock.sleep(pause)
            away, pause = away + pause, min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def asked(
        self, operation: Operation[Any, Coroutine[Any, Any, T]], given: Mapping[str, Any], **more: float
    ) -> T:
        """What the operation answers; `given` has every parameter of its address."""
        parameters = operation.parameters()
        path = await self.place(operation, **{one.name: given[one.name] for one in parameters if one.in_path})
        asked = {one.name: given[one.name] for one in parameters if not one.in_path}
        query = {name: _written(value) for name, value in {**asked, **more}.items() if value is not None}
        return await self._read(operation, self._connection.json(operation.method, path, query=query))

    async def _read(self, operation: Operation[Any, Coroutine[Any, Any, T]], asked: Awaitable[Any]) -> T:
        answer, kind = await asked, operation.answer
        return cast("T", self._connection.read(kind, answer) if isinstance(kind, type) else answer)


def _written(value: Any) -> Any:
    """A mapping is given as NAME=VALUE, repeatedly."""
    return [f"{name}={one}" for name, one in value.items()] if isinstance(value, Mapping) else value


def over_http(
    operation: Operation[P, Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The method of a client that asks for this operation."""

    async def asked(self: Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.call(operation, *args, **kwargs)

    return asked
