"""Server-sent events, read from pieces that are cut anywhere."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import SandboxUnavailableError
from harena.core.records.benchmark_jobs import BenchmarkEvent
from harena.sdk.http.connection import Connection
from harena.sdk.http.events import followed, read_events

SENT = b': events\n\nid: 1\nevent: run_started\ndata: {"run": 1}\n\n: still here\n\nid: 2\nevent: end\ndata: {}\n\n'


@given(st.lists(st.integers(0, len(SENT))))
async def test_pieces_are_put_together(cuts: list[int]) -> None:
    """Many events in a piece, one event in many pieces, and comments between them."""
    borders = [0, *sorted(cuts), len(SENT)]

    async def pieces() -> AsyncIterator[bytes]:
        for begin, end in itertools.pairwise(borders):
            yield SENT[begin:end]

    assert [one async for one in read_events(pieces())] == [("run_started", {"run": 1}), ("end", {})]


async def test_an_event_that_is_not_whole_is_none() -> None:
    """The connection broke off in it: it is asked for again."""

    async def broken() -> AsyncIterator[bytes]:
        yield SENT[:-1]

    assert [kind async for kind, _ in read_events(broken())] == ["run_started"]


class Streams:
    """A connection that answers each request for events with the next of these streams."""

    def __init__(self, *streams: bytes) -> None:
        self.streams = [*streams]
        self.asked: list[int] = []

    @asynccontextmanager
    async def request(self, method: str, path: str, *, query: dict[str, int]) -> AsyncIterator[Any]:
        self.asked.append(query["after"])
        text = self.streams.pop(0)

        async def pieces() -> AsyncIterator[bytes]:
            yield text

        yield SimpleNamespace(content=SimpleNamespace(iter_any=pieces))

    def read(self, kind: type[BenchmarkEvent], answer: Any) -> BenchmarkEvent:
        return kind.from_dict(answer)

    def broken(self, what: str) -> SandboxUnavailableError:
        return SandboxUnavailableError(what)


def happened(cursor: int) -> bytes:
    """One event."""
    return f'data: {{"cursor": {cursor}, "at": "t", "kind": "run_started", "job_id": "j"}}\n\n'.encode()


async def cursors(streams: Streams, after: int = 0) -> list[int]:
    """The events that come until a stream says that it has ended."""

    async def where() -> str:
        return "/v1/benchmark_jobs/j"

    connection = cast("Connection", streams)
    return [event.cursor async for event in followed(connection, BenchmarkEvent, where, after)]


async def test_a_stream_that_ends_early_is_asked_for_again() -> None:
    """From the last cursor; twice without any news is an error, and no loop without an end."""
    streams = Streams(happened(1), happened(2), b"event: end\ndata: {}\n\n")
    assert await cursors(streams) == [1, 2]
    assert streams.asked == [0, 1, 2]
    with pytest.raises(SandboxUnavailableError, match="broke off again"):
        await cursors(Streams(b"", b"<html>"))


@pytest.mark.parametrize("again", [happened(1) * 2, happened(2) + happened(1)])
async def test_events_do_not_come_again(again: bytes) -> None:
    """A server whose cursors do not grow would be followed for ever."""
    with pytest.raises(SandboxUnavailableError, match="come again"):
        await cursors(Streams(again, again))
