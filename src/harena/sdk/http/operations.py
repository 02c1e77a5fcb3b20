"""`Operations` over HTTP: what `harena serve` offers, as a node inside this process would.

Sandboxes belong to this client's lease (see `harena.sdk.http.lease`). Creations carry an idempotency key: one whose
answer was lost is asked for again, and one that is given up by its caller is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from harena.core.clock import Clock, SystemClock
from harena.core.errors import (
    HarenaError,
    NotFoundError,
    SandboxNotFoundError,
    SandboxUnavailableError,
    ValidationError,
)
from harena.core.models import Blueprint, SandboxSpec, SandboxStatus
from harena.core.ports import SandboxHandle
from harena.core.problems import from_problem
from harena.core.wire import blueprint_from_json, info_from_json, spec_to_json, text_of
from harena.sdk.http.connection import Connection, Query, step
from harena.sdk.http.events import read_events
from harena.sdk.http.lease import LEASE_SECONDS, ClientLease
from harena.sdk.http.sandbox import RemoteHandle

T = TypeVar("T")

PAGE = 500
JOBS_PAGE = 100
JOB_WAIT_SECONDS = 30
"""how long one request waits for a job's end; asked again for as long as somebody waits"""


class HttpOperations:
    """Implements `Operations`. Used from one event loop."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        clock: Clock | None = None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """`clock` and `lease_seconds` are for tests."""
        self._connection = Connection(base_url, api_key=api_key)
        self._lease = ClientLease(self._connection, clock or SystemClock(), seconds=lease_seconds)
        self._given_up: set[asyncio.Task[None]] = set()

    # -- sandboxes --

    async def create_sandbox(self, spec: SandboxSpec) -> SandboxHandle:
        """See `Operations`."""
        try:
            return await self._created_under_lease(spec)
        except NotFoundError as error:
            if error.reason != "LEASE_OVER":
                raise
        self._lease.forget()  # this process slept for longer than its lease, or the server was started anew
        return await self._created_under_lease(spec)

    async def get_sandbox(self, sandbox_id: str) -> SandboxHandle:
        """See `Operations`."""
        if "/" in sandbox_id:
            raise SandboxNotFoundError(f"no sandbox {sandbox_id!r}: ids have no slashes", sandbox_id=sandbox_id)
        return self._handle(await self._connection.json("GET", f"/v1/sandboxes/{step(sandbox_id)}"))

    async def list_sandboxes(
        self,
        *,
        tags: Sequence[str] = (),
        statuses: Sequence[SandboxStatus] = (),
        include_terminal: bool = False,
    ) -> list[SandboxHandle]:
        """See `Operations`."""
        query: dict[str, str | int | float | list[str]] = {
            "tag": list(tags),
            "status": [status.value for status in statuses],
            "include_terminal": include_terminal,
            "limit": PAGE,
        }
        found: list[SandboxHandle] = []
        while True:
            page = await self._connection.json("GET", "/v1/sandboxes", query=query)
            found += [self._handle(entry) for entry in page["sandboxes"]]
            if page["next_cursor"] is None:
                return found
            query["cursor"] = page["next_cursor"]

    # -- blueprints --

    async def create_blueprint(
        self,
        name: str,
        *,
        image: str = "default",
        packages: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        warm: Sequence[str] | None = None,
    ) -> Blueprint:
        """See `Operations`."""
        content = {
            "name": name,
            "image": image,
            "packages": list(packages),
            "files": {path: text_of(given) for path, given in (files or {}).items()},
            "env": dict(env or {}),
            "warm": None if warm is None else list(warm),
        }
        key = {"idempotency-key": uuid.uuid4().hex}
        return self._blueprint(
            await self._twice(lambda: self._connection.json("POST", "/v1/blueprints", content=content, headers=key))
        )

    async def get_blueprint(self, name_or_id: str) -> Blueprint:
        """See `Operations`."""
        return self._blueprint(await self._connection.json("GET", f"/v1/blueprints/{step(name_or_id)}"))

    async def delete_blueprint(self, name_or_id: str) -> None:
        """See `Operations`."""
        await self._connection.json("DELETE", f"/v1/blueprints/{step(name_or_id)}")

    async def list_blueprints(self) -> list[Blueprint]:
        """See `Operations`."""
        answer = await self._connection.json("GET", "/v1/blueprints")
        return [self._blueprint(entry) for entry in answer["blueprints"]]

    # -- benchmark jobs --

    async def create_benchmark_job(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """See `Operations`. A scenario file is this machine's, and its content is sent."""
        content = dict(request)
        for field in ("scenarios", "candidates", "grader"):
            given = content.get(field)
            if isinstance(given, str | Path) and (field, given) not in _WORDS:
                file = await asyncio.to_thread(_read_file, Path(given))
                content[field] = _parsed(file) if field == "grader" else file
        key = {"idempotency-key": uuid.uuid4().hex}
        answer: Mapping[str, Any] = await self._twice(
            lambda: self._connection.json("POST", "/v1/benchmark_jobs", content=content, headers=key)
        )
        return answer

    async def get_benchmark_job(self, job_id_or_name: str) -> Mapping[str, Any]:
        """See `Operations`."""
        return await self._job(job_id_or_name)

    async def list_benchmark_jobs(self) -> list[Mapping[str, Any]]:
        """See `Operations`."""
        query: dict[str, str | int | float | list[str]] = {"limit": JOBS_PAGE}
        found: list[Mapping[str, Any]] = []
        while True:
            page = await self._connection.json("GET", "/v1/benchmark_jobs", query=query)
            found += page["benchmark_jobs"]
            if page["next_cursor"] is None:
                return found
            query["cursor"] = page["next_cursor"]

    async def wait_benchmark_job(self, job_id_or_name: str) -> Mapping[str, Any]:
        """See `Operations`."""
        job = await self._job(job_id_or_name)
        while job["ended_at"] is None:
            job = await self._job(job["id"], {"wait_seconds": JOB_WAIT_SECONDS})
        return await self.benchmark_job_results(job["id"])

    async def benchmark_job_results(self, job_id_or_name: str) -> Mapping[str, Any]:
        """See `Operations`."""
        answer: Mapping[str, Any] = await self._connection.json(
            "GET", f"{await self._job_path(job_id_or_name)}/results"
        )
        return answer

    async def benchmark_job_results_page(
        self, job_id_or_name: str, *, after: int = 0, limit: int = 1000
    ) -> Mapping[str, Any]:
        """See `Operations`."""
        answer: Mapping[str, Any] = await self._connection.json(
            "GET", f"{await self._job_path(job_id_or_name)}/results/page", query={"after": after, "limit": limit}
        )
        return answer

    async def delete_benchmark_job(self, job_id_or_name: str) -> None:
        """See `Operations`."""
        await self._connection.json("DELETE", await self._job_path(job_id_or_name))

    async def cancel_benchmark_job(self, job_id_or_name: str) -> Mapping[str, Any]:
        """See `Operations`."""
        answer: Mapping[str, Any] = await self._connection.json(
            "POST", f"{await self._job_path(job_id_or_name)}/cancel"
        )
        return answer

    async def benchmark_job_events(self, job_id_or_name: str, *, after: int = 0) -> AsyncIterator[Mapping[str, Any]]:
        """See `Operations`. A connection that breaks off is opened again where it ended, once without any news."""
        cursor, failed = after, False
        while True:
            try:
                async with aclosing(self._events(job_id_or_name, cursor)) as events:
                    async for kind, event in events:
                        if kind == "end":
                            return
                        if kind == "problem":
                            raise from_problem(event)
                        cursor, failed = event["cursor"], False
                        yield event
            except SandboxUnavailableError:
                if failed:
                    raise
            failed = True

    async def close(self) -> None:
        """End the lease, and with it this client's sandboxes, then the connections. May be called more than once."""
        try:
            for task in list(self._given_up):
                await asyncio.wait([task])
            await self._lease.close()
        finally:
            await self._connection.close()

    async def _events(self, job: str, after: int) -> AsyncGenerator[tuple[str, Any], None]:
        async with self._connection.request(
            "GET", f"{await self._job_path(job)}/events", query={"after": after}
        ) as response:
            async with aclosing(read_events(response.content)) as events:
                async for event in events:
                    yield event

    async def _created_under_lease(self, spec: SandboxSpec) -> SandboxHandle:
        content = {**spec_to_json(spec), "lease_id": await self._lease.id()}
        key = {"idempotency-key": uuid.uuid4().hex}
        try:
            return await self._created(content, key)
        except asyncio.CancelledError:
            # the server may be at it, or done: nobody would ever stop that sandbox
            task = asyncio.get_running_loop().create_task(self._end_given_up(content, key))
            self._given_up.add(task)
            task.add_done_callback(self._given_up.discard)
            raise

    async def _created(self, content: Any, key: Mapping[str, str]) -> RemoteHandle:
        return self._handle(
            await self._twice(lambda: self._connection.json("POST", "/v1/sandboxes", content=content, headers=key))
        )

    async def _end_given_up(self, content: Any, key: Mapping[str, str]) -> None:
        with contextlib.suppress(HarenaError):  # what cannot be ended now ends with the lease
            await (await self._created(content, key)).stop()

    async def _twice(self, ask: Callable[[], Awaitable[T]]) -> T:
        """A creation whose answer was lost is asked for again: its idempotency key makes it the same one."""
        try:
            return await ask()
        except SandboxUnavailableError as error:
            if error.reason != "CONNECTION_LOST":
                raise
        return await ask()

    async def _job_path(self, job_id_or_name: str) -> str:
        """Where the server has it. A name with a slash cannot be in a path: its newest job is looked for."""
        if "/" in job_id_or_name:
            page = await self._connection.json("GET", "/v1/benchmark_jobs", query={"name": job_id_or_name, "limit": 1})
            if not page["benchmark_jobs"]:
                raise NotFoundError(f"no benchmark job has the name {job_id_or_name!r} on this server")
            job_id_or_name = page["benchmark_jobs"][0]["id"]
        return f"/v1/benchmark_jobs/{step(job_id_or_name)}"

    async def _job(self, job_id_or_name: str, query: Query | None = None) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = await self._connection.json(
            "GET", await self._job_path(job_id_or_name), query=query
        )
        return answer

    def _handle(self, answer: Any) -> RemoteHandle:
        try:
            return RemoteHandle(self._connection, info_from_json(answer))
        except (KeyError, TypeError, ValueError) as error:
            raise self._connection.broken(f"a sandbox's record cannot be understood ({error!r})") from error

    def _blueprint(self, answer: Any) -> Blueprint:
        try:
            return blueprint_from_json(answer)
        except (KeyError, TypeError, ValueError) as error:
            raise self._connection.broken(f"a blueprint cannot be understood ({error!r})") from error


_WORDS = (("candidates", "oracle"), ("candidates", "nop"))
"""of a request that name no file"""


def _parsed(file: Mapping[str, str]) -> Any:
    try:
        return json.loads(file["text"])
    except ValueError as error:
        raise ValidationError(f"{file['file_name']}: a grader is one JSON object; {error}") from None


def _read_file(path: Path) -> dict[str, str]:
    """A scenario file as the server takes it: its name, which says the format, and its text."""
    try:
        return {"file_name": path.name, "text": path.read_text(encoding="utf-8")}
    except UnicodeDecodeError as error:
        raise ValidationError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except OSError as error:
        raise ValidationError(f"{path} cannot be read: {error.strerror}") from None
