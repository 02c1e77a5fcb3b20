"""Bodies that are bytes, and are held whole or in part before they go on: they take memory of their workspace."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace

import aiohttp
import pytest
from server_world import World
from test_server_requests import until

ROOM = 400_000
SENT = 150_000
"""of which two have room, and a third has not"""


def taken(here: World) -> int:
    return sum(room.taken for room in here.state.request_memory._rooms.values())


def begun(here: World, method: str, path: str, headers: str) -> socket.socket:
    """A request that goes on later."""
    host, port = here.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/octet-stream\r\n{headers}\r\n\r\n"
    connection.sendall(head.encode())
    return connection


async def refused(connection: socket.socket) -> bytes:
    """What it is answered; nothing where it waits."""
    connection.setblocking(False)
    with suppress(TimeoutError):
        return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(connection, 65536), 0.3)
    return b""


@asynccontextmanager
async def reading(http: aiohttp.ClientSession, here: World) -> AsyncIterator[tuple[str, str]]:
    """A command that reads its input, where bodies have little room: (path of its sandbox, path of its input)."""
    here.state.quotas._defaults = replace(here.state.quotas._defaults, request_memory_bytes=ROOM)
    async with http.post("/v1/sandboxes", json={}) as answer:
        sandbox = f"/v1/sandboxes/{(await answer.json())['id']}"
    async with http.post(f"{sandbox}/execs", json={"argv": ["cat"], "stdin_stream": True}) as running:
        exec_id = json.loads(re.search(rb"\{.*?\}", await running.content.readany())[0])["exec_id"]  # type: ignore[index]
        yield sandbox, f"{sandbox}/execs/{exec_id}/stdin"


@pytest.mark.parametrize("what", ["stdin", "file"])
async def test_bytes_that_are_held_have_a_share_of_the_memory(
    http: aiohttp.ClientSession, here: World, what: str
) -> None:
    """The third waits until there is room, and nothing of it is read before."""
    async with reading(http, here) as (sandbox, stdin):
        before = taken(here)
        method, path = ("POST", stdin) if what == "stdin" else ("PUT", "")
        paths = [path or f"{sandbox}/files?path=/f{number}" for number in range(3)]
        connections = [begun(here, method, each, f"content-length: {SENT}") for each in paths]
        await until(lambda: taken(here) >= before + 2 * SENT)
        assert await refused(connections[2]) == b""
        assert taken(here) == before + 2 * SENT
        for connection in connections[:2]:
            connection.close()
        await until(lambda: taken(here) == before + SENT)
        connections[2].close()
        await until(lambda: taken(here) == before)


async def test_input_of_no_length_is_counted_as_it_comes(http: aiohttp.ClientSession, here: World) -> None:
    async with reading(http, here) as (_, stdin):
        before = taken(here)
        with closing(begun(here, "POST", stdin, "transfer-encoding: chunked")) as first:
            first.sendall(b"%x\r\n" % (2 * SENT) + b"x" * 2 * SENT)
            await until(lambda: taken(here) == before + 2 * SENT)
            with closing(begun(here, "POST", stdin, "transfer-encoding: chunked")) as second:
                second.sendall(b"%x\r\n" % SENT + b"x" * SENT)
                assert b"429" in (await refused(second)).partition(b"\r\n")[0]


async def test_lines_that_wait_for_the_disk_are_counted(here: World) -> None:
    """Where there is no room for them they go to the disk at once, and are not refused."""
    here.state.quotas._defaults = replace(here.state.quotas._defaults, request_memory_bytes=ROOM)
    body = b'{"name": "n"}\n' + b"\n" * SENT
    connections = []
    host, port = here.url.removeprefix("http://").split(":")
    for _ in range(4):
        connection = socket.create_connection((host, int(port)))
        head = "POST /v1/benchmark_jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n"
        connection.sendall(f"{head}content-length: {len(body) + 1}\r\n\r\n".encode() + body)
        connections.append(connection)
    disk = here.state.request_disk._rooms
    await until(lambda: sum(room.taken for room in disk.values()) == 4 * len(body))
    assert ROOM - SENT < taken(here) <= ROOM
    for connection in connections:
        connection.close()
    await until(lambda: taken(here) == 0)
