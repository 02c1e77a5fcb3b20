"""What a program does to the egress process is that program's own trouble: others go on, and everything has an end."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
import pytest_asyncio
from egress_world import Inside, connected, inside, request, said, speaking, upstream

from footprint import resident_bytes
from harena.egress.link import EgressLink
from harena.egress.shares import MOST_OF_ONE

NAMES = {"a.test": [["127.0.0.1"]]}
MOST_GROWN = 96 << 20


@pytest_asyncio.fixture
async def link() -> AsyncIterator[EgressLink]:
    link = EgressLink(table=NAMES, times={"head": 2.0, "dial": 20.0, "idle": 2.0, "answer": 2.0})
    yield link
    await link.close()


def good(place: tuple[str, int], port: int, path: str = "/good") -> bytes:
    where = f"a.test:{port}"
    return request(place, f"GET http://{where}{path} HTTP/1.1\r\nHost: {where}\r\nConnection: close\r\n\r\n".encode())


@contextmanager
def opened(place: tuple[str, int], count: int) -> Iterator[list[socket.socket]]:
    connections: list[socket.socket] = []
    try:
        for _ in range(count):
            connection = socket.socket()
            connection.setblocking(False)
            connections.append(connection)
            connection.connect_ex(place)
        yield connections
    finally:
        for each in connections:
            each.close()


async def served_meanwhile(neighbour: Inside, port: int) -> None:
    for _ in range(5):
        assert (await asyncio.to_thread(good, neighbour.proxy, port)).endswith(b"hello from /good")


def descriptors(link: EgressLink) -> int:
    return len(os.listdir(f"/proc/{link.pid}/fd"))


async def test_hundreds_of_silent_connections_hold_nobody_up_and_end(link: EgressLink) -> None:
    with upstream() as server:
        network = {"allow": [f"a.test:{server.port}", "127.0.0.1"]}
        async with inside(link, network, [80]) as bad, inside(link, network, [80], "sb_2") as neighbour:
            await served_meanwhile(neighbour, server.port)
            before = descriptors(link)
            with opened(bad.proxy, 300):
                await served_meanwhile(neighbour, server.port)
                assert descriptors(link) <= before + MOST_OF_ONE + 8
            await served_meanwhile(bad, server.port)


async def test_a_flood_of_connections_takes_its_turn(link: EgressLink) -> None:
    with upstream() as server:
        network = {"allow": [f"a.test:{server.port}", "127.0.0.1"]}
        async with inside(link, network, [80]) as bad, inside(link, network, [80], "sb_2") as neighbour:
            over = threading.Event()

            def flood() -> None:
                while not over.is_set():
                    with opened(bad.proxy, 20) as connections:
                        for each in connections:
                            each.setblocking(True)
                            each.settimeout(5)
                            try:
                                each.sendall(b"CONNECT a.test:1 HTTP/1.1\r\nHost: a.test:1\r\n\r\n")
                            except OSError:
                                continue

            flooding = [threading.Thread(target=flood) for _ in range(2)]
            for each in flooding:
                each.start()
            try:
                await served_meanwhile(neighbour, server.port)
            finally:
                over.set()
                for each in flooding:
                    each.join()


async def test_endless_heads_and_questions_take_no_memory(link: EgressLink) -> None:
    with upstream() as server:
        network = {"allow": [f"a.test:{server.port}", "127.0.0.1"]}
        async with inside(link, network, [443]) as bad, inside(link, network, [80], "sb_2") as neighbour:
            await served_meanwhile(neighbour, server.port)
            assert link.pid is not None
            before = resident_bytes(link.pid)

            def endless(place: tuple[str, int], first: bytes, more: bytes) -> None:
                with connected(place) as connection:
                    try:
                        connection.sendall(first)
                        for _ in range(2000):
                            connection.sendall(more)
                    except OSError:
                        return

            await asyncio.gather(
                *(asyncio.to_thread(endless, bad.proxy, b"GET http://a.test/ HTTP/1.1\r\n", b"X: " + b"y" * 9000)
                  for _ in range(4)),
                *(asyncio.to_thread(endless, ("127.0.0.1", bad.ports[443]), b"\x16\x03\x01\x40\x00\x01\x00\xff\xff",
                                    b"\x00" * 9000) for _ in range(4)),
                *(asyncio.to_thread(endless, bad.dns_by_tcp, b"\xff\xff", b"\x00" * 9000) for _ in range(4)),
            )  # fmt: skip
            await served_meanwhile(neighbour, server.port)
            assert resident_bytes(link.pid) < before + MOST_GROWN


async def test_who_reads_nothing_holds_no_more_than_the_buffers(link: EgressLink) -> None:
    with upstream() as server:
        network = {"allow": [f"a.test:{server.port}", "127.0.0.1"]}
        async with inside(link, network, [80]) as bad, inside(link, network, [80], "sb_2") as neighbour:
            await served_meanwhile(neighbour, server.port)
            assert link.pid is not None
            before = resident_bytes(link.pid)
            where = f"a.test:{server.port}"
            ask = f"GET http://{where}/50000000 HTTP/1.1\r\nHost: {where}\r\n\r\n".encode()
            with opened(bad.proxy, 20) as connections:
                for each in connections:
                    each.setblocking(True)
                    each.sendall(ask)
                await served_meanwhile(neighbour, server.port)
                assert resident_bytes(link.pid) < before + MOST_GROWN


async def test_an_upstream_that_says_nothing_ends_with_words(link: EgressLink) -> None:
    over = threading.Event()
    with speaking(lambda connection: over.wait(60) and None) as port:
        async with inside(link, {"allow": [f"a.test:{port}", "127.0.0.1"]}, [80]) as sandbox:
            answer = await asyncio.to_thread(good, sandbox.proxy, port)
            assert answer.startswith(b"HTTP/1.1 504")
            assert f"a.test:{port} has sent nothing for 2 s".encode() in answer
            with connected(sandbox.proxy) as connection:
                connection.sendall(f"CONNECT a.test:{port} HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n".encode())
                assert (await asyncio.to_thread(said, connection)).startswith(b"HTTP/1.1 200")
            assert "not a byte for 2 s" in (await sandbox.entries())[-1].reason
        over.set()


BROKEN = {
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "nothing": b"",
    "an endless head": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000,
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length that is none": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
}


@pytest.mark.parametrize("case", BROKEN)
async def test_an_answer_that_is_broken_is_told_as_that(link: EgressLink, case: str) -> None:
    def script(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(BROKEN[case])
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65536)

    with speaking(script) as port:
        async with inside(link, {"allow": [f"a.test:{port}", "127.0.0.1"]}, [80]) as sandbox:
            answer = await asyncio.to_thread(good, sandbox.proxy, port)
            assert answer.startswith(b"HTTP/1.1 502")
            assert f"a.test:{port}".encode() in answer


async def test_an_answer_that_breaks_off_ends_the_connection(link: EgressLink) -> None:
    def script(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        connection.shutdown(socket.SHUT_WR)

    with speaking(script) as port:
        async with inside(link, {"allow": [f"a.test:{port}", "127.0.0.1"]}, [80]) as sandbox:
            answer = await asyncio.to_thread(good, sandbox.proxy, port)
            assert answer.endswith(b"half")
            assert b"Content-Length: 1000" in answer
            assert "broken" in (await sandbox.entries())[-1].reason


async def test_an_upstream_that_answers_before_it_has_read_all_is_heard(link: EgressLink) -> None:
    def script(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        connection.recv(1000)
        threading.Event().wait(1)

    with speaking(script) as port:
        async with inside(link, {"allow": [f"a.test:{port}", "127.0.0.1"]}, [80]) as sandbox:
            where = f"a.test:{port}"
            with connected(sandbox.proxy) as connection:
                head = f"POST http://{where}/ HTTP/1.1\r\nHost: {where}\r\nContent-Length: 100000000\r\n\r\n"
                connection.sendall(head.encode() + b"x" * 1000)
                assert (await asyncio.to_thread(connection.recv, 1000)).startswith(b"HTTP/1.1 413")


async def test_who_is_answered_before_all_was_sent_reads_the_answer(link: EgressLink) -> None:
    """The connection is not closed with bytes that nobody has read: that would take the answer away."""

    def script(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        connection.recv(1000)

    def send_all(connection: socket.socket, where: str) -> bytes:
        head = f"POST http://{where}/ HTTP/1.1\r\nHost: {where}\r\nContent-Length: 500000\r\n\r\n"
        connection.sendall(head.encode() + b"x" * 500_000)
        connection.shutdown(socket.SHUT_WR)
        return said(connection)

    with speaking(script) as port:
        async with inside(link, {"allow": [f"a.test:{port}", "127.0.0.1"]}, [80]) as sandbox:
            with connected(sandbox.proxy) as connection:
                answer = await asyncio.to_thread(send_all, connection, f"a.test:{port}")
                assert answer.startswith(b"HTTP/1.1 413")


async def test_a_sandbox_that_ends_takes_its_connections_along(link: EgressLink) -> None:
    with upstream() as server:
        network = {"allow": [f"a.test:{server.port}", "127.0.0.1"]}
        async with inside(link, network, [80], "sb_2") as neighbour:
            await served_meanwhile(neighbour, server.port)
            before = descriptors(link)
            async with inside(link, network, [80, 443]) as sandbox:
                where = f"a.test:{server.port}"
                connection = connected(sandbox.proxy)
                connection.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n\r\n".encode())
                assert b"200" in await asyncio.to_thread(connection.recv, 1000)
                assert descriptors(link) > before
            assert await asyncio.to_thread(said, connection) == b""
            connection.close()
            await served_meanwhile(neighbour, server.port)
            assert descriptors(link) == before


async def test_floods_of_questions_are_answered_in_turn(link: EgressLink) -> None:
    with upstream() as server:
        network = {"allow": [f"a.test:{server.port}", "127.0.0.1"]}
        async with inside(link, network, [80]) as bad, inside(link, network, [80], "sb_2") as neighbour:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as noise:
                for size in (0, 1, 12, 100, 1232, 1233, 9000):
                    for _ in range(200):
                        noise.sendto(os.urandom(size), bad.dns_by_udp)
                await served_meanwhile(neighbour, server.port)
            await served_meanwhile(bad, server.port)


async def test_the_process_ends_with_the_node() -> None:
    link = EgressLink(table=NAMES)
    async with inside(link, {"allow": []}, [80]):
        pid = link.pid
        assert pid is not None
        ending = os.pidfd_open(pid)
        await link.close()
    os.close(ending)
    assert not os.path.exists(f"/proc/{pid}")
    await link.close()
