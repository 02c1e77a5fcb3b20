"""A server with two workspaces of two organisations in a process of its own: what one of them has, and has published to
its organisation, and what the other one may ask."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp

from harena.core.frames import Frame
from harena.server import document
from harena.testing.conformance_operations import GOOD
from harena.testing.conformance_registry import tar_of

DOCUMENT = document.openapi()
ROUTES = sorted((method.upper(), path) for path, route in DOCUMENT["paths"].items() for method in route)
SERVER = Path(__file__).parents[1] / "component" / "server" / "worst_server.py"
ROWS = b'{"prompt": "1 + 1", "expected_output": "2"}\n'
BUILD = tar_of(
    ("build.json", b'{"dockerfile": "FROM scratch\\nCOPY a /a", "references": ["theirs-built"]}'), ("context/a", b"1")
)
"""what begins a build of an image"""
_TRACEBACK = re.compile(r"Traceback \(most recent|File \"/|site-packages|\.py\", line")


@dataclass
class Answer:
    """Of the server."""

    status: int
    text: str
    request_id: str | None = None

    def json(self) -> Any:
        """What it says."""
        return json.loads(self.text)


class Caller:
    """Whoever has a key. Every answer is looked at: it tells no place of the server, and no traceback."""

    def __init__(self, http: aiohttp.ClientSession, places: tuple[str, ...]) -> None:
        self.http = http
        self._places = places

    async def ask(
        self, method: str, path: str, content: Any = None, *, data: bytes | BytesIO | None = None, **headers: str
    ) -> Answer:
        """One request; of an answer that does not end the first part."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            sent.setdefault("content-type", "application/octet-stream")
        body: dict[str, Any] = {"data": data} if data is not None else {} if content is None else {"json": content}
        async with self.http.request(method, path, headers=sent, **body) as answer:
            text = (await _first(answer)).decode(errors="replace")
        self._check(f"{method} {path}", answer.status, text)
        return Answer(answer.status, text, answer.headers.get("x-request-id"))

    def _check(self, what: str, status: int, text: str) -> None:
        told = [place for place in self._places if place in text]
        assert told == [], f"{what}: {status} {text[:500]}"
        assert not _TRACEBACK.search(text), f"{what}: {status} {text[:500]}"


async def _first(answer: aiohttp.ClientResponse, most: int = 1 << 20) -> bytes:
    found = b""
    while len(found) < most:
        try:
            piece = await asyncio.wait_for(answer.content.readany(), 0.3 if found or answer.status == 200 else 30)
        except TimeoutError:  # events and commands go on
            break
        if not piece:
            break
        found += piece
    return found


@dataclass
class ApiWorld:
    """The server, and two who have a key of it."""

    pid: int
    url: str
    places: tuple[str, ...]
    keys: Mapping[str, str] = field(default_factory=dict)
    """of admins of the workspaces "hostile" and "other\""""

    async def caller(
        self, stack: AsyncExitStack, workspace: str, *scopes: str, keeps_connections: bool = True
    ) -> Caller:
        """With a key of these scopes; none = an admin. Who does not keep connections meets none that the server closes
        behind an answer, which it does where it has not read the request's body."""
        session = self._session(self.keys[workspace], force_close=not keeps_connections)
        admin = Caller(await stack.enter_async_context(session), self.places)
        if not scopes:
            return admin
        made = (await admin.ask("POST", "/v1/keys", {"name": "k", "scopes": [*scopes]})).json()
        return Caller(await stack.enter_async_context(self._session(made["key"])), self.places)

    def _session(self, key: str, *, force_close: bool = False) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=500, force_close=force_close)
        return aiohttp.ClientSession(self.url, headers={"authorization": f"Bearer {key}"}, connector=connector)


@contextmanager
def api_world(home: Path, store: str | None = None) -> Iterator[ApiWorld]:
    """Started, and ended; `store`: the URL of its database, None = a file."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER), str(home), *([] if store is None else [store])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url, hostile, other = json.loads(next(line for line in process.stdout if line.startswith('["http')))
        places = (str(home), sys.prefix, str(Path(__file__).parents[2]), f"{tempfile.gettempdir()}/harena-")
        yield ApiWorld(process.pid, url, places, {"hostile": hostile, "other": other})
    finally:
        process.communicate(timeout=60)


async def possessions(caller: Caller, stack: AsyncExitStack) -> dict[str, dict[str, str]]:
    """One of every noun, made by this caller: noun -> parameters of its paths. A new noun is added here."""

    async def made(path: str, content: Any) -> Any:
        answer = await caller.ask("POST", path, content)
        assert answer.status in (200, 201), answer
        return answer.json()

    sandbox = (await made("/v1/sandboxes", {"tags": ["theirs"], "network": {"allow": []}}))["id"]
    stream = await stack.enter_async_context(
        caller.http.post(f"/v1/sandboxes/{sandbox}/execs", json={"argv": ["cat"], "stdin_stream": True})
    )
    begun = json.loads(re.search(rb"\{.*?\}", await stream.content.readany())[0])  # type: ignore[index]
    assert Frame.STARTED
    stored = {
        noun: f"theirs@{(await made(f'/v1/{noun}', {'name': 'theirs', **content}))['version']}"
        for noun, content in (
            ("scenarios", {"scenarios": [GOOD]}),
            ("scoring_contracts", {"contract": GOOD["scoring"]}),
            ("benchmark_job_defs", {"request": {"name": "job", "scenarios": [GOOD]}}),
        )
    }
    job = (await made("/v1/benchmark_jobs", {"name": "theirs", "scenarios": [GOOD]}))["id"]
    query = "kind=dataset&name=theirs&version=1"
    assert (await caller.ask("POST", f"/v1/objects?{query}", data=tar_of(("rows.jsonl", ROWS)))).status == 200
    assert (await caller.ask("POST", "/v1/objects/dataset/theirs@1/publish")).status == 200  # to its organisation
    image = await caller.ask("POST", "/v1/images?reference=theirs", data=tar_of(("rows.jsonl", ROWS)))
    assert image.status == 200, image
    pull = await caller.ask("POST", "/v1/image_pulls?reference=theirs&refresh=false")
    build = await caller.ask("POST", "/v1/image_builds", data=BUILD)
    assert build.status == 200, build
    dataset = {"name": "theirs", "version": "1"}
    config = {"algorithm": "grpo", "prompt_dataset_ref": dataset}
    asked = {"name": "theirs", "trainer_type": "rl", "model": "tiny-llama", "config": config, "tags": ["steps:1"]}
    training = (await made("/v1/training_jobs", asked))["id"]
    await made("/v1/secrets", {"name": "THEIRS", "value": "theirs", "hosts": ["example.com"]})
    world = (await made("/v1/world_manifests", {"name": "theirs"}))["id"]
    played = (await made("/v1/world_jobs", {"world": world, "dataset": "theirs-played"}))["id"]
    key = await made("/v1/keys", {"name": "theirs", "scopes": ["read"]})
    for path in (f"/v1/benchmark_jobs/{job}", f"/v1/training_jobs/{training}", f"/v1/world_jobs/{played}"):
        while (await caller.ask("GET", f"{path}?wait_seconds=10")).json()["state"] in ("queued", "running"):
            continue
    blueprint = (await made("/v1/blueprints", {"name": "theirs"}))["id"]
    assert (await caller.ask("POST", f"/v1/blueprints/{blueprint}/publish")).status == 200
    return {
        "sandboxes": {"sandbox_id": sandbox, "exec_id": begun["exec_id"], "pid": "1"},
        "leases": {"lease_id": (await made("/v1/leases", {"seconds": 600}))["id"]},
        "blueprints": {"name_or_id": blueprint},
        **{noun: {"ref": ref} for noun, ref in stored.items()},
        "calibrations": {"calibration": "cal_0123456789abcdef"},  # a node that does not isolate makes none
        "benchmark_jobs": {"job": job},
        "training_jobs": {"job": training},
        "objects": {"kind": "dataset", "ref": "theirs@1"},
        "images": {"image": image.json()["digest"]},
        "image_pulls": {"pull": pull.json()["id"]},
        "secrets": {"name": "THEIRS"},
        "world_manifests": {"world": world},
        "world_jobs": {"job": played},
        "image_builds": {"build": build.json()["id"]},
        "snapshots": {"snapshot": "snap_0123456789abcdef01234567"},  # a node without layers of sandboxes makes none
        "keys": {"key_id": key["id"]},
    }


def open_files(pid: int) -> list[str]:
    """What the descriptors of a process lead to."""
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
    return sorted(found)


def process_state(pid: int) -> dict[str, int]:
    """What a process holds: descriptors, threads, processes below it, and kibibytes of memory."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines())
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return {
        # connections to the store are kept, up to so many
        "descriptors": sum("harena.db" not in name for name in open_files(pid)),
        "threads": int(status["Threads"]),
        "processes": len(below),
        "kibibytes": int(status["VmRSS"].split()[0]),
    }
