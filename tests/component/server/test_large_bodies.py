"""Large bodies are parsed by processes of their own: others are answered meanwhile, and mistakes are told as always."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from server_world import World, world
from test_server_keys import ask, key_for

from harena.core.errors import LimitExceededError, ValidationError
from harena.server import large_bodies
from harena.server.bodies import AT_ONCE_BYTES
from harena.server.large_bodies import BodyProcesses
from harena.server.strict_json import json_in

LARGE = AT_ONCE_BYTES + 1
WHERE = "the body"


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[BodyProcesses]:
    """One process at a time, and none is left."""
    made = BodyProcesses(most=1)
    monkeypatch.setattr(large_bodies, "PROCESSES", made)
    yield made
    pids = made.pids
    made.end_idle()
    assert made.pids == [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


@pytest_asyncio.fixture
async def keyed(tmp_path: Path) -> AsyncIterator[World]:
    """A server that asks for keys."""
    async with world(tmp_path, keyed=True) as made:
        yield made


async def test_others_are_answered_while_a_large_body_is_read(keyed: World, processes: BodyProcesses) -> None:
    """Also requests of the same workspace, and large ones of another when it is their turn."""
    one, other = await key_for(keyed, "one", "admin"), await key_for(keyed, "other", "admin")
    processes.read(b" " * LARGE + b"1", WHERE)
    (pid,) = processes.pids
    os.kill(pid, signal.SIGSTOP)  # so this body takes as long as the test wants
    large = asyncio.ensure_future(sent(keyed, one, {"tags": [1] * LARGE}))
    while processes.pids:  # until it is being read
        assert (await ask(keyed, other, "GET", "/v1/sandboxes"))[0] == 200
    waits = asyncio.ensure_future(sent(keyed, other, {"tags": ["x"], "no such field": "x" * LARGE}))
    for token in (one, other):
        assert (await ask(keyed, token, "POST", "/v1/sandboxes", {"tags": [1]}))[0] == 422
    assert not large.done()
    assert not waits.done()
    os.kill(pid, signal.SIGCONT)
    for asked, says in ((large, "tags: may have at most 1000 items"), (waits, "no such field: unknown field")):
        status, problem = await asked
        assert (status, problem["reason"]) == (422, "REQUEST")
        assert says in problem["detail"]
    assert processes.pids == [pid]


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": [1, 2.5, true, null, "\\u00e4", {"b": {}}]}',
        *(b'"\\ud83e"', b"{", b"[1,]", b"[NaN]", b'{"a": 1, "a": 2}', b"[1e999]"),
        *(b'"\xff"', b"[" * 300, b"[" + b"9" * 5000 + b"]"),
    ],
)
def test_a_large_body_is_read_as_a_small_one(processes: BodyProcesses, body: bytes) -> None:
    """Its value, or what is wrong with it and where."""

    def outcome(read: Any, text: bytes) -> tuple[str, str | None]:
        try:
            return repr(read(text, WHERE)), None
        except ValidationError as mistake:
            return str(mistake), mistake.reason

    for text in (body, b" " * LARGE + body):
        assert outcome(processes.read, text) == outcome(json_in, text)


def test_a_process_that_has_ended_is_replaced(processes: BodyProcesses) -> None:
    """Whoever asks does not notice."""
    assert processes.read(b"[1]", WHERE) == [1]
    (pid,) = processes.pids
    os.kill(pid, signal.SIGKILL)
    assert processes.read(b"[2]", WHERE) == [2]
    assert processes.pids != [pid]


async def test_a_body_whose_process_ends_is_read_by_another_one(keyed: World, processes: BodyProcesses) -> None:
    """As where a host without memory has ended it."""
    token = await key_for(keyed, "one", "admin")
    processes.read(b"1", WHERE)
    (pid,) = processes.pids
    os.kill(pid, signal.SIGSTOP)
    asked = asyncio.ensure_future(sent(keyed, token, {"tags": ["x" * LARGE]}))
    while processes.pids:  # until it is being read
        assert (await ask(keyed, token, "GET", "/v1/sandboxes"))[0] == 200
    os.kill(pid, signal.SIGKILL)
    status, problem = await asked
    assert (status, problem["reason"]) == (422, "REQUEST")


def test_an_answer_that_breaks_off_is_no_value(processes: BodyProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is not used again."""
    processes.read(b"1", WHERE)
    (pid,) = processes.pids
    begun = large_bodies._BodyProcess.pieces

    def broken(self: Any) -> Any:
        for piece in begun(self):
            os.kill(self.pid, signal.SIGKILL)
            self._process.wait()
            yield piece

    monkeypatch.setattr(large_bodies._BodyProcess, "pieces", broken)
    rows = json.dumps([["x" * 1000] * 1000] * 20).encode()  # more than a socket holds
    with pytest.raises(LimitExceededError, match="the process that read the body has ended before it had") as caught:
        processes.read(rows, WHERE)
    assert caught.value.reason == "BUSY"
    assert processes.pids == []
    assert not Path(f"/proc/{pid}").exists()


def test_idle_processes_end(processes: BodyProcesses) -> None:
    """Those that were used a moment ago stay."""
    processes.read(b"1", WHERE)
    (pid,) = processes.pids
    processes.end_idle(1000)
    assert processes.pids == [pid]
    processes.end_idle()
    assert not Path(f"/proc/{pid}").exists()


def test_a_process_loads_no_framework() -> None:
    """It starts within the time of a request, and is small."""
    code = "import sys, harena.server.body_process; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "harena" in loaded
    assert loaded.isdisjoint({"fastapi", "starlette", "pydantic", "sqlalchemy", "asyncio"})


async def sent(world: World, token: str, content: Any) -> tuple[int, Any]:
    headers = {"authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(world.url, headers=headers) as http:
        async with http.post("/v1/sandboxes", json=content) as answer:
            return answer.status, await answer.json(content_type=None)
