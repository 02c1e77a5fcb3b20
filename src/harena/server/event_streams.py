"""Server-sent events of jobs: each with its cursor as `id` and its kind as `event`; the last one is `end`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import Header, Query

from harena.core.batches import SLICE, Batches
from harena.core.errors import HarenaError
from harena.core.parameters import MOST_CURSOR
from harena.core.records.benchmark_jobs import BenchmarkEvent
from harena.core.records.image_builds import ImageBuildEvent
from harena.core.records.images import ImagePullEvent
from harena.core.records.training_jobs import TrainingEvent
from harena.server.answers import problem_of
from harena.server.state import ServerState

SILENCE_SECONDS = 15.0
"""after which a comment says that the connection still stands"""
EVENTS_AHEAD = 100
"""events of one follower that wait to be sent"""
EVENTS = "text/event-stream"
EVENT_SCHEMA: Mapping[str, Any] = {
    "description": "Each event; `data` is JSON.",
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("id", "event", "data")},
    "required": ["event", "data"],
}
Happened = BenchmarkEvent | ImageBuildEvent | ImagePullEvent | TrainingEvent
After = Annotated[int, Query(ge=0, le=MOST_CURSOR)]
LastEventId = Annotated[int | None, Header(ge=0, le=MOST_CURSOR)]


async def send_events(state: ServerState, found: AsyncIterator[Happened]) -> AsyncGenerator[bytes, None]:
    """What is sent of these events, to the job's end or the server's; a problem of theirs is the last event. Raises
    LimitExceededError before the first piece."""
    with state.followers.one():
        pieces = _followed(state, found)
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()


async def _followed(state: ServerState, found: AsyncIterator[Happened]) -> AsyncGenerator[bytes, None]:
    draining = asyncio.ensure_future(state.draining.wait())
    batches = Batches(found, most=EVENTS_AHEAD, turn=state.loop_turns.next)
    coming: asyncio.Future[list[Happened] | None] | None = None
    try:
        yield b": events\n\n"  # whoever asks learns at once that there is such a job
        while not draining.done():
            coming = coming or asyncio.ensure_future(batches.next())
            waits: list[asyncio.Future[Any]] = [coming, draining]
            await asyncio.wait(waits, timeout=SILENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                yield b": still here\n\n"
                continue
            happened, coming = coming.result(), None
            if happened is None:
                yield _event("end", {})
                return
            for start in range(0, len(happened), SLICE):
                await state.loop_turns.next()
                some = happened[start : start + SLICE]
                yield b"".join(_event(event.kind, event.to_dict(), event.cursor) for event in some)
    except HarenaError as error:
        yield _event("problem", problem_of(error, None))
    finally:
        draining.cancel()
        if coming is not None:
            coming.cancel()
            await asyncio.wait([coming])
        await batches.close()


def _event(kind: str, content: Mapping[str, Any], cursor: int | None = None) -> bytes:
    number = "" if cursor is None else f"id: {cursor}\n"
    return f"{number}event: {kind}\ndata: {json.dumps(content)}\n\n".encode()
