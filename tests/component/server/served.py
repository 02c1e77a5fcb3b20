"""A server with keys in a thread of its own, for libraries that ask over blocking connections."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import requests
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from server_world import World, world

from harena.core.models import ExecRequest
from harena.server import document
from harena.server.keys import Keys
from harena.testing.conformance_operations import GOOD

T = TypeVar("T")

EXAMPLES = int(os.environ.get("HARENA_SCHEMA_EXAMPLES", "15"))
"""of each thing that is tried; the same on every run"""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SCHEMA = schemathesis.openapi.from_dict(document.openapi())


class Served:
    """A server with keys in a thread of its own, and what is behind its ids."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._context = world(home, keyed=True)
        self.world: World = self.do(self._context.__aenter__())
        self._token, _ = self.do(self.keys.create(name="admin", workspace="default", scopes=["admin", "publish"]))
        self.http = requests.Session()
        self.http.headers["authorization"] = f"Bearer {self._token}"

    @property
    def keys(self) -> Keys:
        access = self.world.state.access
        assert isinstance(access, Keys)
        return access

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def made(self, path: str, content: Any) -> str:
        answer = self.http.post(f"{self.world.url}{path}", json=content, timeout=60)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def names(self) -> dict[str, str]:
        """parameter of a path -> a name that there is, of something fresh"""
        sandbox = self.made("/v1/sandboxes", {"tags": ["fresh"]})
        return {
            "sandbox_id": sandbox,
            "lease_id": self.made("/v1/leases", {"seconds": 600}),
            "job": self.made("/v1/benchmark_jobs", {"name": "fresh", "scenarios": [GOOD]}),
            "key_id": self.made("/v1/keys", {"name": "fresh", "scopes": ["read"]}),
            "name_or_id": self.made("/v1/blueprints", {"name": "fresh"}),
            "exec_id": self.do(self._command(sandbox)),
            "pid": "2",
            "world": self.made("/v1/world_manifests", {"name": "fresh"}),
        }

    async def _command(self, sandbox_id: str) -> str:
        """One that reads."""
        state = self.world.state
        handle = await state.operations.get_sandbox(sandbox_id)
        running = await handle.port.exec(ExecRequest(argv=("cat",), stdin_stream=True))
        state.note_exec("default", sandbox_id, "ex_fresh", running, ["cat"])
        return "ex_fresh"

    def ask(self, method: str, path: str, *, body: Any = None, **parts: Any) -> requests.Response:
        """One request, whose answer is as documented."""
        sent = {} if body is None else {"body": body, "media_type": "application/json"}
        case = SCHEMA[path][method].Case(**parts, **sent)
        response = case.call(base_url=self.world.url, session=self.http, timeout=60)
        case.validate_response(response, checks=CHECKS)
        return response

    def close(self) -> None:
        self.http.close()
        self.do(self._context.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()
