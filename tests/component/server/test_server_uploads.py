from __future__ import annotations

import asyncio
import gzip
import io
import json
import socket
import tempfile
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from data_set_rows import harbor_task
from server_world import World

from harena.core.errors import ValidationError
from harena.core.workspace import WorkspaceLimits
from harena.server import bodies, large_bodies, uploads
from harena.server.bounds import MOST_JSON_BYTES
from harena.server.request_shares import needed_bytes
from harena.server.requests import BODY_SECONDS
from harena.testing import FakeClock
from harena.testing.conformance_operations import GOOD

LINES = {"content-type": "application/x-ndjson"}
PATH = "/v1/benchmark_jobs"


def lines(*values: Any) -> bytes:
    return b"".join(value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n" for value in values)


async def sent(http: aiohttp.ClientSession, body: Any, **headers: str) -> tuple[int, Any]:
    async with http.post(PATH, data=body, headers={**LINES, **headers}) as answer:
        return answer.status, await answer.json(content_type=None)


async def results(http: aiohttp.ClientSession, job: Any) -> list[str]:
    async with http.get(f"{PATH}/{job['id']}?wait_seconds=30") as answer:
        assert (await answer.json())["state"] == "completed"
    async with http.get(f"{PATH}/{job['id']}/results") as answer:
        return sorted(run["scenario_id"] for run in (await answer.json())["runs"] if run["passed"])


@pytest.fixture(autouse=True)
def kept_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Whatever is put into files lies in harena's home, and is gone at the end of each test."""
    home, elsewhere = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("HARENA_HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    yield home
    assert [*home.rglob("harena-*")] == []
    assert [*elsewhere.iterdir()] == []


async def test_rows(http: aiohttp.ClientSession) -> None:
    """The job first, then a scenario to a line; empty lines are none, and the last one needs no end."""
    body = lines({"name": "n"}, {**GOOD, "id": "a"}, b"\n", {**GOOD, "id": "b"}).rstrip()
    status, job = await sent(http, body)
    assert (status, job["name"], job["progress"]["total"]) == (201, "n", 2)
    assert await results(http, job) == ["a", "b"]


@pytest.mark.parametrize("named", [True, False])
async def test_candidates_come_before_the_rows_that_they_answer(http: aiohttp.ClientSession, named: bool) -> None:
    """As many lines as are announced, from a file or as rows."""
    samples = [{"task_id": f"T/{number}", "completion": f"    return x + {number}\n"} for number in range(3)]
    rows = [
        {
            "task_id": f"T/{number}",
            "prompt": "def f(x):\n",
            "entry_point": "f",
            "canonical_solution": "    return x\n",
            "test": f"def check(candidate):\n    assert candidate(1) == {1 + number}\n",
        }
        for number in range(3)
    ]
    files: dict[str, Any] = {"candidates": {"lines": 3}}
    if named:
        files = {"candidates": {"lines": 3, "file_name": "samples.jsonl"}, "scenarios": {"file_name": "rows.jsonl"}}
    status, job = await sent(http, lines({"name": "n", **files}, *samples, *rows))
    assert (status, job["progress"]["total"]) == (201, 3), job


@pytest.mark.cheap
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "the first line is the job"),
        (b"\n", "the first line is the job"),
        (b"{\n", "the first line is no JSON"),
        (b"[]\n", "dictionary"),
        (lines({"name": "n", "scenarios": [GOOD]}), "scenarios: "),
        (lines({"nome": "n"}, GOOD), "nome: unknown field"),
        (lines({"name": "n", "config": {"concurrency": 0}}, GOOD), "config.concurrency: "),
        (lines({"name": "n"}), "there are no scenarios"),
        (lines({"name": "n"}, b"{\n"), "scenarios: [0]: not JSON"),
        (lines({"name": "n"}, GOOD, b"\n", b"\xff\n"), "scenarios: [1]: not UTF-8 (byte 0 of its line)"),
        (lines({"name": "n"}, GOOD, b"[" * 100_000), "scenarios: [1]: nested too deeply"),
        (lines({"name": "n"}, GOOD, GOOD), "[1].id: 'good' is the id of the scenario at [0] too"),
        (lines({"name": "n"}, GOOD, {"id": "x"}), "[1]"),
        (lines({"name": "n", "scenarios": {"file_name": "a.jsonl"}}, GOOD, b"{\n"), "a.jsonl:2: not JSON"),
        (lines({"name": "n", "scenarios": {"file_name": "a.jsonl"}}, GOOD, b"\xff\n"), "a.jsonl: not UTF-8 text (byte"),
        (lines({"name": "n", "scenarios": {"file_name": "a.jsonl"}}, GOOD, GOOD), "a.jsonl:2: id: 'good' is the id"),
        (lines({"name": "n", "scenarios": {"file_name": ".."}}, GOOD), "scenarios.file_name"),
        (lines({"name": "n", "candidates": {"lines": 3}}, GOOD), "candidates.lines: 2 more lines"),
        (lines({"name": "n", "candidates": {"lines": -1}}, GOOD), "candidates.lines: "),
        (lines({"name": "n", "blueprint_id": "none"}, GOOD), "no blueprint"),
        (lines({"name": "n", "format": "none"}, GOOD), "none"),
    ],
)
async def test_what_is_wrong_is_told_with_its_place(http: aiohttp.ClientSession, body: bytes, says: str) -> None:
    """And there is no job."""
    status, problem = await sent(http, body)
    assert status == (404 if "blueprint" in says else 422)
    assert says in problem["detail"]
    assert "harena-upload" not in problem["detail"]
    async with http.get(PATH) as answer:
        assert (await answer.json())["benchmark_jobs"] == []


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/json"])
async def test_long_json_is_read_by_a_process(
    http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Others do not wait for it: neither for a body, nor for the first line of lines."""
    there = []

    def noted(read: Any, who: str) -> Any:
        def reading(body: bytes, where: str) -> Any:
            there.append((who, len(body) > bodies.AT_ONCE_BYTES, threading.current_thread() is threading.main_thread()))
            return read(body, where)

        return reading

    monkeypatch.setattr(bodies, "json_in", noted(bodies.json_in, "here"))
    monkeypatch.setattr(large_bodies.PROCESSES, "read", noted(large_bodies.PROCESSES.read, "a process"))
    for length in (1, bodies.AT_ONCE_BYTES):
        async with http.post(PATH, data=lines({"nome": "x" * length}), headers={"content-type": kind}) as answer:
            assert answer.status == 422
    assert there == [("here", False, True), ("a process", True, False)]


async def test_a_line_that_is_too_large(http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number and the limit are told; what comes behind it is not read."""
    monkeypatch.setattr(uploads, "MOST_JSON_BYTES", 100_000)
    taken = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal taken
        yield lines({"name": "n"}, GOOD)
        while taken < 200_000_000:
            taken += 100_000
            yield b"x" * 100_000

    status, problem = await sent(http, body())
    assert (status, problem["reason"]) == (413, "TOO_LARGE")
    assert "line 3 is larger than 100000 bytes" in problem["detail"]
    assert taken < 100_000_000


@pytest.mark.parametrize("field", ["scenarios", "candidates"])
@pytest.mark.parametrize(
    ("packed", "says"),
    [(b"\n" * 3_000_000, "unpacks to more than 2000000 bytes"), (b" " * 1_500_000, "1000000 bytes in one line")],
    ids=["lines", "a line"],
)
async def test_packed_lines_are_bounded_as_others_are(
    http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch, field: str, packed: bytes, says: str
) -> None:
    """Before anything of the file is read."""
    monkeypatch.setattr(uploads, "MOST_JSON_BYTES", 1_000_000)
    check = uploads._check_unpacked

    def with_less(path: Path, field: str, most_bytes: int) -> None:
        assert most_bytes == WorkspaceLimits().request_bytes
        check(path, field, 2_000_000)

    monkeypatch.setattr(uploads, "_check_unpacked", with_less)
    file = gzip.compress(packed)
    asked = {"name": "n", "format": "humaneval", field: {"file_name": "a.jsonl.gz"}}
    if field == "candidates":
        asked[field] |= {"lines": file.count(b"\n") + 1}
        file += b"\n"
    status, problem = await sent(http, lines(asked, file))
    assert (status, problem["reason"]) == (413, "TOO_LARGE")
    assert f"{field}: a.jsonl.gz unpacks to more than" in problem["detail"]
    assert says in problem["detail"]


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/json"])
async def test_a_candidate_of_200_megabytes(http: aiohttp.ClientSession, kind: str) -> None:
    """It is refused as it comes, and never in memory: less than a body of JSON may have."""

    async def body() -> AsyncIterator[bytes]:
        yield b'{"name": "n"}\n' if kind.endswith("ndjson") else b'{"name": "n", "scenarios": [{"candidate": "'
        piece = b"x" * (1 << 18)
        for _ in range(800):
            yield piece

    tracemalloc.start()
    try:
        async with http.post(PATH, data=body(), headers={"content-type": kind}) as answer:
            problem = await answer.json(content_type=None)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (answer.status, problem["reason"]) == (413, "TOO_LARGE")
    assert str(MOST_JSON_BYTES) in problem["detail"]
    assert peak < (16 << 20 if kind.endswith("ndjson") else 2 * MOST_JSON_BYTES)


async def test_lines_that_are_too_many(http: aiohttp.ClientSession, here: World) -> None:
    """All of them together are at most what the workspace may send at once."""
    here.state.quotas._defaults = replace(here.state.quotas._defaults, request_bytes=10_000)
    status, problem = await sent(http, lines({"name": "n"}, *([GOOD] * 100)))
    assert (status, problem["reason"]) == (413, "TOO_LARGE")
    assert "10000 bytes (the workspace's limit)" in problem["detail"]


async def test_the_same_key_gives_the_same_job(http: aiohttp.ClientSession) -> None:
    """And another upload with it is a mistake."""
    body = lines({"name": "n"}, GOOD)
    answers = await asyncio.gather(*(sent(http, body, **{"idempotency-key": "k"}) for _ in range(3)))
    assert {status for status, _ in answers} == {201}
    assert len({job["id"] for _, job in answers}) == 1
    status, problem = await sent(http, lines({"name": "other"}, GOOD), **{"idempotency-key": "k"})
    assert (status, problem["reason"]) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_a_sender_that_goes_in_the_middle_leaves_nothing(http: aiohttp.ClientSession, here: World) -> None:
    """Neither a job nor a file."""

    async def body() -> AsyncIterator[bytes]:
        yield lines({"name": "n"}, GOOD)
        raise ConnectionResetError

    with pytest.raises((aiohttp.ClientError, ConnectionResetError)):
        await sent(http, body())
    async with http.get(PATH) as answer:
        assert (await answer.json())["benchmark_jobs"] == []


async def test_the_sdk_sends_what_is_made_one_by_one(here: World) -> None:
    """A generator is taken once, and not into the memory."""
    client = here.client()
    taken = []

    def made() -> Iterator[Any]:
        for number in range(1000):
            taken.append(number)
            yield {**GOOD, "id": f"s{number}"}

    job = await client.create_benchmark_job({"name": "n", "scenarios": made()})
    assert (job["progress"]["total"], taken) == (1000, [*range(1000)])
    with pytest.raises(ValidationError, match=r"scenarios: \[1\].*tuple"):
        await client.create_benchmark_job({"name": "n", "scenarios": iter([GOOD, {**GOOD, "metadata": {"x": (1, 2)}}])})
    await client.close()


async def test_the_sdk_sends_files_as_they_are(here: World, tmp_path: Path) -> None:
    """Lines of scenarios, and of answers to them; a mistake is told with this machine's name of the file."""
    file = tmp_path / "mine.jsonl"
    file.write_bytes(lines({"version": 1, "problems": []}, {**GOOD, "id": "a"}, b"\n", {**GOOD, "id": "b"}).rstrip())
    client = here.client()
    job = await client.create_benchmark_job({"name": "n", "scenarios": str(file)})
    assert job["progress"]["total"] == 2
    file.write_bytes(lines(GOOD, GOOD))
    with pytest.raises(ValidationError, match=r" mine.jsonl:2: id: "):
        await client.create_benchmark_job({"name": "n", "scenarios": str(file)})
    with pytest.raises(ValidationError, match=r"none.jsonl cannot be read"):
        await client.create_benchmark_job({"name": "n", "scenarios": str(tmp_path / "none.jsonl")})
    await client.close()


def begun(here: World, size: int) -> socket.socket:
    """A connection on which this many bytes of lines were sent, of a body that goes on."""
    connection = socket.create_connection(("127.0.0.1", int(here.url.rpartition(":")[2])))
    headers = ["host: 127.0.0.1", "content-type: application/x-ndjson", "content-length: 9999999"]
    connection.sendall(
        "\r\n".join([f"POST {PATH} HTTP/1.1", *headers, "", ""]).encode() + lines({"name": "n"}) + b"\n" * size
    )
    return connection


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not reached():  # noqa: ASYNC110 - what is waited for is on the other side of a socket
            await asyncio.sleep(0)


def on_the_disk(here: World) -> int:
    """Bytes of unfinished bodies, as they are counted."""
    return sum(room.taken for room in here.state.request_disk._rooms.values())


async def test_unfinished_bodies_have_a_share_of_the_disk(http: aiohttp.ClientSession, here: World) -> None:
    """All those of one workspace together, however many there are; what ends makes room."""
    here.state.quotas._defaults = replace(here.state.quotas._defaults, request_disk_bytes=100_000)
    first, second = begun(here, 60_000), begun(here, 60_000)
    with closing(first), closing(second):
        await until(lambda: 60_000 < on_the_disk(here) <= 100_000)
        status, problem = await sent(http, lines({"name": "n"}, GOOD) + b"\n" * 50_000)
        assert (status, problem["reason"]) == (429, "BUSY")
        assert "request_disk_bytes" in problem["detail"]
    await until(lambda: on_the_disk(here) == 0)
    status, _ = await sent(http, lines({"name": "n"}, GOOD) + b"\n" * 50_000)
    assert (status, on_the_disk(here)) == (201, 0)
    status, problem = await sent(http, lines({"name": "n"}, GOOD) + b"\n" * 200_000)
    assert (status, problem["reason"]) == (413, "TOO_LARGE"), "it would not fit later either"


async def test_unfinished_first_lines_have_a_share_of_the_memory(http: aiohttp.ClientSession, here: World) -> None:
    """They are held in it, as bodies of JSON are; the lines behind them are not."""
    here.state.quotas._defaults = replace(here.state.quotas._defaults, request_memory_bytes=120 << 20)
    taken = here.state.request_memory

    async def unfinished(gone: asyncio.Event) -> AsyncIterator[bytes]:
        yield b'{"name": "' + b"x" * 500_000
        await gone.wait()

    gone = asyncio.Event()
    waiting = [asyncio.ensure_future(sent(http, unfinished(gone))) for _ in range(3)]
    await until(lambda: sum(room.taken for room in taken._rooms.values()) == 3 * needed_bytes(500_010))
    status, problem = await sent(http, lines({"name": "x" * 500_000}))
    assert (status, problem["reason"]) == (429, "BUSY")
    assert "request_memory_bytes" in problem["detail"]
    status, _ = await sent(http, lines({"name": "n"}, GOOD) + b"\n" * 500_000)
    assert status == 201, "what goes to the disk takes none"
    gone.set()
    for status, _ in await asyncio.gather(*waiting):
        assert status == 422
    assert sum(room.taken for room in taken._rooms.values()) == 0
    status, problem = await sent(http, io.BytesIO(lines({"name": "x" * 2_000_000})))
    assert (status, problem["reason"]) == (413, "TOO_LARGE"), "it would not fit later either"


async def test_a_body_that_stalls_ends_with_its_connection(here: World, kept_folders: Path) -> None:
    """A while after its last byte, and not before; its files go with it."""
    clock = here.state.clock
    assert isinstance(clock, FakeClock)
    with closing(begun(here, 1000)) as connection:
        connection.setblocking(False)
        await until(lambda: on_the_disk(here) > 1000 and clock.pending > 0)
        assert [*kept_folders.rglob("harena-upload-*")] != []
        await clock.advance(BODY_SECONDS - 1)
        connection.send(b"\n")
        before = on_the_disk(here)
        await until(lambda: on_the_disk(here) == before + 1)
        await clock.advance(BODY_SECONDS - 1)
        assert on_the_disk(here) == before + 1, "something has come meanwhile"
        await clock.advance(1)
        await until(lambda: on_the_disk(here) == 0)
        assert await asyncio.get_running_loop().sock_recv(connection, 1) == b"", "it is closed"


async def test_the_sdk_sends_task_directories(
    here: World, http: aiohttp.ClientSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an archive behind the first line, and answers before it; what is wrong is told without the server's place."""
    monkeypatch.setattr(uploads, "MOST_JSON_BYTES", 20_000)  # for lines, and an archive has none
    for name in ("a", "b"):
        task = harbor_task(tmp_path / "tasks" / name)
        (task / "environment/Dockerfile").write_text("FROM python\nWORKDIR /app\n")
        (task / "environment/data").write_bytes(b"x" * 99_999)
    answers = tmp_path / "answers.jsonl"
    answers.write_bytes(lines(*({"task_id": name, "completion": "true\n"} for name in "ab")).rstrip())
    client = here.client()
    asked = {"name": "n", "scenarios": str(tmp_path / "tasks"), "format": "harbor"}
    for more, total in (({}, 2), ({"candidates": "nop"}, 2), ({"candidates": str(answers)}, 2)):
        job = await client.create_benchmark_job({**asked, **more})
        assert job["progress"]["total"] == total
        await client.wait_benchmark_job(job["id"])
    (tmp_path / "tasks/b/task.toml").write_text("version = 9\n")
    with pytest.raises(ValidationError, match=r" b/task\.toml: schema_version") as told:
        await client.create_benchmark_job(asked)
    assert "spool" not in str(told.value)
    await client.close()
    status, problem = await sent(http, lines({"name": "n", "scenarios": {"file_name": "x.tar"}}) + b"no archive")
    assert (status, "no whole tar archive" in problem["detail"]) == (422, True), problem


async def test_an_archive_of_task_directories_has_a_bound(
    http: aiohttp.ClientSession, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes behind it is not taken; and it has room in the memory of its workspace's requests."""
    monkeypatch.setattr(uploads, "MOST_ARCHIVE_BYTES", 100_000)
    status, problem = await sent(http, lines({"name": "n", "scenarios": {"file_name": "x.tar"}}) + bytes(200_000))
    assert (status, problem["reason"]) == (413, "TOO_LARGE"), problem
