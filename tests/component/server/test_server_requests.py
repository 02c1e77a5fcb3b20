from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
import structlog
from server_world import World

from harena.core.errors import PlatformError, SandboxTerminatedError, SandboxUnavailableError
from harena.core.models import ExecRequest, SandboxSpec
from harena.server import requests
from harena.server.listening import is_loopback, listen
from harena.testing import FakeClock


async def created(http: aiohttp.ClientSession, **body: Any) -> dict[str, Any]:
    async with http.post("/v1/sandboxes", json=body) as answer:
        assert answer.status == 201, await answer.text()
        made: dict[str, Any] = await answer.json()
        return made


async def until(reached: Callable[[], bool]) -> None:
    """Lets everything else run until it is so."""
    async with asyncio.timeout(10):
        while not reached():  # noqa: ASYNC110 - what is waited for is on the other side of a socket
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"imgae": "default"}, "imgae: unknown field"),
        ({"limits": {"memory": 5}}, "limits.memory: unknown field"),
        ({"tags": "a"}, "tags: "),
        ({"limits": {"pids": "12"}}, "limits.pids: "),
        ({"limits": {"pids": 12.5}}, "limits.pids: "),
        ({"limits": {"pids": 1}}, "limits: pids"),
        ({"env": {"A": 5}}, "env.A: "),
        ({"env": {"A=B": "5"}}, "A=B"),
        ({"files": {"relative": ""}}, "relative"),
        ({"files": {"/data/x": "no base64!"}}, "/data/x: not base64"),
        ({"cwd": "here"}, "cwd"),
        ({"env": {"A": "\ud800"}}, "surrogate"),
        ([], "valid dictionary"),
    ],
)
async def test_what_cannot_be_understood_is_one_422_before_any_work(
    here: World, http: aiohttp.ClientSession, body: Any, says: str
) -> None:
    """It names the field, and nothing is created."""
    async with http.post("/v1/sandboxes", json=body) as answer:
        problem = await answer.json(content_type="application/problem+json")
    assert answer.status == problem["status"] == 422
    assert problem["code"] in ("validation", "sandbox_validation")
    assert says in problem["detail"]
    assert here.runtime.created == []


async def test_every_mistake_is_told_at_once(http: aiohttp.ClientSession) -> None:
    """Not one after the other."""
    async with http.post("/v1/sandboxes", json={"a": 1, "b": 2, "image": 5}) as answer:
        detail = (await answer.json(content_type=None))["detail"]
    assert all(mistake in detail for mistake in ("a: unknown field", "b: unknown field", "image: "))


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("PATCH", "/v1/sandboxes", 405, "validation"),
        ("GET", "/v1/sandboxes?limit=0", 422, "validation"),
        ("GET", "/v1/sandboxes?limt=5", 422, "validation"),
        ("GET", "/v1/sandboxes?status=alive", 422, "validation"),
        ("GET", "/v1/sandboxes?cursor=%C3%A9", 422, "validation"),
        ("GET", "/v1/sandboxes/sb_1", 404, "sandbox_not_found"),
        ("GET", "/v1/sandboxes/sb_1/files?path=/x", 404, "sandbox_not_found"),
        ("GET", "/v1/sandboxes/sb_1/files?path=x", 422, "sandbox_validation"),
        ("POST", "/v1/leases/lease_1/renew", 404, "not_found"),
        ("GET", "/v1/blueprints/none", 404, "not_found"),
    ],
)
async def test_problems(http: aiohttp.ClientSession, method: str, path: str, status: int, code: str) -> None:
    """Each has its status, its code and the id under which the log has it."""
    async with http.request(method, path) as answer:
        problem = await answer.json(content_type="application/problem+json")
    assert (answer.status, problem["status"], problem["code"]) == (status, status, code)
    assert problem["request_id"] == answer.headers["x-request-id"]


async def test_request_ids(http: aiohttp.ClientSession) -> None:
    """A plain word of the caller's is kept; anything else is not put into the log."""
    async with http.get("/healthz", headers={"x-request-id": "abc-1"}) as answer:
        assert answer.headers["x-request-id"] == "abc-1"
    async with http.get("/healthz", headers={"x-request-id": "a b"}) as answer:
        assert answer.headers["x-request-id"].startswith("req_")


async def test_the_log_has_one_line_per_request(http: aiohttp.ClientSession) -> None:
    """With the id of the answer, and without what is secret or somebody's content."""
    with structlog.testing.capture_logs() as lines:
        headers = {"x-request-id": "one", "authorization": "Bearer hk_secret"}
        async with http.post("/v1/sandboxes?x=secret", json={"env": {"A": "secret"}}, headers=headers) as answer:
            assert answer.status == 422
        async with http.get("/healthz"):
            pass
    assert [(line["event"], line["request_id"], line["status"], line["path"]) for line in lines] == [
        ("request", "one", 422, "/v1/sandboxes")
    ]
    assert "secret" not in str(lines)


async def test_the_log_holds_a_part_of_a_long_path(http: aiohttp.ClientSession) -> None:
    """Whoever sends requests, with a key or without one, would write 32 KiB for each of them to the host's disk."""
    with structlog.testing.capture_logs() as lines:
        async with http.get(f"/v1/sandboxes/{'x' * 30_000}") as answer:
            assert answer.status in (404, 422)
    assert [len(line["path"]) for line in lines] == [requests.MOST_LOGGED]
    assert len(str(lines)) < 2 * requests.MOST_LOGGED


async def test_metrics_count_by_route_not_by_path(http: aiohttp.ClientSession) -> None:
    """Paths that somebody makes up must not fill the memory."""
    for number in range(3):
        async with http.get(f"/v1/sandboxes/sb_{number}"):
            pass
        async with http.get(f"/made/up/{number}"):
            pass
    async with http.get("/metrics") as answer:
        page = await answer.text()
    assert 'route="/v1/sandboxes/{sandbox_id}",status="404"} 3.0' in page
    assert 'route="(none)",status="404"} 3.0' in page
    assert "made/up" not in page


@pytest.mark.parametrize("headers", [{"host": "evil.test"}, {"origin": "https://evil.test"}, {"host": "[bad"}])
async def test_web_pages_of_others_are_refused_where_there_are_no_keys(
    http: aiohttp.ClientSession, headers: dict[str, str]
) -> None:
    """A browser on this machine could be told to send requests here."""
    async with http.get("/healthz", headers=headers) as answer:
        problem = await answer.json(content_type=None)
    assert (answer.status, problem["code"], problem["reason"]) == (403, "access", "FORBIDDEN")


async def test_a_body_has_a_bound(http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON is read whole, and only so much of it."""
    monkeypatch.setattr(requests, "MOST_JSON_BYTES", 1000)
    async with http.post("/v1/sandboxes", json={"env": {"A": "x" * 2000}}) as answer:
        problem = await answer.json(content_type=None)
    assert (answer.status, problem["reason"]) == (413, "TOO_LARGE")


async def test_pages(http: aiohttp.ClientSession) -> None:
    """Each sandbox is on exactly one page, also where others are made between two pages."""
    made = [(await created(http, tags=["t"]))["id"] for _ in range(5)]
    seen: list[str] = []
    cursor = None
    while True:
        query = {"limit": "2", "tag": "t", **({"cursor": cursor} if cursor else {})}
        async with http.get("/v1/sandboxes", params=query) as answer:
            page = await answer.json()
        seen += [entry["id"] for entry in page["sandboxes"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        await created(http, tags=["other"])
    assert sorted(seen) == sorted(made)


async def test_an_idempotency_key_creates_once(here: World, http: aiohttp.ClientSession) -> None:
    """Also at the same time; another request under the same key is refused, and a failure may be tried again."""

    async def once(key: str, **body: Any) -> tuple[int, Any]:
        async with http.post("/v1/sandboxes", json=body, headers={"idempotency-key": key}) as answer:
            return answer.status, await answer.json(content_type=None)

    (first, one), (second, other) = await asyncio.gather(once("k", tags=["a"]), once("k", tags=["a"]))
    assert (first, second) == (201, 201)
    assert one["id"] == other["id"]
    assert len(here.runtime.created) == 1
    status, problem = await once("k", tags=["b"])
    assert (status, problem["reason"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    here.runtime.fail_next_create(RuntimeError("no luck"))
    status, problem = await once("again")
    assert (status, problem["code"]) == (500, "sandbox_start")
    assert (await once("again"))[0] == 201


async def test_a_sandbox_that_could_not_start_is_remembered(here: World, http: aiohttp.ClientSession) -> None:
    """For the workspace that asked for it."""
    here.runtime.fail_next_create(RuntimeError("no luck"))
    async with http.post("/v1/sandboxes", json={}) as answer:
        problem = await answer.json(content_type=None)
    async with http.get(f"/v1/sandboxes/{problem['sandbox_id']}") as answer:
        assert (await answer.json())["status"] == "failed"


async def test_a_command_dies_with_its_connection(here: World, http: aiohttp.ClientSession) -> None:
    """Whoever breaks off leaves nothing running."""
    sandbox = await created(http)
    port = here.runtime.sandboxes[sandbox["id"]]
    async with http.post(
        f"/v1/sandboxes/{sandbox['id']}/execs", json={"argv": ["sh", "-c", "echo up; cat"], "stdin_stream": True}
    ) as answer:
        assert await answer.content.readany()
        async with asyncio.timeout(10):
            while not await port.processes():  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0)
        answer.close()
    async with asyncio.timeout(10):
        while await port.processes():  # noqa: ASYNC110 - processes are on the other side of the kernel
            await asyncio.sleep(0)
    async with http.get("/metrics") as answer:
        assert "harena_execs_running 0.0" in await answer.text()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"argv": []}, "argv"),
        ({"argv": "ls"}, "argv"),
        ({"argv": ["a\0b"]}, "NUL"),
        ({"argv": ["ls"], "timeout_seconds": 0}, "timeout_seconds"),
        ({"argv": ["ls"], "timeout_seconds": 1e12}, "timeout_seconds"),
        ({"argv": ["ls"], "terminal": [0, 5]}, "width"),
        ({"argv": ["ls"], "stdin": "%"}, "stdin"),
        ({"argv": ["ls"], "shell": True}, "shell: unknown field"),
    ],
)
async def test_commands_that_cannot_be(http: aiohttp.ClientSession, body: Any, says: str) -> None:
    """One 422 that names the field."""
    sandbox = await created(http)
    async with http.post(f"/v1/sandboxes/{sandbox['id']}/execs", json=body) as answer:
        problem = await answer.json(content_type=None)
    assert answer.status == 422
    assert says in problem["detail"]


async def test_files_with_plain_requests(http: aiohttp.ClientSession) -> None:
    """Bytes in, bytes out, without the sdk."""
    sandbox = await created(http, files={"/data/x": base64.b64encode(b"\x00\xff").decode()})
    files = f"/v1/sandboxes/{sandbox['id']}/files"
    async with http.post(files, params={"path": "/data/x"}, data=b"more") as answer:
        assert answer.status == 204
    async with http.get(files, params={"path": "/data/x"}) as answer:
        assert await answer.read() == b"\x00\xffmore"
    async with http.get(files, params={"path": "/data/y"}) as answer:
        problem = await answer.json(content_type=None)
    assert (answer.status, problem["code"], problem["filepath"]) == (404, "sandbox_file", "/data/y")


async def test_a_lease_that_is_not_renewed_ends_its_sandboxes(here: World, http: aiohttp.ClientSession) -> None:
    """And only those."""
    clock = here.state.clock
    assert isinstance(clock, FakeClock)
    async with http.post("/v1/leases", json={"seconds": 60}) as answer:
        lease = (await answer.json())["id"]
    leased, free = await created(http, lease_id=lease), await created(http)
    await clock.advance(50)
    async with http.post(f"/v1/leases/{lease}/renew") as answer:
        assert answer.status == 200
    await clock.advance(59)
    assert set(here.runtime.sandboxes) == {leased["id"], free["id"]}
    await clock.advance(2)
    await here.state.leases.settled()
    assert set(here.runtime.sandboxes) == {free["id"]}
    async with http.post("/v1/sandboxes", json={"lease_id": lease}) as answer:
        assert (answer.status, (await answer.json(content_type=None))["reason"]) == (404, "LEASE_OVER")


async def test_the_sdk_renews_its_lease_and_leaves_nothing_behind(here: World) -> None:
    """As long as the client lives its sandboxes do, and no longer."""
    clock = here.state.clock
    assert isinstance(clock, FakeClock)
    renewing = FakeClock(auto_jump=False)
    client = here.client(clock=renewing)
    handle = await client.create_sandbox(SandboxSpec())
    lease = next(iter(here.state.leases._leases.values()))
    for _ in range(5):
        before = lease.expires_at
        await clock.advance(30)
        await renewing.advance(30)
        await until(lambda: lease.expires_at != before and renewing.pending == 1)  # noqa: B023 - called before the next round
    assert (await handle.refresh()).status == "running"
    await client.close()
    assert here.runtime.sandboxes == {}


async def test_a_client_that_slept_longer_than_its_lease_goes_on(here: World) -> None:
    """With another lease; what it had is gone."""
    clock = here.state.clock
    assert isinstance(clock, FakeClock)
    client = here.client(clock=FakeClock(auto_jump=False))
    before = await client.create_sandbox(SandboxSpec())
    await clock.advance(3600)
    await here.state.leases.settled()
    after = await client.create_sandbox(SandboxSpec())
    assert (await before.refresh()).status == "completed"
    assert (await after.refresh()).status == "running"
    await client.close()
    assert here.runtime.sandboxes == {}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/sandboxes", {"tags": ["\ud800"]}),
        ("POST", "/v1/sandboxes", {"image": "\ud800"}),
        ("POST", "/v1/sandboxes", {"limits": {"memory_bytes": 10**40}}),
        ("POST", "/v1/benchmark_jobs", {"name": "\ud800", "scenarios": []}),
        ("POST", "/v1/benchmark_jobs", {"name": "x", "scenarios": {"file_name": "../x", "text": "\ud800"}}),
        ("POST", "/v1/benchmark_jobs", {"name": "x", "scenarios": {"file_name": "..", "text": "[]"}}),
        ("POST", "/v1/benchmark_jobs", {"name": "x", "scenarios": "/etc/passwd"}),
        ("POST", "/v1/blueprints", {"name": "\ud800"}),
        ("POST", "/v1/blueprints", {"name": "x", "files": {"/data/x": "%"}}),
        ("GET", "/v1/benchmark_jobs?cursor=99999999999999999999999", None),
        ("GET", "/v1/benchmark_jobs?limit=1e3", None),
        ("POST", "/v1/leases", {"seconds": 0.1}),
        ("POST", "/v1/leases", {"seconds": True}),
    ],
)
async def test_strange_values_are_422_everywhere(
    http: aiohttp.ClientSession, method: str, path: str, body: Any
) -> None:
    """Never a failure of the server."""
    async with http.request(method, path, json=body) as answer:
        assert answer.status == 422, await answer.text()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'{"image": NaN}', b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"]
)
async def test_bodies_that_are_no_json(http: aiohttp.ClientSession, body: bytes) -> None:
    """However broken."""
    async with http.post("/v1/sandboxes", data=body, headers={"content-type": "application/json"}) as answer:
        assert answer.status == 422, await answer.text()


async def test_a_creation_that_is_given_up_leaves_nothing_behind(here: World) -> None:
    """The server is asked for it again, and it is stopped."""
    client = here.client()
    creation = asyncio.ensure_future(client.create_sandbox(SandboxSpec()))
    await until(lambda: bool(here.runtime.created))
    creation.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creation
    await until(lambda: not (here.runtime.sandboxes or client._given_up))
    assert len(here.runtime.created) == 1
    await client.close()


async def test_draining(here: World, http: aiohttp.ClientSession) -> None:
    """New work is refused with a problem that says so; long questions are answered at once."""
    sandbox = await created(http)
    waiting = asyncio.ensure_future(http.get(f"/v1/sandboxes/{sandbox['id']}/wait?seconds=60"))
    await asyncio.sleep(0)
    here.state.draining.set()
    answer = await waiting
    assert (await answer.json())["status"] == "running"
    async with http.post("/v1/sandboxes", json={}) as answer:
        assert (answer.status, (await answer.json(content_type=None))["reason"]) == (503, "DRAINING")
    async with http.get("/healthz") as answer:
        assert (answer.status, (await answer.json())["status"]) == (503, "draining")


async def test_a_command_outlives_the_begin_of_the_end(here: World) -> None:
    """What runs when the server is asked to stop is let finish."""
    client = here.client()
    handle = await client.create_sandbox(SandboxSpec())
    running = await handle.port.exec(ExecRequest(argv=("cat",), stdin_stream=True))
    closing = asyncio.ensure_future(here.server.close(drain_seconds=30))
    async with aiohttp.ClientSession(here.server.url) as another:
        async with another.get("/healthz") as answer:
            assert (await answer.json())["status"] == "draining"
        # a new connection, which shows that the server listens until the command has ended
        async with another.get("/healthz") as answer:
            assert answer.status == 503
    await running.write_stdin(b"still here")
    running.close_stdin()
    assert (await running.wait()).stdout == b"still here"
    await closing
    with pytest.raises(SandboxUnavailableError):
        await client.close()


async def test_a_server_that_goes_away_is_the_platforms_failure(here: World) -> None:
    """Never a result of the program."""
    client = here.client()
    handle = await client.create_sandbox(SandboxSpec())
    running = await handle.port.exec(ExecRequest(argv=("sleep", "3600")))
    await here.server.close(drain_seconds=0)
    with pytest.raises((SandboxUnavailableError, SandboxTerminatedError)):
        await running.wait()
    with pytest.raises(SandboxUnavailableError):
        await handle.refresh()
    with pytest.raises(SandboxUnavailableError):
        await client.close()


def test_answers_in_pieces_are_not_held_back() -> None:
    """asyncio turns Nagle's algorithm off where the listening socket says that it is TCP."""
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_is_told() -> None:
    """With what to change."""
    with listen("127.0.0.1", 0) as listening:
        with pytest.raises(PlatformError, match="--port"):
            listen("127.0.0.1", listening.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.3.2.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback(host: str, loopback: bool) -> None:
    """A name that could mean anything is not."""
    assert is_loopback(host) is loopback
    assert not is_loopback("example.test")


async def test_a_page_of_sandboxes_counts_names_of_annotations(here: World, http: aiohttp.ClientSession) -> None:
    """They are sent as their values are."""
    noted = {"annotations": {f"{number:03}".ljust(1000, "n"): "" for number in range(200)}}
    for _ in range(6):
        async with http.post("/v1/sandboxes", json=noted) as made:
            assert made.status == 201
    async with http.get("/v1/sandboxes") as answer:
        page = await answer.json()
    assert len(page["sandboxes"]) == 5
    async with http.get("/v1/sandboxes", params={"cursor": page["next_cursor"]}) as answer:
        assert len((await answer.json())["sandboxes"]) == 1


async def test_a_page_of_sandboxes_is_bounded_in_characters(here: World, http: aiohttp.ClientSession) -> None:
    """It is put into words in one step, while nobody else is answered; the next page goes on."""
    noted = {"annotations": {str(number): "v" * 60_000 for number in range(4)}}
    for _ in range(6):
        async with http.post("/v1/sandboxes", json=noted) as made:
            assert made.status == 201
    seen, cursor = [], None
    while True:
        async with http.get("/v1/sandboxes", params={"cursor": cursor} if cursor else {}) as answer:
            page = await answer.json()
        assert 1 <= len(page["sandboxes"]) <= 4
        seen += [sandbox["id"] for sandbox in page["sandboxes"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert len(set(seen)) == len(seen) == 6
    async with http.post("/v1/sandboxes", json={"annotations": {str(n): "v" * 60_000 for n in range(5)}}) as refused:
        assert refused.status == 422
