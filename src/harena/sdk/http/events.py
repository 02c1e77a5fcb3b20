"""Server-sent events, as far as harena's server writes them: `id`, `event` and one line of JSON as `data`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from harena.core.errors import SandboxUnavailableError
from harena.core.reconnecting import Pauses
from harena.core.records.benchmark_jobs import BenchmarkEvent
from harena.core.records.image_builds import ImageBuildEvent
from harena.core.records.images import ImagePullEvent
from harena.core.records.training_jobs import TrainingEvent
from harena.sdk.http.connection import Connection

MOST_LINE_BYTES = 64 * 1024 * 1024

E = TypeVar("E", BenchmarkEvent, ImageBuildEvent, ImagePullEvent, TrainingEvent)


async def read_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[tuple[str, Any], None]:
    """(event, data) of each event in these pieces of a stream, wherever they were cut; comments, which keep the
    connection alive, are left out. Raises ValueError."""
    kind, written, rest = "message", b"", b""
    async for piece in pieces:
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        if len(rest) > MOST_LINE_BYTES:
            raise ValueError(f"a line of more than {MOST_LINE_BYTES} bytes")
        for line in lines:
            if line.startswith(b"data:"):
                written += line[5:].strip()
            elif line.startswith(b"event:"):
                kind = line[6:].strip().decode()
            elif written and not line.strip():
                yield kind, json.loads(written)
                kind, written = "message", b""


async def followed(
    connection: Connection, kind_of_record: type[E], where: Callable[[], Awaitable[str]], after: int
) -> AsyncGenerator[E, None]:
    """The events that `where` gives the path of, from the first after cursor `after` to its end. A
    connection that breaks off is opened again where it ended, once without any news. A stream that ends in good order
    before the job does, as that of a server that stops, is opened again after pauses that grow, for ten minutes without
    news. Raises what a `problem` among them says, and SandboxUnavailableError."""
    cursor, failed, pauses = after, False, Pauses()
    while True:
        try:
            async with aclosing(_open_events(connection, await where(), cursor)) as events:
                async for kind, event in events:
                    if kind == "end":
                        return
                    if kind == "problem":
                        raise connection.problem(event)
                    happened = connection.read(kind_of_record, event)
                    if happened.cursor <= cursor:
                        raise connection.broken("events come again")
                    cursor, failed = happened.cursor, False
                    pauses.reset()
                    yield happened
        except SandboxUnavailableError:
            if failed:
                raise
            failed = True
            continue
        if pauses.are_over:
            away = f"{pauses.away_seconds:.0f} seconds"
            raise connection.broken(f"the events of a job end without the job's end, for {away}")
        await connection.pause(pauses.step())


async def _open_events(connection: Connection, path: str, after: int) -> AsyncGenerator[tuple[str, Any], None]:
    async with connection.request("GET", path, query={"after": after}) as response:
        async with aclosing(read_events(response.content.iter_any())) as events:
            with connection.understanding("an event"):
                async for event in events:
                    yield event
