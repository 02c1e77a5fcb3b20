"""Operations of the table, asked of a server. What a noun does in a way of its own is in its module."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from harena.core.clock import Clock
from harena.core.errors import NotFoundError, SandboxUnavailableError
from harena.core.idempotency import IdempotencyKey
from harena.core.operations.operation import Operation
from harena.core.operations.sandboxes import OCTETS
from harena.core.reconnecting import Pauses
from harena.core.records.record import Record
from harena.sdk.http.connection import CLOSED, Connection, Query, address

P = ParamSpec("P")
T = TypeVar("T")


class Identified(Protocol):
    """A record of a thing that is asked for by its id."""

    @property
    def id(self) -> str:
        """Its id."""


J = TypeVar("J", bound=Identified)

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
        return address(operation, **given)[1]

    async def call(self, operation: Operation[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the port of the operation would give."""
        return await self.ask(operation, operation.arguments(*args, **kwargs))

    async def call_waiting(
        self, operation: Operation[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What `call` gives when the thing has ended, or after WAIT_SECONDS."""
        return await self.ask(operation, operation.arguments(*args, **kwargs), wait_seconds=WAIT_SECONDS)

    async def wait_ended(
        self, get: Operation[[str], Coroutine[Any, Any, J]], name: str, is_over: Callable[[J], bool]
    ) -> J:
        """The thing of this name or id when it has ended. A server that is or goes away is asked again for ten minutes:
        what it works at outlives it."""
        found = await self.patiently(lambda: self.call(get, name))
        its_id = found.id  # by the time it ends, another one may be the newest of its name
        while not is_over(found):
            found = await self.patiently(lambda: self.call_waiting(get, its_id))
        return found

    async def in_path(
        self, given: Mapping[str, Any], what: str, newest: Callable[[str], Awaitable[Sequence[Identified]]]
    ) -> Mapping[str, Any]:
        """These arguments with the id of a job whose name has a slash, which cannot be in a path. Raises
        NotFoundError."""
        job = given.get("job", "")
        if "/" not in job:
            return given
        found = await newest(job)
        if not found:
            raise NotFoundError(f"no {what} has the name {job!r} on this server")
        return {**given, "job": found[0].id}

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
        pauses = Pauses()
        while True:
            try:
                return await ask()
            except SandboxUnavailableError as error:
                if error.reason == CLOSED:
                    raise
                if pauses.are_over:
                    said = f"{error} (it was tried for {pauses.away_seconds:.0f} seconds)"
                    raise SandboxUnavailableError(said, step=error.step, reason=error.reason) from error
            await self._clock.sleep(pauses.step())

    async def ask(
        self, operation: Operation[Any, Coroutine[Any, Any, T]], given: Mapping[str, Any], **more: float
    ) -> T:
        """What the operation answers; `given` has every parameter of its address, and every field of its body."""
        path, query = await self.addressed(operation, given, **more)
        if not operation.has_fields:
            return await self._read(operation, self._connection.json(operation.method, path, query=query))
        content = {one.name: _as_json(given[one.name]) for one in operation.fields()}
        if operation.creates:
            return await self.created(operation, content, given.get("key"))
        return await self._read(operation, self._connection.json(operation.method, path, content=content))

    async def addressed(
        self, operation: Operation[Any, Any], given: Mapping[str, Any], **more: float
    ) -> tuple[str, Query]:
        """Path and query of an operation; `given` has every parameter of its address."""
        parameters = operation.parameters()
        path = await self.place(operation, **{one.name: given[one.name] for one in parameters if one.in_path})
        asked = {one.name: given[one.name] for one in parameters if not one.in_path}
        return path, {name: _query_value(value) for name, value in {**asked, **more}.items() if value is not None}

    async def send_bytes(self, operation: Operation[Any, Coroutine[Any, Any, T]], given: Mapping[str, Any]) -> T:
        """What the operation answers to a body of bytes, which are sent as they come."""
        path, query = await self.addressed(operation, given)
        async with self._connection.request(
            operation.method, path, query=query, body=given["tree"], headers={"content-type": OCTETS}
        ) as response:
            answer = self._connection.parse_json(await response.read())
        return cast("T", self._connection.read(cast("type[Record]", operation.answer), answer))

    async def received(self, operation: Operation[Any, Any], given: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """The bytes that the operation answers, piece by piece."""
        path, query = await self.addressed(operation, given)
        async with self._connection.request(operation.method, path, query=query) as response:
            async for piece in response.content.iter_any():
                yield piece

    async def _read(self, operation: Operation[Any, Coroutine[Any, Any, T]], asked: Awaitable[Any]) -> T:
        answer, kind = await asked, operation.answer
        return cast("T", self._connection.read(kind, answer) if isinstance(kind, type) else answer)


def _query_value(value: Any) -> Any:
    """A mapping is given as NAME=VALUE, repeatedly."""
    return [f"{name}={one}" for name, one in value.items()] if isinstance(value, Mapping) else value


def _as_json(value: Any) -> Any:
    """A sequence is written as a list."""
    return [*value] if isinstance(value, Sequence) and not isinstance(value, str) else value


def over_http(
    operation: Operation[P, Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The method of a client that asks for this operation."""

    async def asked(self: Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.call(operation, *args, **kwargs)

    return asked


def uploaded(
    operation: Operation[P, Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The method of a client that sends bytes with this operation, as they come."""

    async def asked(self: Calls, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send_bytes(operation, operation.arguments(*args, **kwargs))

    return asked


def downloaded(
    operation: Operation[P, AsyncIterator[bytes]],
) -> Callable[Concatenate[Any, P], AsyncGenerator[bytes, None]]:
    """The method of a client that gives the bytes that this operation answers."""

    def asked(self: Calls, /, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[bytes, None]:
        return self.received(operation, operation.arguments(*args, **kwargs))

    return asked
