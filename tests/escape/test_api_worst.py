"""Every route against every kind of attack, from the table of routes: the worst query, a body that comes slowly, an
answer that nobody reads; and a table of which route has which. Names of other workspaces are in `test_api_attacker.py`,
the worst bodies in `test_api_bodies.py` and `tests/component/server/test_server_worst.py`."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
import test_api_bodies
from api_world import DOCUMENT, ROUTES, ApiWorld, Caller, api_world, possessions, process_state
from test_api_attacker import BODIES, NEVER, QUERIES, SAME_NAMES, asked, references

sys.path.insert(0, str(Path(__file__).parents[1] / "component" / "server"))

import test_server_worst

from harena.store.database import READING_THREADS, THREADS

Route = tuple[str, str]
MOST_ANSWER = 20_000
"""characters of an answer that tells of a mistake"""
ASKED_UNREAD = 40
"""requests that follow each other on a connection whose answers nobody reads"""
SLOW = 4
"""connections of each route whose bodies come slowly"""
MOST_KIBIBYTES = 300 << 10
"""that the server may grow by while all answers are unread"""
MOST_SECONDS = 10.0
"""for a read of another workspace meanwhile, which some milliseconds are enough for: it is answered at all"""


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiWorld]:
    """The server, in a process of its own."""
    with api_world(tmp_path_factory.mktemp("api")) as made:
        yield made


def operation(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][route[1]][route[0].lower()]
    return found


def queried(route: Route) -> list[dict[str, Any]]:
    """Parameters of a route that are in its query or its headers."""
    return [part for part in operation(route).get("parameters", ()) if part["in"] in ("query", "header")]


def with_body(route: Route) -> bool:
    return "requestBody" in operation(route)


def kinds(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [schema, *schema.get("anyOf", ())]


def worst_values(schema: dict[str, Any]) -> Iterator[list[str]]:
    """Values of one parameter, each a list: what stands there more than once."""
    longest = max((part.get("maxLength", 0) for part in kinds(schema)), default=0) or 1000
    yield from ([text] for text in ("", "x" * min(longest, 30_000), "x" * min(longest + 1, 30_001)))
    yield from (
        [text] for text in ("-1", "0", "9" * 400, "1e400", "nan", "inf", "-inf", "0x10", "1_000", "\u0661", "1.5")
    )
    yield from ([text] for text in ("\0", "\ud7ff💥", "../..", "%", "_" * 900, "%" * 300, "'; --", "{}", "[]", "null"))
    yield ["MA==" * 200]  # a cursor that is base64 of something else
    yield ["9223372036854775807"]
    yield ["9223372036854775808"]
    yield ["a", "b"]
    yield ["x"] * 1001


async def others_are_answered(other: Caller) -> None:
    answer = await asyncio.wait_for(other.ask("GET", "/v1/sandboxes"), MOST_SECONDS)
    assert answer.status == 200


async def test_the_worst_queries_of_every_route(apart: ApiWorld) -> None:
    """Longest and longer, nonsense, negative, huge, and more than once: an answer or a short mistake."""
    async with AsyncExitStack() as stack:
        caller, other = await apart.caller(stack, "hostile"), await apart.caller(stack, "other")
        mine = await possessions(caller, stack)
        before = process_state(apart.pid)["kibibytes"]

        async def send(route: Route) -> None:
            method, path = route
            parts = {**NEVER, **mine.get(path.split("/")[2] if path.count("/") > 1 else "", {})}
            if method != "GET":  # nothing of theirs shall end before all others have been asked
                parts = NEVER
            for part in queried(route):
                for values in worst_values(part["schema"]):
                    where = asked(path, method, parts)
                    headers: dict[str, Any] = {}
                    if part["in"] == "query":
                        base, _, rest = where.partition("?")
                        kept = [word for word in rest.split("&") if word and not word.startswith(f"{part['name']}=")]
                        more = [f"{part['name']}={quote(value, safe='')}" for value in values]
                        where = f"{base}?{'&'.join([*kept, *more])}"
                    elif values[0].isascii() and values[0].isprintable():
                        headers = {part["name"]: values[0][:8000]}
                    body = BODIES.get(path, SAME_NAMES.get(path, {})) if with_body(route) else None
                    told = f"{method} {path} {part['name']}={values[0][:40]!r} ({len(values)})"
                    try:
                        answer = await asyncio.wait_for(caller.ask(method, where, body, **headers), 60)
                    except (aiohttp.ClientError, TimeoutError) as error:
                        raise AssertionError(f"{told}: {error!r}") from error
                    assert answer.status < 500 or answer.status == 501, f"{told}: {answer}"
                    assert answer.status < 300 or len(answer.text) < MOST_ANSWER, f"{told}: {len(answer.text)}"

        routes = [route for route in ROUTES if queried(route) and not route[1].endswith(("/wait", "/events"))]
        followed = [route for route in ROUTES if route[1].endswith("/events")]  # these answer as long as there is news
        async with asyncio.TaskGroup() as sending:
            for lane in range(4):
                sending.create_task(_in_turn(send, [*routes, *followed][lane::4]))
        await others_are_answered(other)
        assert process_state(apart.pid)["kibibytes"] < before + MOST_KIBIBYTES


async def _in_turn(send: Any, routes: list[Route]) -> None:
    for route in routes:
        await send(route)


def request_of(apart: ApiWorld, route: Route, parts: dict[str, str], *, length: int | None) -> bytes:
    """The head of a request, which says that so many bytes follow."""
    method, path = route
    kinds_of_body = operation(route).get("requestBody", {}).get("content", {})
    head = [
        f"{method} {asked(path, method, parts)} HTTP/1.1",
        "host: x",
        f"authorization: Bearer {apart.keys['hostile']}",
        f"content-type: {'application/json' if 'application/json' in kinds_of_body else 'application/octet-stream'}",
        *([] if length is None else [f"content-length: {length}"]),
    ]
    return ("\r\n".join(head) + "\r\n\r\n").encode()


async def connected(apart: ApiWorld) -> socket.socket:
    host, port = apart.url.removeprefix("http://").split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, (host, int(port)))
    return connection


async def nothing_is_left(apart: ApiWorld, before: dict[str, int]) -> None:
    """Of connections that their clients have closed. Threads of the store stay, and are made when they are needed."""
    more = {"descriptors": 6, "threads": 6 + THREADS + READING_THREADS, "processes": 6}
    for _ in range(200):
        after = process_state(apart.pid)
        beyond = {name for name, most in more.items() if after[name] > before[name] + most}
        if not beyond:
            return
        await asyncio.sleep(0.2)
    raise AssertionError((before, after))


async def test_bodies_that_come_slowly_to_every_route(apart: ApiWorld) -> None:
    """A byte at a time, and then no more, on several connections to each route that takes a body: others are answered,
    and so is the same workspace; nothing is left when the connections have gone."""
    async with AsyncExitStack() as stack:
        caller, other = await apart.caller(stack, "hostile"), await apart.caller(stack, "other")
        mine = await possessions(caller, stack)
        await others_are_answered(other)
        before, open_ = process_state(apart.pid), []
        for route in filter(with_body, ROUTES):
            parts = {**NEVER, **mine.get(route[1].split("/")[2], {})}
            for _ in range(SLOW):
                open_.append(connection := await connected(apart))
                head = request_of(apart, route, parts, length=100_000)
                await asyncio.get_running_loop().sock_sendall(connection, head + b"{")
        for byte in (b'"', b"a", b"b"):
            for connection in open_:
                try:
                    await asyncio.get_running_loop().sock_sendall(connection, byte)
                except OSError:  # it was closed for another one
                    continue
            await others_are_answered(other)
        assert (await asyncio.wait_for(caller.ask("GET", "/v1/leases/none"), MOST_SECONDS)).status in (404, 405)
        for connection in open_:
            connection.close()
        await nothing_is_left(apart, before)


async def test_answers_of_every_route_that_nobody_reads(apart: ApiWorld) -> None:
    """Many requests on a connection, whose answers stay where they are: others are answered, memory stays bounded, and
    nothing is left when the connections have gone. What ends something is asked of what nobody has."""
    async with AsyncExitStack() as stack:
        caller, other = await apart.caller(stack, "hostile"), await apart.caller(stack, "other")
        mine = await possessions(caller, stack)
        await others_are_answered(other)
        before, open_ = process_state(apart.pid), []
        for route in ROUTES:
            method, path = route
            is_end = method == "DELETE" or path.endswith(("/stop", "/kill", "/close"))
            noun = path.split("/")[2] if path.count("/") > 1 else ""
            parts = NEVER if is_end else {**NEVER, **mine.get(noun, {})}
            open_.append(connection := await connected(apart))
            one = request_of(apart, route, parts, length=2 if with_body(route) else None)
            try:
                await asyncio.wait_for(
                    asyncio.get_running_loop().sock_sendall(
                        connection, (one + b"{}" * with_body(route)) * ASKED_UNREAD
                    ),
                    1,
                )
            except (OSError, TimeoutError):  # it takes no more of them
                continue
        for _ in range(5):
            await others_are_answered(other)
        assert process_state(apart.pid)["kibibytes"] < before["kibibytes"] + MOST_KIBIBYTES
        for connection in open_:
            connection.close()
        await nothing_is_left(apart, before)


def test_every_route_has_every_attack() -> None:
    """Which route lacks which: it says so of a route that is added. Queries, slow bodies and unread answers are sent to
    every route of the table by the tests above; so what can be missing is what a row is written for."""
    bodies_of_tests = set(test_api_bodies.READERS) | set(test_server_worst.ROUTES)
    bodies_of_tests |= {(method, path) for method, path in test_server_worst.OTHER_BODIES}
    named = {path.partition("?")[0] for path, _ in references(None)} | set(SAME_NAMES)
    lacks = {
        "a name of another workspace": [
            route for route in ROUTES if "{" not in route[1] and route[0] != "GET" and route[1] not in named
        ],
        "a worst body": [route for route in ROUTES if with_body(route) and route not in bodies_of_tests],
        "a value for what its query needs": [
            (route, part["name"])
            for route in ROUTES
            for part in queried(route)
            if part.get("required") and part["name"] not in QUERIES and "enum" not in part["schema"]
        ],
        "something of its noun": [
            route for route in ROUTES if not set(re.findall(r"\{(\w+)\}", route[1])) <= set(NEVER)
        ],
    }
    assert {attack: routes for attack, routes in lacks.items() if routes} == {}
