"""The worst of every route, from the table of routes: the server's memory stays bounded, and others are answered.

A route that is added without bounds meets these bodies, too, because they are made of what the document says of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from harena.server import document
from harena.testing.conformance_operations import GOOD
from harena.testing.conformance_registry import tar_of

pytestmark = pytest.mark.thorough

ROUTES = sorted(
    (method.upper(), path)
    for path, route in document.openapi()["paths"].items()
    for method, operation in route.items()
    if "application/json" in operation.get("requestBody", {}).get("content", {})
)
SCHEMAS = document.openapi()["components"]["schemas"]
WRONG = 200_000
AT_ONCE = 8
"""worst bodies of one workspace under way at one time, which filled the threads of all"""
MOST_KILOBYTES = 700 * 1024
"""that the server's memory may grow by: 14.5 GB and 5.4 GB before"""
MOST_SECONDS, MOST_TIMES = 5.0, 100
"""of another workspace's read, or so many times what it takes meanwhile; it took 66 to 200 s before"""
JSON = {"content-type": "application/json"}


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[tuple[int, str, str, str]]:
    """(process id, URL, a key of the hostile workspace, a key of another one)"""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("worst_server.py")), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        url, hostile, other = json.loads(next(line for line in process.stdout if line.startswith('["http')))
        yield process.pid, url, hostile, other
    finally:
        process.communicate(timeout=60)


def worst(path: str, method: str) -> Iterator[bytes]:
    """Bodies that fit no bound: each list and mapping of the route full of wrong values, and values without number."""
    content = document.openapi()["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]["schema"]
    schema = SCHEMAS.get(content.get("$ref", "").rsplit("/", 1)[-1], content)
    for name, part in schema.get("properties", {}).items():
        kinds = {part.get("type"), *(member.get("type") for member in part.get("anyOf", ()))}
        if "array" in kinds:
            yield b'{"%s":[%s1]}' % (name.encode(), b"1," * WRONG)
        if "object" in kinds:
            yield json.dumps({name: dict.fromkeys(map(str, range(WRONG // 5)), 1)}).encode()
        if "string" in kinds:
            yield b'{"%s":"%s"}' % (name.encode(), b"x" * 2 * WRONG)
    yield b"[" + b"[]," * WRONG + b"[]]"
    yield json.dumps(dict.fromkeys(map(str, range(WRONG // 5)), 1)).encode()


async def test_the_worst_of_every_route(apart: tuple[int, str, str, str]) -> None:
    """Sent eight at a time: no failure, no memory, and nobody else waits for it."""
    pid, url, hostile, other = apart
    before, times, over = _peak(pid), list[float](), asyncio.Event()
    bodies = asyncio.Queue[tuple[str, str, bytes]]()
    for method, path in ROUTES:
        for body in worst(path, method):
            bodies.put_nowait((method, re.sub(r"\{\w+\}", "x", path), body))
    sent = bodies.qsize()
    assert sent > 3 * len(ROUTES) > 30

    async def send(http: aiohttp.ClientSession) -> None:
        with contextlib.suppress(asyncio.QueueEmpty):
            while True:
                method, path, body = bodies.get_nowait()
                async with http.request(method, path, data=BytesIO(body), headers=JSON) as answer:
                    text = await answer.text()
                # 501: a node that does not isolate runs no forgery
                assert 400 <= answer.status < 500 or answer.status == 501, (
                    f"{method} {path} {body[:40]!r}: {answer.status} {text[:200]}"
                )
                assert len(text) < 20_000, f"{method} {path} {body[:40]!r}: an answer of {len(text)}"

    async def read(http: aiohttp.ClientSession) -> None:
        while not over.is_set():
            began = time.monotonic()
            async with http.get("/v1/sandboxes") as answer:
                assert answer.status == 200
            times.append(time.monotonic() - began)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), 0.05)

    async with _session(url, hostile) as mine, _session(url, other) as others:
        reading = asyncio.ensure_future(read(others))
        try:
            async with asyncio.TaskGroup() as sending:
                for _ in range(AT_ONCE):
                    sending.create_task(send(mine))
        finally:
            over.set()
        await reading
    grown, slowest, usual = _peak(pid) - before, max(times), statistics.median(times)
    told = f"{sent} bodies: {grown // 1024} MiB; {len(times)} reads: {usual:.3f} s, and {slowest:.2f} s at most"
    print(told)
    assert grown < MOST_KILOBYTES, told
    assert slowest < max(MOST_SECONDS, MOST_TIMES * usual), told


OTHER_BODIES = sorted(
    (method.upper(), path)
    for path, route in document.openapi()["paths"].items()
    for method, operation in route.items()
    if operation.get("requestBody", {}).get("content", {}).keys() - {"application/json"}
)
READS = sorted(path for path, route in document.openapi()["paths"].items() if "get" in route)
LARGE = 48 << 20
"""bytes of a file that is there, and of a body"""
LEAST_READS = 30
WHO_READ_NOTHING = 12
"""connections for each route"""
QUERIES = "path=/workspace/large&kind=dataset&name=d&version=2&content=true&limit=500&after=0"


async def test_the_worst_of_streams(apart: tuple[int, str, str, str]) -> None:
    """Every route that is read (files, archives, trees, results, events ...) by connections that ask and never read,
    and every route whose body is no JSON with one that is large and nonsense: the server's memory stays bounded, and
    another workspace is answered."""
    pid, url, hostile, other = apart
    async with _session(url, hostile) as mine, _session(url, other) as others:
        before = _peak(pid)
        parts = await _made(mine)
        host, port = url.removeprefix("http://").split(":")
        silent = []
        for path in READS:
            for _ in range(WHO_READ_NOTHING):
                where = f"{path.format(**_of(path, parts))}?{QUERIES}"
                head = f"GET {where} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {hostile}\r\n\r\n"
                silent.append(await _asked_and_never_read(host, int(port), head.encode()))

        async def send(method: str, path: str) -> None:
            async def nonsense() -> AsyncIterator[bytes]:
                for _ in range(LARGE >> 20):
                    yield b"\0" * (1 << 20)

            where = f"{path.format(**_of(path, parts))}?{QUERIES}"
            headers = {"content-type": "application/octet-stream"}
            with contextlib.suppress(aiohttp.ClientConnectionError):  # refused before all was sent
                async with mine.request(method, where, data=nonsense(), headers=headers) as answer:
                    assert answer.status < 500, f"{method} {path}: {answer.status} {await answer.text()}"

        times = []
        async with asyncio.TaskGroup() as sending:
            tasks = [sending.create_task(send(*route)) for route in OTHER_BODIES for _ in range(3)]
            while len(times) < LEAST_READS or not all(task.done() for task in tasks):
                began = time.monotonic()
                async with others.get("/v1/sandboxes") as answer:
                    assert answer.status == 200
                times.append(time.monotonic() - began)
                await asyncio.sleep(0.02)
        for connection in silent:
            connection.close()
    grown, slowest, usual = _peak(pid) - before, max(times), statistics.median(times)
    told = f"{len(silent)} readers: {grown // 1024} MiB; {len(times)} reads: {usual:.3f} s, and {slowest:.2f} s at most"
    print(told)
    assert grown < MOST_KILOBYTES, told
    assert slowest < max(MOST_SECONDS, MOST_TIMES * usual), told


async def _made(mine: aiohttp.ClientSession) -> dict[str, dict[str, str]]:
    """Something large behind every noun that has content."""

    async def made(path: str, content: Any) -> Any:
        async with mine.post(path, json=content) as answer:
            assert answer.status in (200, 201), await answer.text()
            return await answer.json()

    sandbox = (await made("/v1/sandboxes", {}))["id"]
    job = await made("/v1/benchmark_jobs", {"name": "job", "scenarios": [{**GOOD, "id": f"s{n}"} for n in range(40)]})
    await made("/v1/scenarios", {"name": "d", "scenarios": [{**GOOD, "id": f"s{n}"} for n in range(2_000)]})
    async with mine.put(f"/v1/sandboxes/{sandbox}/files?path=/workspace/large", data=BytesIO(b"x" * LARGE)) as answer:
        assert answer.status < 300
    rows = b'{"prompt": "1", "expected_output": "%s"}\n' % (b"x" * 1_000_000) * 40
    query, octets = "kind=dataset&name=d&version=1", {"content-type": "application/octet-stream"}
    async with mine.post(f"/v1/objects?{query}", data=BytesIO(tar_of(("r.jsonl", rows))), headers=octets) as answer:
        assert answer.status == 200, await answer.text()
    dataset = {"name": "d", "version": "1"}
    config = {"algorithm": "grpo", "prompt_dataset_ref": dataset}
    training = await made("/v1/training_jobs", {"trainer_type": "rl", "model": "tiny-llama", "config": config})
    return {
        "sandboxes": {"sandbox_id": sandbox}, "benchmark_jobs": {"job": job["id"]}, "scenarios": {"ref": "d@1"},
        "objects": {"kind": "dataset", "ref": "d@1"}, "training_jobs": {"job": training["id"]},
    }  # fmt: skip


def _of(path: str, parts: dict[str, dict[str, str]]) -> dict[str, str]:
    noun = path.split("/")[2] if path.count("/") > 1 else ""
    return {**dict.fromkeys(re.findall(r"\{(\w+)\}", path), "x"), **parts.get(noun, {})}


async def _asked_and_never_read(host: str, port: int, request: bytes) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, (host, port))
    await asyncio.get_running_loop().sock_sendall(connection, request)
    return connection


def _session(url: str, key: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(url, headers={"authorization": f"Bearer {key}"})


def _peak(pid: int) -> int:
    status: dict[str, Any] = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    )
    return int(status["VmHWM"].split()[0])
