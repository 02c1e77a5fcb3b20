from __future__ import annotations

import asyncio
import io
import json
import resource
import threading
import tracemalloc
from asyncio import StreamReader, StreamWriter
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import aiohttp
import pytest
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel, field_validator
from server_world import World, world
from starlette.exceptions import HTTPException

from harena.core import outside_json
from harena.core.errors import ValidationError
from harena.core.models import MIB
from harena.core.outside_json import MOST_VALUES
from harena.server import app as server_app
from harena.server.bodies import AT_ONCE_BYTES, JsonRoute
from harena.server.strict_json import MOST_DEPTH, json_in
from harena.testing.conformance_operations import GOOD

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON: Expecting property name"),
        (b'{"image": NaN}', "NaN is no number of JSON"),
        (b'{"image": -Infinity}', "-Infinity is no number of JSON"),
        (b'{"image": 1e999}', "'1e999' is beyond the largest number"),
        (b'{"image": [-1e309]}', "'-1e309' is beyond the largest number"),
        (b'{"image": "a", "image": "b"}', "'image' is written twice"),
        (b'{"a": [{"b": 1, "b": 2}]}', "'b' is written twice"),
        (b'{"image": "\xff"}', "not UTF-8 (byte 11)"),
        ('{"image": "a"}'.encode("utf-16"), "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
        (b"{} {}", "no JSON: Extra data"),
    ],
)
def test_what_is_no_json(body: bytes, says: str) -> None:
    """Each error says what is wrong, in one line."""
    with pytest.raises(ValidationError, match="the body") as caught:
        json_in(body)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_escapes_are_counted_past_without_memory() -> None:
    """A body is looked through for its nesting in the memory that it has already, however many escapes a text of it
    holds."""
    escapes = 200_000
    body = b'["' + b"\\n" * escapes + b'"' + b",[" * MOST_DEPTH + b"]" * (MOST_DEPTH + 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValidationError, match="nested too deeply"):
        json_in(body)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 10 * escapes


def test_what_is_json() -> None:
    """Also after the mark that some editors put before it."""
    assert json_in('\ufeff{"ä": [1, 2.5, null, "\\ud83e\\udd86"]}'.encode()) == {"ä": [1, 2.5, None, "🦆"]}


@pytest.mark.parametrize(
    "headers",
    [{"content-type": "application/x-www-form-urlencoded"}, {"content-type": "text/plain; charset=utf-8"}, {}],
    ids=["as curl -d sends it", "text", "none"],
)
async def test_a_body_of_another_kind(http: aiohttp.ClientSession, headers: dict[str, str]) -> None:
    """One 415 that says which content-type is right."""
    body = b'{"tags": []}'
    skipped = None if headers else ["Content-Type"]
    async with http.post("/v1/sandboxes", data=body, headers=headers, skip_auto_headers=skipped) as answer:
        problem = await answer.json(content_type=None)
    assert (answer.status, problem["code"], problem["reason"]) == (415, "validation", "CONTENT_TYPE")
    assert "application/json" in problem["detail"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/JSON", "application/merge+json"])
async def test_bodies_of_json(http: aiohttp.ClientSession, kind: str) -> None:
    """However it is written."""
    async with http.post("/v1/leases", data=b'{"seconds": 60}', headers={"content-type": kind}) as answer:
        assert answer.status == 201


@pytest.mark.parametrize(("content", "status"), [(b"{", 401), (b"{}", 401)])
async def test_a_stranger_is_not_listened_to(tmp_path: Path, content: bytes, status: int) -> None:
    """What they sent is not even parsed."""
    async with world(tmp_path, keyed=True) as made, aiohttp.ClientSession(made.url) as http:
        async with http.post("/v1/sandboxes", data=content, headers=JSON) as answer:
            assert answer.status == status


async def test_a_body_that_is_told_to_be_too_large_is_not_read(here: World) -> None:
    """The answer comes before it."""
    reader, writer = await _connected(here)
    writer.write(b"POST /v1/sandboxes HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n")
    writer.write(b"content-length: 200000000\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    length = int(dict(_headers(head))["content-length"])
    problem = json.loads(await reader.readexactly(length))
    assert "67108864 bytes" in problem["detail"]
    writer.close()


async def test_standard_input_is_not_read_beyond_its_limit(http: aiohttp.ClientSession) -> None:
    """One write is at most 4 MiB, whatever comes."""
    async with http.post("/v1/sandboxes", json={}) as answer:
        sandbox_id = (await answer.json())["id"]
    at = f"/v1/sandboxes/{sandbox_id}/execs"
    async with http.post(at, json={"argv": ["cat"], "stdin_stream": True}) as running:
        first = await running.content.readany()
        exec_id = json.loads(first[5:])["exec_id"]
        async with http.post(f"{at}/{exec_id}/stdin", data=io.BytesIO(bytes(5 << 20))) as answer:
            assert (answer.status, (await answer.json(content_type=None))["reason"]) == (413, "TOO_LARGE")


async def _connected(here: World) -> tuple[StreamReader, StreamWriter]:
    address = urlsplit(here.url)
    return await asyncio.open_connection(address.hostname, address.port)


def _headers(head: bytes) -> list[tuple[str, str]]:
    lines = head.decode().split("\r\n")[1:]
    return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines if line)]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"[" + b"[]," * 20_000 + b"[]]", "more than 1000 values"),
        (b'{"a": [' + b'{"b":1},' * 20_000, "more than 1000 values"),
        (b"[" * (MOST_DEPTH + 1) + b"]" * (MOST_DEPTH + 1), "nested too deeply"),
        (b'{"a":' * (MOST_DEPTH + 1) + b"1" + b"}" * (MOST_DEPTH + 1), "nested too deeply"),
    ],
    ids=["lists", "objects", "deep lists", "deep objects"],
)
def test_what_is_too_much_is_never_made(body: bytes, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted as text: a few bytes of it can become sixty of memory, each."""
    monkeypatch.setattr(outside_json, "MOST_VALUES", 1000)
    tracemalloc.start()
    try:
        with pytest.raises(ValidationError, match=says):
            json_in(body)
        assert tracemalloc.get_traced_memory()[1] < MIB // 4
    finally:
        tracemalloc.stop()


def test_texts_are_one_value_each() -> None:
    """Whatever stands in them: programs have many commas and brackets. Also as many values as there may be are read."""
    program = '[{,\\"}]' * (MOST_VALUES // 2)
    assert json_in(json.dumps({"program": program}).encode()) == {"program": program}
    assert len(json_in(b"[" + b"1," * (MOST_VALUES - 2) + b"1]")) == MOST_VALUES - 1
    assert json_in(b"[" * MOST_DEPTH + b"]" * MOST_DEPTH) != []


def test_texts_without_an_end_take_no_time_of_their_square() -> None:
    """Each byte is looked at once."""
    with pytest.raises(ValidationError, match="no JSON"):
        json_in(b'["",{"' * 60 + b"[" * 90 + b'\\"' * 2_000_000)


class Slow(BaseModel):
    """A body whose check takes until it is let go on."""

    began: ClassVar[asyncio.Event]
    may_end: ClassVar[threading.Event]
    loop: ClassVar[asyncio.AbstractEventLoop]

    texts: list[str]

    @field_validator("texts")
    @classmethod
    def wait(cls, texts: list[str]) -> list[str]:
        cls.loop.call_soon_threadsafe(cls.began.set)
        if not cls.may_end.wait(30):
            raise ValueError("the event loop did nothing meanwhile")
        if texts[0] == "wrong":
            raise ValueError("wrong")
        return texts


slow_routes = APIRouter(route_class=JsonRoute)


@slow_routes.post("/")
async def take(asked: Slow) -> int:
    return len(asked.texts)


@pytest.mark.parametrize(("first", "status", "says"), [("x", 200, b"20000"), ("wrong", 422, b"texts: wrong")])
async def test_the_model_of_a_large_body_holds_up_no_loop(first: str, status: int, says: bytes) -> None:
    """It runs where the body is parsed, and once: the loop goes on while it takes its time."""
    Slow.began, Slow.may_end, Slow.loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()
    app = FastAPI()
    app.include_router(slow_routes)
    app.add_exception_handler(HTTPException, server_app._http_error)
    body = json.dumps({"texts": [first] + ["x"] * 19_999}).encode()
    assert len(body) > AT_ONCE_BYTES
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers, "query_string": b"", "state": {}}
    answering = asyncio.create_task(app(scope, receive, send))  # type: ignore[arg-type]
    await Slow.began.wait()
    Slow.may_end.set()
    await answering
    assert sent[0]["status"] == status, sent
    assert says in sent[1]["body"]


@pytest.mark.parametrize("number", [".inf", "-.inf", ".nan"])
async def test_what_no_answer_could_hold_is_not_stored(http: aiohttp.ClientSession, number: str) -> None:
    """YAML has numbers that JSON does not have; they are refused when they come, not when they are asked for."""
    text = f"[{json.dumps(GOOD)[:-1]}, metadata: {{x: {number}}}}}]"
    file = {"file_name": "a.yaml", "text": text}
    for noun, content in {
        "scenarios": {"scenarios": file},
        "benchmark_job_defs": {"request": {"name": "job", "scenarios": file}},
    }.items():
        async with http.post(f"/v1/{noun}", json={"name": "a", **content}) as answer:
            problem = await answer.json(content_type=None)
            assert answer.status == 422, noun
            assert "metadata.x: must be a finite number" in problem["detail"]
