"""A connection's parser, with what a hostile client may have sent before the server reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from harena.server import protocol
from harena.server.connections import Connections
from harena.server.parsing_turns import MOST_UNKNOWN, ParsingTurns
from harena.server.protocol import HttpProtocol

READ_BYTES = 256 * 1024
"""asyncio reads at most so many at a time"""
CHUNKED = b"POST /p HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"


class Wire(asyncio.Transport):
    """A transport whose other side takes everything, or nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.untaken: list[int] = []
        """bytes that are left at each look, the last one ever after"""
        self.reads, self.closed, self.aborted, self.ended = True, False, False, False

    def write(self, data: Any) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def get_write_buffer_size(self) -> int:
        return self.untaken.pop(0) if len(self.untaken) > 1 else self.untaken[0]

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


class Counting(HttpProtocol):
    """Counts what it parses."""

    heads = pieces = fed = 0

    def _feed(self) -> int:
        before = self._parsed
        events = super()._feed()
        self.fed += self._parsed - before
        return events

    def on_headers_complete(self) -> None:
        self.heads += 1
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self.pieces += 1
        super().on_body(body)


class Server:
    """An application that reads each request and answers when it may, and connections to it."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.may.set()
        self.reads_bodies = True
        self.begins_at_once = False
        """The answer begins before the request is read, and ends when it may."""
        self.seen: list[tuple[str, bytes]] = []
        self.state = SimpleNamespace(
            harena=SimpleNamespace(connections=Connections(64), parsing_turns=ParsingTurns(), greetings=None), spec=None
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]}
        if self.begins_at_once:
            await send(start)
        body, more = b"", self.reads_bodies
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message["body"], message["more_body"]
        await self.may.wait()
        self.seen.append((scope["path"], body))
        if not self.begins_at_once:
            await send(start)
        await send({"type": "http.response.body", "body": b""})

    def connection(self) -> tuple[Counting, Wire]:
        config = uvicorn.Config(self, http=Counting, ws="none", lifespan="off", log_config=None, access_log=False)
        config.load()
        config.app = self  # not what wraps it, as `HttpProtocol` finds its state there
        made, wire = Counting(config, ServerState(), {}), Wire()
        made.connection_made(wire)
        return made, wire


async def turns(times: int = 30) -> None:
    """Turns of the loop, in which everything that can go on does."""
    for _ in range(times):
        await asyncio.sleep(0)


async def sent(connection: HttpProtocol, wire: Wire, pieces: Iterator[bytes]) -> None:
    """They arrive whenever the server reads."""
    for piece in pieces:
        while not wire.reads and not wire.closed:
            await turns(1)
        connection.data_received(piece)


async def test_requests_that_are_not_waited_for_are_bytes_until_their_turns() -> None:
    """A read of 14,000 requests makes one of them; the next begins when the answer before it has ended."""
    server = Server()
    server.may.clear()
    connection, wire = server.connection()
    count = READ_BYTES // 18
    connection.data_received(b"GET / HTTP/1.1\r\n\r\n" * count)
    await turns()
    assert (connection.heads, wire.reads, len(connection.pipeline)) == (1, False, 0)
    server.may.set()
    await turns()
    assert 1 < len(server.seen) <= 30
    while len(server.seen) < count:
        assert connection.heads <= len(server.seen) + 1
        await turns()
    assert wire.reads
    assert wire.written.count(b"HTTP/1.1 200 OK") == count
    connection.connection_lost(None)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 16, 64, 1000, READ_BYTES])
async def test_requests_are_the_same_wherever_they_are_cut(size: int) -> None:
    """Their bodies and their order do not depend on how they arrive, and two heads are never parsed at once."""
    server = Server()
    connection, wire = server.connection()
    stream = b"".join(
        [
            b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n\r\n\r\n",
            b"POST /b HTTP/1.1\r\ncontent-length: 12\r\n\r\nab\r\n\r\ncd\r\n\r\n",
            CHUNKED + b"6\r\nab\r\n\r\n\r\n1\r\nz\r\n0\r\n\r\n",
            CHUNKED + b"1\r\nz\r\n0\r\nx: y\r\n\r\n",
            b"GET /c HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
            b"GET /d HTTP/1.1\r\n\r\n",
            b"POST /e HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 100000\r\n\r\n" + b"e" * 100_000,
            b"GET /f HTTP/1.1\r\nconnection: close\r\n\r\n",
            b"GET /never HTTP/1.1\r\n\r\n",
        ]
    )
    await sent(connection, wire, (stream[at : at + size] for at in range(0, len(stream), size)))
    while not wire.closed:
        await turns(1)
    assert server.seen == [
        ("/a", b""),
        ("/b", b"ab\r\n\r\ncd\r\n\r\n"),
        ("/p", b"ab\r\n\r\nz"),
        ("/p", b"z"),
        ("/c", b""),
        ("/d", b""),
        ("/e", b"e" * 100_000),
        ("/f", b""),
    ]
    assert len(connection.pipeline) == 0


async def test_a_request_on_a_connection_with_a_key_waits_for_none_without() -> None:
    """A few of these are parsed at each turn of the loop, however many have sent one; all are answered in the end."""
    server = Server()
    server.state.harena.connections = Connections(1024)
    pairs = [server.connection() for _ in range(50)]
    for connection, _ in pairs:
        connection.data_received(b"GET /a HTTP/1.1\r\n\r\n")
    keyed, _ = server.connection()
    keyed.identified("ours")
    keyed.data_received(b"GET /keyed HTTP/1.1\r\n\r\n")
    assert (keyed.heads, sum(connection.heads for connection, _ in pairs)) == (1, 0)
    parsed = 0
    while parsed < len(pairs):
        await asyncio.sleep(0)
        now = sum(connection.heads for connection, _ in pairs)
        assert 0 < now - parsed <= MOST_UNKNOWN
        parsed = now
    await turns()
    assert [path for path, _ in server.seen] == ["/keyed"] + ["/a"] * len(pairs)
    assert all(wire.reads for _, wire in pairs)
    assert len(server.state.harena.parsing_turns) == 0


async def test_a_key_ends_the_turns_of_its_connection() -> None:
    """What waits there is parsed as the rest of one with a key is; what has gone waits for nothing."""
    server = Server()
    (keyed, _), (gone, _) = (server.connection() for _ in range(2))
    for connection in (keyed, gone):
        connection.data_received(b"GET /a HTTP/1.1\r\n\r\n")
    keyed.identified("ours")
    gone.connection_lost(None)
    waiting: ParsingTurns = server.state.harena.parsing_turns
    assert (list(waiting._waiting), waiting._address_of, waiting._unknown) == ([keyed], {}, {})
    await turns()
    assert [path for path, _ in server.seen] == ["/a"]


@pytest.mark.parametrize("begin", ["CONNECT /a", "CONNECT a:80", "POST /a"])
@pytest.mark.parametrize("length", ["content-length: 26", "transfer-encoding: chunked", "Transfer-Encoding:chunked"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_a_request_for_another_protocol_has_no_body(begin: str, length: str, at_once: bool) -> None:
    """The parser leaves it for that protocol, which the server does not have; it never becomes a request."""
    server = Server()
    connection, wire = server.connection()
    inner = b"GET /smuggled HTTP/1.1\r\n\r\n"
    upgrade = "connection: upgrade\r\nupgrade: h2c\r\n" if begin.startswith("POST") else ""
    head = f"{begin} HTTP/1.1\r\n{upgrade}{length}\r\n\r\n".encode()
    for piece in [head + inner] if at_once else [head, inner]:
        connection.data_received(piece)
        await turns()
    assert (server.seen, wire.closed) == ([], True)
    assert wire.written.startswith(b"HTTP/1.1 400 ")
    assert wire.written.count(b"HTTP/1.1 4") == 1


@pytest.mark.parametrize("length", ["", "content-length: 0\r\n"])
async def test_a_request_for_another_protocol_without_a_body_is_one(length: str) -> None:
    """It is answered as if it had not asked for that."""
    server = Server()
    connection, wire = server.connection()
    head = f"GET /a HTTP/1.1\r\nconnection: upgrade\r\nupgrade: h2c\r\n{length}\r\n".encode()
    connection.data_received(head + b"GET /b HTTP/1.1\r\n\r\n")
    await turns()
    assert ([path for path, _ in server.seen], wire.closed) == (["/a", "/b"], False)


async def test_headers_count_what_they_take() -> None:
    """Thousands of headers of a byte take more memory than their bytes."""
    server = Server()
    connection, wire = server.connection()
    connection.data_received(b"GET / HTTP/1.1\r\n" + b"a:\r\n" * (protocol.MOST_HEAD_BYTES // 40) + b"\r\n")
    await turns()
    assert wire.written.startswith(b"HTTP/1.1 200 ")
    connection.data_received(b"GET / HTTP/1.1\r\n" + b"a:\r\n" * (protocol.MOST_HEAD_BYTES // 30) + b"\r\n")
    await turns()
    assert b"HTTP/1.1 431 " in wire.written
    assert wire.closed


ENDLESS = {
    "method": b"X",
    "address": b"GET /",
    "version": b"GET / HTTP/1.1",
    "name": b"GET / HTTP/1.1\r\na",
    "value": b"GET / HTTP/1.1\r\na: b",
    "size": CHUNKED + b"0",
    "size behind a piece": CHUNKED + b"1\r\nx\r\n0",
    "extension": CHUNKED + b"1;a",
    "value of an extension": CHUNKED + b"1;a=a",
    "name of a trailer": CHUNKED + b"0\r\na",
    "name of a second trailer": CHUNKED + b"0\r\na: b\r\na",
    "value of a trailer": CHUNKED + b"0\r\na: a",
}
"""beginnings of messages whose last part goes on with the last byte"""
REPEATED = {
    "blank lines": (b"", b"\r\n"),
    "blank lines behind a request": (b"GET / HTTP/1.1\r\n\r\n", b"\r\n"),
    "blank lines behind a body": (CHUNKED + b"1\r\nx\r\n0\r\n\r\n", b"\r\n"),
    "headers": (b"GET / HTTP/1.1\r\n", b"a: b\r\n"),
    "trailers": (CHUNKED + b"0\r\n", b"a: b\r\n"),
}
"""beginnings of messages, and what is sent behind them again and again"""


@pytest.mark.parametrize(
    ("part", "begins_at_once"),
    [(part, False) for part in [*ENDLESS, *REPEATED]]
    + [(part, True) for part in [*ENDLESS, *REPEATED] if "size" in part or "extension" in part or "trailer" in part],
)
async def test_no_part_of_a_message_is_endless(part: str, begins_at_once: bool) -> None:
    """Whatever the parser is in the middle of, it is given 64 KiB of it at most, then the connection is at its end."""
    server = Server()
    server.begins_at_once = begins_at_once
    begin, again = REPEATED.get(part) or (ENDLESS[part], ENDLESS[part][-1:])
    connection, wire = server.connection()
    connection.data_received(begin)
    await turns()
    sent_bytes = 0
    while not wire.closed and sent_bytes < 4 * READ_BYTES:
        sent_bytes += 8192
        connection.data_received(again * (8192 // len(again)))
        while connection.has_unparsed() and not wire.closed:
            await turns(1)
    assert wire.closed
    assert connection.fed <= len(begin) + protocol.MOST_HEAD_BYTES + protocol.SLICE_BYTES
    # in the middle of an answer there is no other one
    assert wire.written.count(b"application/problem+json") == int(not begins_at_once)
    connection.connection_lost(None)


@pytest.mark.parametrize("reads_bodies", [False, True], ids=["not read", "read"])
@pytest.mark.parametrize(
    "piece", [b"1\r\nx\r\n" * 5_000, b"1;" + b"a" * 60_000 + b"\r\nx\r\n"], ids=["small", "extended"]
)
async def test_a_body_beside_its_answer_is_not_parsed_to_its_end(piece: bytes, reads_bodies: bool) -> None:
    """Its first 64 KiB are, though whoever answers looks whether its client has gone."""
    server = Server()
    server.begins_at_once, server.reads_bodies = True, reads_bodies
    server.may.clear()
    connection, wire = server.connection()
    connection.data_received(CHUNKED)
    await turns()
    assert wire.written.startswith(b"HTTP/1.1 200 ")
    count = 0
    while wire.reads and count < 100:
        connection.data_received(piece)
        count += 1
        while connection.has_unparsed() and not connection._answers() and not connection._holds_body():
            await turns(1)
        await turns()
    assert not wire.reads
    assert connection.fed <= 2 * protocol.MOST_UNREAD_BYTES + len(CHUNKED)
    assert not wire.ended
    server.may.set()
    await turns()
    connection.connection_lost(None)


async def test_lines_between_pieces_of_a_body_count_until_it_is_read() -> None:
    """An application that is busy holds 64 KiB and one slice more, however few of these are content; it gets all."""
    server = Server()
    taken = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await taken.wait()
        await server(scope, receive, send)

    connection, wire = server.connection()
    connection.app = slow
    piece = b"1;" + b"a" * 30_000 + b"\r\nx\r\n"
    connection.data_received(CHUNKED)
    await turns()
    count = 0
    while wire.reads and count < 100:
        connection.data_received(piece)
        count += 1
        await turns()
    assert not wire.reads
    assert connection.fed <= 2 * protocol.MOST_UNREAD_BYTES + len(CHUNKED)
    taken.set()
    await sent(connection, wire, iter([piece, piece, b"0\r\n\r\n"]))
    while not server.seen:
        await turns(1)
    assert server.seen == [("/p", b"x" * (count + 2))]
    connection.connection_lost(None)


async def test_trailers_are_no_headers_of_a_request_that_has_begun() -> None:
    """Who reads its headers later reads those that came before its body."""
    server = Server()
    connection, _ = server.connection()
    connection.data_received(CHUNKED)
    await turns()
    headers = connection.scope["headers"]
    connection.data_received(b"1\r\nx\r\n0\r\nauthorization: other\r\n\r\n")
    await turns()
    assert (server.seen, headers) == ([("/p", b"x")], [(b"transfer-encoding", b"chunked")])
    connection.connection_lost(None)


async def test_small_pieces_of_bodies_leave_the_loop_to_others() -> None:
    """However many connections send pieces of one byte, a turn of the loop parses a slice; their order is kept."""
    server = Server()
    pairs = [server.connection() for _ in range(8)]
    for connection, _ in pairs:
        connection.data_received(CHUNKED + b"1\r\nx\r\n" * 40_000)
    most = protocol.SLICE_BYTES // 6 + 1 + protocol.SLICE_EVENTS
    begun = [connection.pieces for connection, _ in pairs]
    assert max(begun) <= most
    assert not any(wire.reads for _, wire in pairs)
    while not all(wire.reads for _, wire in pairs):
        before = sum(connection.pieces for connection, _ in pairs)
        await asyncio.sleep(0)
        assert sum(connection.pieces for connection, _ in pairs) - before <= most
    for connection, _ in pairs:
        assert connection.pieces == 40_000
        connection.data_received(b"0\r\n\r\n")
    await turns()
    assert server.seen == [("/p", b"x" * 40_000)] * 8


@pytest.mark.parametrize(
    "begin",
    [CHUNKED + b"1\r\nx\r\n", b"POST /p HTTP/1.1\r\ncontent-length: 100000000\r\n\r\n"],
    ids=["chunks", "length"],
)
async def test_a_body_that_nobody_reads_is_not_parsed_to_its_end(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind its answer some of it is; then the connection is at its end, and takes what comes for a while."""
    monkeypatch.setattr(protocol, "LINGER_SECONDS", 0.0)
    server = Server()
    server.reads_bodies = False
    connection, wire = server.connection()
    connection.data_received(begin)
    await turns()
    assert wire.written.startswith(b"HTTP/1.1 200 ")
    parsed = connection.pieces
    more = b"1\r\nx\r\n" * 40_000 if b"chunked" in begin else b"x" * READ_BYTES
    connection.data_received(more)
    while connection.has_unparsed():
        await turns(1)
    assert wire.ended
    assert wire.reads
    at_its_end = connection.pieces
    assert at_its_end - parsed <= (protocol.MOST_UNREAD_BYTES + 2 * protocol.SLICE_BYTES) // 6
    connection.data_received(more)
    await turns()
    assert (connection.pieces, len(server.seen), wire.closed) == (at_its_end, 1, True)


async def test_a_short_body_that_nobody_reads_leaves_the_connection_open() -> None:
    """Its end is found, though it comes after the answer; the next request is one."""
    server = Server()
    server.reads_bodies = False
    connection, wire = server.connection()
    for _ in range(3):
        connection.data_received(b"POST /p HTTP/1.1\r\ncontent-length: 50000\r\n\r\n")
        await turns()
        connection.data_received(b"x" * 50_000 + CHUNKED)
        await turns()
        connection.data_received(b"1\r\nx\r\n" * 1000 + b"0\r\n\r\n")
        await turns()
    assert (len(server.seen), wire.closed, wire.ended) == (6, False, False)


@pytest.mark.parametrize("key", [None, "ours"])
async def test_an_answer_of_which_nothing_is_taken_ends_its_connection(
    key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that takes something, however slowly, keeps it; and so does one that took all."""
    monkeypatch.setattr(protocol, "UNREAD_SECONDS" if key is None else "KEYED_UNREAD_SECONDS", 0.0)
    server = Server()
    connection, wire = server.connection()
    if key is not None:
        connection.identified(key)
    wire.untaken = [3]
    connection.pause_writing()
    connection.resume_writing()
    await turns()
    assert not wire.closed
    wire.untaken = [9, 8, 8, 7, 7, 7, 5]
    connection.pause_writing()
    while not wire.closed:
        await turns(1)
    assert (wire.aborted, wire.untaken) == (True, [5])


async def test_a_connection_whose_answer_is_not_taken_is_closed_for_another_one() -> None:
    """No key of it is known: the server waits for its client, and not the other way round."""
    server = Server()
    count: Connections = server.state.harena.connections
    count.most_of_address = 2
    server.may.clear()
    pairs = [server.connection() for _ in range(2)]
    for connection, wire in pairs:
        wire.untaken = [1]
        connection.data_received(b"GET / HTTP/1.1\r\n\r\n" * 60)
    await turns()
    assert not any(connection.may_be_closed() for connection, _ in pairs)
    pairs[1][0].identified("ours")
    for connection, _ in pairs:
        connection.pause_writing()
    assert [connection.may_be_closed() for connection, _ in pairs] == [True, False]
    pairs[0][0].resume_writing()
    assert not pairs[0][0].may_be_closed()
    pairs[0][0].pause_writing()
    for _ in range(2):
        server.connection()
    assert [wire.aborted for _, wire in pairs] == [True, False]
    for connection, _ in pairs:
        connection.connection_lost(None)


@pytest.mark.parametrize("size", [0x1000, 0x100000])
async def test_what_a_chunk_holds_is_no_line_before_one(size: int) -> None:
    """A chunk that comes in two reads: what looks like the size of a chunk in the second one made a slice as long as
    its sender liked, with all requests behind it."""
    server = Server()
    connection, wire = server.connection()
    connection.data_received(CHUNKED + b"%x\r\n" % size + b"a" * 100)
    await turns()
    rest = b"fffff\r\n" + b"a" * (size - 107)
    ahead = b"GET / HTTP/1.1\r\n\r\n"
    connection.data_received(rest + b"\r\n0\r\n\r\n" + ahead * 1000)
    most = 0
    for _ in range(20_000):
        before = connection.heads
        await asyncio.sleep(0)
        most = max(most, connection.heads - before)
        assert len(connection.pipeline) == 0
        if len(server.seen) == 1001:
            break
    assert most == 1
    assert server.seen[0] == ("/p", b"a" * 100 + rest)
    assert wire.written.count(b"HTTP/1.1 200") == 1001


@pytest.mark.parametrize("behind", [b"\r\n", b"x"])
async def test_what_comes_behind_an_answer_keeps_no_connection(behind: bytes) -> None:
    """A blank line, or the rest of a body that was answered early, ended the time of a quiet connection for good."""
    server = Server()
    server.reads_bodies = behind == b"\r\n"
    connection, _ = server.connection()
    body = b"" if server.reads_bodies else b"content-length: 9\r\n"
    connection.data_received(b"POST / HTTP/1.1\r\n" + body + b"\r\n")
    await turns()
    assert server.seen
    connection.data_received(behind)
    await turns()
    timer = connection.timeout_keep_alive_task
    assert timer is not None
    assert not timer.cancelled()
    connection.connection_lost(None)
