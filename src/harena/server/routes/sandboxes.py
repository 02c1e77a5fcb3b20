"""/v1/sandboxes: their lives and their processes."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Annotated

from fastapi import Path as InPath
from fastapi import Query, Response
from pydantic import Field

from harena.core.checked import MOST_PIDS, check_absolute, checked_environment
from harena.core.errors import SandboxFailedError, SandboxValidationError
from harena.core.models import SandboxSpec
from harena.core.network_policy import MOST_PAGE
from harena.core.operations import sandboxes as table
from harena.core.pages import PageRoom, moment_cursor, read_moment_cursor
from harena.core.parameters import MOST_WORD
from harena.core.ports import SandboxHandle
from harena.core.records.sandbox_answers import CommandOutputs, SandboxesPage
from harena.core.records.sandboxes import Limits, ProcessInfo, SandboxStatus
from harena.server import shapes
from harena.server.answers import JsonAnswer, answer_list
from harena.server.bounds import MOST_SHORT, Id, OptionalWord
from harena.server.contents import decoded_files
from harena.server.idempotency import Refindable
from harena.server.networks import gateways, policy
from harena.server.routes.dependencies import Once, Reader, State, Writer
from harena.server.state import ServerState
from harena.server.table_routes import TableRoutes
from harena.server.waiting import MOST_WAIT_SECONDS, first_of

routes = TableRoutes(table.OPERATIONS)

Pid = Annotated[int, InPath(le=1 << 62)]
MOST_AT_ONCE = 100
"""entries of a page that are put together before other work has its turn"""
MOST_ON_A_PAGE = 1024 * 1024
"""size of tags and annotations, whose words are put together in one step"""


@routes.by_hand(table.CREATE)
async def create(asked: shapes.SandboxBody, caller: Writer, state: State, key: Once) -> JsonAnswer:
    """Create and start a sandbox; answers when it runs."""
    state.check_not_draining()
    spec = await _spec(asked)

    async def made() -> SandboxHandle:
        return await _create(state, caller.workspace, spec, asked.lease_id)

    find = partial(state.sandboxes.find, caller.workspace)
    known: Refindable[SandboxHandle] = Refindable(lambda handle: handle.info.id, find)
    handle = await state.idempotency.once(caller.workspace, "sandboxes", key, made, known)
    return JsonAnswer(handle.info, status_code=201)


@routes.by_hand(table.LIST)
async def list_sandboxes(
    caller: Reader,
    state: State,
    tag: Annotated[list[Annotated[str, Field(max_length=MOST_WORD)]], Query(max_length=MOST_SHORT)] = [],  # noqa: B006 - FastAPI copies it
    status: Annotated[list[SandboxStatus], Query(max_length=100)] = [],  # noqa: B006 - likewise
    include_terminal: bool = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: OptionalWord = None,
) -> JsonAnswer:
    """Sandboxes of your workspace that carry all `tag`s and have one of the `status`es, oldest first."""
    after = None if cursor is None else read_moment_cursor(cursor)
    async with state.sandboxes.listing(caller.workspace):
        there = await state.sandboxes.list(
            caller.workspace, tags=tag, statuses=status, include_terminal=include_terminal
        )
        found = await state.sandboxes.oldest(there, limit + 1, after=after)
        page, room = [], PageRoom(MOST_ON_A_PAGE)
        for handle in found[:limit]:
            info = handle.info
            # what has no bound of its own is counted as it is sent; the rest of one is small
            if not room.takes(len(json.dumps([info.tags, dict(info.annotations)]))):
                break
            page.append(info)
            if not len(page) % MOST_AT_ONCE:
                await asyncio.sleep(0)
    more = len(found) > len(page)
    return JsonAnswer(SandboxesPage(sandboxes=page, next_cursor=_cursor(found[len(page) - 1]) if more else None))


@routes.by_hand(table.GET)
async def get(sandbox_id: Id, caller: Reader, state: State) -> JsonAnswer:
    """One sandbox; ended ones are remembered for a while."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    return JsonAnswer(await handle.refresh())


@routes.by_hand(table.WAIT)
async def wait(
    sandbox_id: Id,
    caller: Reader,
    state: State,
    seconds: Annotated[float, Query(ge=0, le=MOST_WAIT_SECONDS)] = 30.0,
) -> JsonAnswer:
    """Answers when the sandbox has ended, or after `seconds`."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    await first_of(state, handle.wait_terminal(), seconds)
    return JsonAnswer(handle.info)


@routes.by_hand(table.STOP)
async def stop(sandbox_id: Id, asked: shapes.StopBody, caller: Writer, state: State) -> JsonAnswer:
    """End it; answers when nothing of it runs any more. May be asked for again."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    await handle.stop(grace_seconds=asked.grace_seconds)
    return JsonAnswer(handle.info)


@routes.by_hand(table.EXTEND)
async def extend(sandbox_id: Id, asked: shapes.ExtendBody, caller: Writer, state: State) -> JsonAnswer:
    """It ends `seconds` from now at the earliest."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    most = (await state.quotas.limits_of(caller.workspace)).sandbox_lifetime_seconds
    if asked.seconds > most:
        raise SandboxValidationError(
            f"seconds: a sandbox may live for {most:g} seconds here (sandbox_lifetime_seconds)"
        )
    return JsonAnswer(await handle.extend_lifetime(asked.seconds))


@routes.by_hand(table.PROCESSES)
async def processes(sandbox_id: Id, caller: Reader, state: State) -> Response:
    """The processes inside."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    return await answer_list("processes", await handle.port.processes(), ProcessInfo.to_dict)


@routes.by_hand(table.USAGE)
async def usage(sandbox_id: Id, caller: Reader, state: State) -> JsonAnswer:
    """What the programs inside use: processor time so far, and memory now."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    return JsonAnswer(await handle.port.usage())


@routes.by_hand(table.OUTPUTS)
async def outputs(sandbox_id: Id, caller: Reader, state: State) -> JsonAnswer:
    """The ends of what its newest commands printed, also of a sandbox that has ended. A server keeps some for each
    workspace; the oldest go first."""
    state.sandboxes.check(caller.workspace, sandbox_id)
    return JsonAnswer(CommandOutputs(commands=state.command_outputs.of(caller.workspace, sandbox_id)))


@routes.by_hand(table.SIGNAL)
async def signal(sandbox_id: Id, pid: Pid, asked: shapes.SignalBody, caller: Writer, state: State) -> None:
    """Send a signal to one of them."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    if not 1 < pid <= MOST_PIDS:
        raise SandboxValidationError(f"no process {pid}: process numbers go from 2 to {MOST_PIDS}")
    await handle.port.signal(pid, asked.signal)


@routes.by_hand(table.NETWORK_LOG)
async def network_log(
    sandbox_id: Id,
    caller: Reader,
    state: State,
    after: Annotated[int, Query(ge=0, le=1 << 62)] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST_PAGE)] = MOST_PAGE,
) -> JsonAnswer:
    """What a sandbox has reached and what it was refused, behind entry number `after`, with the sums of all of it."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    return JsonAnswer(await handle.port.network_log(after=after, limit=limit))


@routes.by_hand(table.SET_NETWORK)
async def set_network(sandbox_id: Id, asked: shapes.NetworkBody, caller: Writer, state: State) -> None:
    """Give a sandbox that has a network another policy; connections that it does not allow end."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    await handle.port.set_network(policy(asked.network))


@routes.by_hand(table.GATEWAY_LOG)
async def gateway_log(
    sandbox_id: Id,
    caller: Reader,
    state: State,
    after: Annotated[int, Query(ge=0, le=1 << 62)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> JsonAnswer:
    """What was asked of a sandbox's gateways, behind entry number `after`: without tokens, credentials and queries."""
    handle = await state.sandboxes.find(caller.workspace, sandbox_id)
    return JsonAnswer(await handle.port.gateway_log(after=after, limit=limit))


async def _create(state: ServerState, workspace: str, spec: SandboxSpec, lease_id: str | None) -> SandboxHandle:
    if lease_id is None:
        return await _created(state, workspace, spec)
    lease = state.leases.find(workspace, lease_id)
    with state.leases.making(lease):
        handle = await _created(state, workspace, spec)
        await state.leases.hold(lease, handle)
    return handle


async def _created(state: ServerState, workspace: str, spec: SandboxSpec) -> SandboxHandle:
    most = (await state.quotas.limits_of(workspace)).sandboxes
    async with state.sandboxes.room_for_one(workspace, most):
        try:
            handle = await state.operations.in_workspace(workspace).create_sandbox(spec)
        except SandboxFailedError as error:
            if error.sandbox_id is not None:
                await state.sandboxes.note(error.sandbox_id, workspace, lives=False)
            raise
        state.metrics.sandbox_created(workspace)
        await state.sandboxes.note(handle.info.id, workspace)
    return handle


async def _spec(asked: shapes.SandboxBody) -> SandboxSpec:
    if asked.cwd is not None:
        check_absolute(asked.cwd, "cwd")
    for path in asked.files:
        check_absolute(path, "files")
    return SandboxSpec(
        image=asked.image,
        blueprint=asked.blueprint,
        env=checked_environment(asked.env, "env"),
        cwd=asked.cwd,
        tags=tuple(asked.tags),
        annotations=dict(asked.annotations),
        limits=Limits(**asked.limits.model_dump()),
        profile=asked.profile,
        files=await decoded_files(asked.files),
        network=None if asked.network is None else policy(asked.network),
        gateways=None if asked.gateways is None else gateways(asked.gateways),
    )


def _cursor(handle: SandboxHandle) -> str:
    return moment_cursor(handle.info.created_at, handle.info.id)
