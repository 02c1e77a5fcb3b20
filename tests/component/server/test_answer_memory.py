"""Long answers that nobody reads hold a bounded part of the server's memory, for each workspace."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from io import BytesIO
from typing import Any

import aiohttp
import pytest
from server_world import World

from harena.core.errors import LimitExceededError
from harena.core.models import MIB
from harena.server.answer_memory import PIECE, AnswerMemory, CountedAnswer
from harena.testing.conformance_operations import GOOD
from harena.testing.conformance_registry import tar_of

HEAD = {"type": "http.response.start", "status": 200, "headers": []}
LONG = 24 * MIB
"""more than sockets keep"""


def body(size: int, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": b"x" * size, "more_body": more}


class Reader:
    """What a connection was given; it takes pieces as long as it may."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.may, self.stuck = asyncio.Event(), asyncio.Event()

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.body" and not self.may.is_set():
            self.stuck.set()
            await self.may.wait()
        self.seen.append(message)


async def test_unread_answers_of_a_workspace_have_a_share() -> None:
    """One that finds no room has not begun; those of others, and short ones, are sent, and what is read makes room."""
    memory, readers = AnswerMemory(), [Reader() for _ in range(5)]

    def answer(place: int, workspace: str) -> CountedAnswer:
        return CountedAnswer(readers[place], memory, workspace, 3 * MIB)

    first = answer(0, "a")
    await first(HEAD)
    sending = asyncio.ensure_future(first(body(2 * MIB)))
    await readers[0].stuck.wait()
    for reader in readers[1:]:
        reader.may.set()
    second = answer(1, "a")
    await second(HEAD)
    with pytest.raises(LimitExceededError, match="request_memory_bytes"):
        await second(body(2 * MIB))
    assert (second.has_begun, readers[1].seen) == (False, [])
    for place, workspace, size in ((2, "b", 2 * MIB), (3, "a", PIECE), (4, "b", 9 * MIB)):
        other = answer(place, workspace)
        await other(HEAD)
        await other(body(size))
        sent = [message for message in readers[place].seen if message["type"] == "http.response.body"]
        assert b"".join(message["body"] for message in sent) == b"x" * size
        assert [message["more_body"] for message in sent] == [True] * (len(sent) - 1) + [False]
    readers[0].may.set()
    await sending
    await second(body(2 * MIB))


async def test_big_answers_that_nobody_reads_leave_room_for_others(here: World, http: aiohttp.ClientSession) -> None:
    """Over HTTP: the second is a problem, and the reader of the first gets all of it, however late."""
    stored = {"name": "s", "scenarios": [{**GOOD, "metadata": {"note": "x" * LONG}}]}
    sent = BytesIO(json.dumps(stored).encode())
    async with http.post("/v1/scenarios", data=sent, headers={"content-type": "application/json"}) as made:
        assert made.status == 201, await made.text()
    here.state.quotas._defaults = replace(here.state.quotas._defaults, request_memory_bytes=LONG + MIB)
    port = int(here.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /v1/scenarios/s@1?content=true HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head.splitlines()[0]
    async with http.get("/v1/scenarios/s@1?content=true") as refused:
        assert (refused.status, (await refused.json(content_type=None))["reason"]) == (429, "BUSY")
    async with http.get("/v1/scenarios/s@1") as short:
        assert short.status == 200
    assert len(await reader.read()) > LONG
    writer.close()
    async with http.get("/v1/scenarios/s@1?content=true") as again:
        assert (again.status, len(await again.read()) > LONG) == (200, True)


async def test_pulls_that_nobody_reads(here: World, http: aiohttp.ClientSession) -> None:
    """They hold their connections and a share of the workspace's memory, and no file; the others are refused, and the
    reader of the first gets all of it, however late."""
    content = b"".join(json.dumps({"prompt": "x" * MIB}).encode() + b"\n" for _ in range(24))
    tree = tar_of(("rows.jsonl", content))
    where = "/v1/objects?kind=dataset&name=d&version=1"
    async with http.post(where, data=BytesIO(tree), headers={"content-type": "application/octet-stream"}) as made:
        assert made.status == 200, await made.text()
    here.state.quotas._defaults = replace(here.state.quotas._defaults, request_memory_bytes=5 * MIB)
    port = int(here.url.rpartition(":")[2])
    pulls, heads = [], []
    for _ in range(9):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(b"GET /v1/objects/dataset/d@1/tree HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        heads.append((await reader.readuntil(b"\r\n")).split()[1])
        pulls.append((reader, writer))
    assert 0 < heads.count(b"200") <= 5, heads  # each holds a piece of 1 MiB; sockets may have taken some of them
    assert set(heads) == {b"200", b"429"}
    links = [os.readlink(place.path) for place in os.scandir("/proc/self/fd") if os.path.lexists(place.path)]
    assert [link for link in links if "/objects/" in link] == []
    for _, writer in pulls[1:]:
        writer.close()
    async with http.get("/v1/objects/dataset/d@1") as other:
        assert other.status == 200
    assert len(await pulls[0][0].read()) > 24 * MIB
    pulls[0][1].close()
