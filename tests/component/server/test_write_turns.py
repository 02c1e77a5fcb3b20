"""Writes of one file: in the order in which their requests came, whatever happens to them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from server_world import world

from harena.core.models import SandboxSpec
from harena.server.quotas import Quotas
from harena.server.requests import Requests
from harena.server.write_turns import WriteTurn, WriteTurns


def write(path: str = "/x", method: str = "PUT", sandbox: str = "sb_1", key: str = "a") -> dict[str, Any]:
    return {
        "method": method,
        "headers": [(b"host", b"x"), (b"authorization", f"Bearer {key}".encode())],
        "path": f"/v1/sandboxes/{sandbox}/files",
        "query_string": f"path={path}&mode=420".encode(),
    }


def taken(turns: WriteTurns, scope: dict[str, Any]) -> WriteTurn:
    turn = turns.take(scope)
    assert turn is not None
    return turn


def has_come(turn: WriteTurn) -> bool:
    """Without waiting."""
    coming = turn.come()
    try:
        coming.send(None)
    except StopIteration:
        return True
    coming.close()
    return False


async def test_one_after_the_other() -> None:
    turns = WriteTurns()
    first, second, third = (taken(turns, write()) for _ in range(3))
    assert [has_come(turn) for turn in (first, second, third)] == [True, False, False]
    turns.end(first)
    assert [has_come(turn) for turn in (second, third)] == [True, False]
    turns.end(second)
    await asyncio.wait_for(third.come(), 1)


def test_a_place_is_found_whatever_else_a_query_holds() -> None:
    """Nobody has shown a key yet: what takes time waits until then."""

    def steps(query: bytes) -> int:
        count = 0

        def counted(*_: Any) -> None:
            nonlocal count
            count += 1

        scope = write() | {"query_string": query}
        sys.setprofile(counted)
        try:
            turns.take(scope)
        finally:
            sys.setprofile(None)
        return count

    turns = WriteTurns()
    steps(b"path=/a%20b")  # the first time makes what is kept for the next ones
    few = steps(b"path=/a%20b")
    assert steps(b"a=&" * 10_000 + b"path=/a%20b") == few
    assert steps(b"path=/a%20b" + b"&a=" * 10_000) == few
    assert steps(b"path=/never&path=/a+b&xpath=/c") <= few
    assert [file[2] for file in turns._last] == ["/a b"]
    assert turns.take(write() | {"query_string": b"xpath=/a"}).file[2] == ""  # type: ignore[union-attr]


async def test_a_query_is_nobodys_where_no_key_is_asked_for(tmp_path: Path) -> None:
    """A framework would parse all of it; those routes have no parameters."""
    seen: list[tuple[str, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["path"], scope["query_string"]))

    async with world(tmp_path) as made:
        requests = Requests(app, made.state)
        for path in ("/healthz", "/openapi.json", "/x", "/v1/sandboxes"):
            scope = {"type": "http", "method": "GET", "path": path, "query_string": b"a=&" * 1000}
            await requests(scope | {"headers": [(b"host", b"localhost")]}, None, None)  # type: ignore[arg-type]
    assert [path for path, query in seen if query] == ["/v1/sandboxes"]
    assert len(seen) == 4


async def test_a_request_that_is_refused_lets_nobody_pass_who_came_behind() -> None:
    """It ends before the one that it would have waited for."""
    turns = WriteTurns()
    first, refused, third = (taken(turns, write()) for _ in range(3))
    turns.end(refused)
    assert not has_come(third)
    turns.end(third)
    fourth = taken(turns, write())
    assert not has_come(fourth)
    turns.end(first)
    assert has_come(fourth)
    turns.end(fourth)
    assert turns._last == {}


@pytest.mark.parametrize("other", [write("/y"), write(sandbox="sb_2"), write(key="b"), write() | {"headers": []}])
async def test_other_files_and_other_keys_do_not_wait(other: dict[str, Any]) -> None:
    turns = WriteTurns()
    taken(turns, write())
    assert has_come(taken(turns, other))
    assert not has_come(taken(turns, write(method="POST")))


@pytest.mark.parametrize(
    "scope", [write(method="GET"), write(method="DELETE"), {**write(), "path": "/v1/sandboxes/sb_1/files/stat"}]
)
def test_what_writes_no_file_has_no_turn(scope: dict[str, Any]) -> None:
    assert WriteTurns().take(scope) is None


async def test_a_write_that_is_let_in_late_does_not_overwrite_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks is looked up for each request, and the second answer may come before the first."""
    asked: list[None] = []
    admit = Quotas.admit

    async def overtaken(quotas: Quotas, caller: Any) -> Any:
        asked.append(None)
        if len(asked) == 1:
            first_is_there.set()
            await second_is_let_in.wait()
        else:
            second_is_let_in.set()
        return await admit(quotas, caller)

    first_is_there, second_is_let_in = asyncio.Event(), asyncio.Event()
    async with world(tmp_path) as made:
        client = made.client()
        sandbox = await client.create_sandbox(SandboxSpec())
        monkeypatch.setattr(Quotas, "admit", overtaken)
        first = asyncio.ensure_future(sandbox.port.write_file("/workspace/x", b"first"))
        await first_is_there.wait()
        await sandbox.port.write_file("/workspace/x", b"second")
        await first
        assert await sandbox.port.read_file("/workspace/x", max_bytes=1 << 20) == b"second"
        await client.close()
