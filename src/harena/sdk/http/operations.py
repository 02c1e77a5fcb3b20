"""`Operations` over HTTP: what `harena serve` offers, as a node inside this process would.

Sandboxes belong to this client's lease (see `harena.sdk.http.lease`). Creations carry an idempotency key: one whose
answer was lost is asked for again, and one that is given up by its caller is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from harena.core.clock import Clock, SystemClock
from harena.core.daemons import Daemon, daemons_to_json
from harena.core.errors import (
    HarenaError,
    NotFoundError,
    SandboxNotFoundError,
)
from harena.core.gateways import Gateway, gateways_to_json
from harena.core.models import SandboxSpec
from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.core.operations import blueprints, sandboxes
from harena.core.ports import SandboxHandle
from harena.core.profiles import Profile
from harena.core.records.blueprints import Blueprint, BlueprintsPage
from harena.core.records.record import text_of
from harena.core.records.sandboxes import NO_LIMITS_SAID, Limits, SandboxInfo, SandboxStatus
from harena.core.wire import spec_to_json
from harena.sdk.http.benchmark_jobs import HttpBenchmarks
from harena.sdk.http.catalog import HttpCatalog
from harena.sdk.http.connection import Connection, address
from harena.sdk.http.image_builds import HttpImageBuilds
from harena.sdk.http.images import HttpImages
from harena.sdk.http.lease import LEASE_SECONDS, ClientLease
from harena.sdk.http.registry import HttpRegistry
from harena.sdk.http.sandbox import KnownRecords, RemoteHandle
from harena.sdk.http.training import HttpTraining
from harena.sdk.http.training_sources import with_sent_sources
from harena.sdk.http.world_jobs import HttpWorldJobs

PAGE = 500


class HttpOperations(
    HttpBenchmarks,
    HttpCatalog,
    HttpImageBuilds,
    HttpImages,
    HttpRegistry,
    HttpTraining,
    HttpWorldJobs,
):
    """Implements `Operations`. Used from one event loop."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        authorities: ssl.SSLContext | None = None,
        clock: Clock | None = None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """`authorities` as in `Connection`; `clock` and `lease_seconds` are for tests."""
        self._clock = clock or SystemClock()
        self._connection = Connection(base_url, api_key=api_key, authorities=authorities, clock=self._clock)
        self._lease = ClientLease(self._connection, self._clock, seconds=lease_seconds)
        self._known = KnownRecords()
        self._given_up: set[asyncio.Task[None]] = set()

    # -- sandboxes --

    async def create_sandbox(self, spec: SandboxSpec) -> SandboxHandle:
        """Create a sandbox under this process's lease, and once more under a new lease where the server no longer knows
        the old one."""
        try:
            return await self._created_under_lease(spec)
        except NotFoundError as error:
            if error.reason != "LEASE_OVER":
                raise
        self._lease.forget()  # this process slept for longer than its lease, or the server was started anew
        return await self._created_under_lease(spec)

    async def get_sandbox(self, sandbox_id: str) -> SandboxHandle:
        """Fetch a sandbox by its id. Raises SandboxNotFoundError, also for an id that no server gives."""
        if "/" in sandbox_id:
            raise SandboxNotFoundError(f"no sandbox {sandbox_id!r}: ids have no slashes", sandbox_id=sandbox_id)
        return self._handle(await self._connection.json(*address(sandboxes.GET, sandbox_id=sandbox_id)))

    async def list_sandboxes(
        self,
        *,
        tags: Sequence[str] = (),
        statuses: Sequence[SandboxStatus] = (),
        include_terminal: bool = False,
    ) -> list[SandboxHandle]:
        """Fetch all pages of the workspace's sandboxes that have one of the states and all of the tags."""
        query: dict[str, str | int | float | list[str]] = {
            "tag": list(tags),
            "status": [status.value for status in statuses],
            "include_terminal": include_terminal,
            "limit": PAGE,
        }
        found: list[SandboxHandle] = []
        while True:
            page = await self._connection.json(*address(sandboxes.LIST), query=query)
            with self._connection.understanding("a page of sandboxes"):
                found += [self._handle(entry) for entry in page["sandboxes"]]
                if (cursor := page["next_cursor"]) is None:
                    return found
                if cursor == query.get("cursor"):
                    raise ValueError("the page is followed by itself")
            query["cursor"] = cursor

    # -- blueprints --

    async def create_blueprint(
        self,
        name: str,
        *,
        image: str = "default",
        profile: Profile = "strict",
        packages: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        warm: Sequence[str] | None = None,
        network: NetworkPolicy = NO_NETWORK,
        gateways: Sequence[Gateway] = (),
        daemons: Sequence[Daemon] = (),
        limits: Limits = NO_LIMITS_SAID,
        recipe: str = "",
        log: str = "",
    ) -> Blueprint:
        """Send a blueprint to the server; its files travel inside the request."""
        content = {
            "name": name,
            "image": image,
            "profile": profile,
            "packages": list(packages),
            "files": {path: text_of(given) for path, given in (files or {}).items()},
            "env": dict(env or {}),
            "warm": None if warm is None else list(warm),
            **({"network": network.to_json()} if network.is_on else {}),
            **({"gateways": gateways_to_json(gateways)} if gateways else {}),
            **({"daemons": daemons_to_json(daemons)} if daemons else {}),
            **({"limits": limits.to_dict()} if limits != NO_LIMITS_SAID else {}),
            **({"recipe": recipe} if recipe else {}),
            **({"log": log} if log else {}),
        }
        key = {"idempotency-key": uuid.uuid4().hex}
        return self._blueprint(
            await self.twice(lambda: self._connection.json(*address(blueprints.CREATE), content=content, headers=key))
        )

    async def get_blueprint(self, name_or_id: str) -> Blueprint:
        """Fetch a blueprint by its name or id."""
        return self._blueprint(await self._connection.json(*address(blueprints.GET, name_or_id=name_or_id)))

    async def delete_blueprint(self, name_or_id: str) -> None:
        """Delete a blueprint by its name or id."""
        await self._connection.json(*address(blueprints.DELETE, name_or_id=name_or_id))

    async def list_blueprints(
        self, *, name: str | None = None, organization: bool = False, cursor: str | None = None, limit: int = 100
    ) -> BlueprintsPage:
        """Fetch one page of the blueprints of the workspace or its organisation, or of the versions of one. Raises
        PlatformError where the answer is no page or names itself as the next."""
        query: dict[str, str | int | float | list[str]] = {"limit": limit}
        if name is not None:
            query["name"] = name
        if organization:
            query["organization"] = "true"
        if cursor is not None:
            query["cursor"] = cursor
        answer = await self._connection.json(*address(blueprints.LIST), query=query)
        with self._connection.understanding("a page of blueprints"):
            page = BlueprintsPage.from_dict(answer)
            if page.next_cursor is not None and page.next_cursor == cursor:
                raise ValueError("the page is followed by itself")
            return page

    async def close(self) -> None:
        """End the lease, and with it this client's sandboxes, then the connections. May be called more than once."""
        try:
            for task in list(self._given_up):
                await asyncio.wait([task])
            await self._lease.close()
        finally:
            await self._connection.close()

    async def _with_sent_sources(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return await with_sent_sources(self, request)

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
            await self.twice(lambda: self._connection.json(*address(sandboxes.CREATE), content=content, headers=key))
        )

    async def _end_given_up(self, content: Any, key: Mapping[str, str]) -> None:
        with contextlib.suppress(HarenaError):  # what cannot be ended now ends with the lease
            await (await self._created(content, key)).stop()

    def _handle(self, answer: Any) -> RemoteHandle:
        with self._connection.understanding("a sandbox's record"):
            return RemoteHandle(self._connection, SandboxInfo.from_dict(answer), self._known)

    def _blueprint(self, answer: Any) -> Blueprint:
        with self._connection.understanding("a blueprint"):
            return Blueprint.from_dict(answer)
