"""Open connections are bounded: of a server, of a workspace, and of an address that gave no key."""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from server_world import World, world
from test_server_connections import HOST, JSON, answer_of, connected
from test_server_keys import key_for

from harena.core.errors import LimitExceededError
from harena.server import connections
from harena.server.connections import Connections, ListeningSocket, most_connections


class Fake:
    def __init__(self, name: str, dropped: list[str]) -> None:
        self.name, self.busy, self._dropped = name, False, dropped

    def may_be_closed(self) -> bool:
        return not self.busy

    def drop(self) -> None:
        self._dropped.append(self.name)


def opened(count: Connections, name: str, dropped: list[str], address: str = "10.0.0.1") -> Fake | None:
    made = Fake(name, dropped)
    return made if count.add(made, address) else None


def test_the_one_that_was_quiet_longest_is_closed_for_a_new_one() -> None:
    """Of an address, of a workspace, and of who has most where the server is full; never one that is answered."""
    count, dropped = Connections(8), list[str]()
    first, second = opened(count, "a", dropped), opened(count, "b", dropped)
    assert first
    assert second
    assert (count.most_of_workspace, count.most_of_address) == (4, 2)
    count.heard(first, quiet=True)
    assert opened(count, "c", dropped)
    assert dropped == ["b"]
    for number in range(6):
        made = opened(count, f"w{number}", dropped, f"10.0.1.{number}")
        assert made
        if number < 4:
            count.identified(made, "ours")
            count.heard(made, quiet=number != 0)
    assert (len(count), count.count("workspace ours"), dropped) == (8, 4, ["b"])
    assert opened(count, "new", dropped, "10.0.2.1")
    assert dropped == ["b", "w1"]
    for owner in list(count._owner_of):
        count.heard(owner, quiet=False)
    assert opened(count, "refused", dropped, "10.0.2.2") is None
    assert len(count) == 8


def test_a_workspace_whose_connections_are_all_answered_gets_no_more() -> None:
    """The others go on; one that is closed makes room; what is gone is not counted."""
    count, dropped = Connections(8), list[str]()
    made = [opened(count, f"{number}", dropped, f"10.0.0.{number}") for number in range(5)]
    for connection in made[:4]:
        assert connection
        count.identified(connection, "ours")
        count.heard(connection, quiet=False)
    assert made[0]
    assert made[4]
    with pytest.raises(LimitExceededError, match="4 connections"):
        count.identified(made[4], "ours")
    count.identified(made[4], "other")
    count.remove(made[0])
    count.identified(made[4], "ours")
    assert (count.count("workspace ours"), count.count("workspace other"), dropped) == (4, 0, [])
    for connection in made:
        assert connection
        count.remove(connection)
    assert (len(count), count._quiet, count._counts) == (0, {}, {})


def test_addresses() -> None:
    """Of version 6, 2**64 are one; one of version 4 is one, however it is written."""
    count, dropped = Connections(64), list[str]()
    for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "::ffff:10.0.0.1", "10.0.0.1", "fe80::1%eth0"):
        assert opened(count, address, dropped, address)
    counts = ("address 2001:db8::/64", "address 2001:db8:0:1::/64", "address 10.0.0.1", "address fe80::/64")
    assert [count.count(owner) for owner in counts] == [2, 1, 2, 1]


def test_half_of_the_descriptors_are_reserved() -> None:
    """For sandboxes and what else the server does."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert most_connections() == (16_384 if soft >= 32_768 or soft < 0 else soft - soft // 2)


async def half_sent(here: World, token: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """One that has asked with its key, and then sends a part of a body."""
    reader, writer = await connected(here)
    key = f"authorization: Bearer {token}\r\n".encode()
    writer.write(b"GET /v1/sandboxes HTTP/1.1\r\n" + HOST + key + b"\r\n")
    assert (await answer_of(reader))[0] == 200
    writer.write(b"POST /v1/leases HTTP/1.1\r\n" + JSON + key + b"content-length: 10\r\n\r\n{")
    return reader, writer


async def test_half_sent_bodies_and_idle_connections_leave_room_for_others(tmp_path: Path) -> None:
    """They are closed, the oldest first, as more come; and the other workspace connects and creates."""
    async with world(tmp_path, keyed=True) as here:
        count = here.state.connections
        count.most, count.most_of_workspace, count.most_of_address = 12, 6, 4
        ours, theirs = await key_for(here, "vic"), await key_for(here, "atk")
        held = [await half_sent(here, theirs) for _ in range(20)]
        held += [await connected(here) for _ in range(20)]
        ask = b"GET /v1/sandboxes HTTP/1.1\r\n" + HOST + f"authorization: Bearer {ours}\r\n\r\n".encode()
        for _ in range(3):
            reader, writer = await connected(here)
            writer.write(ask)
            assert (await answer_of(reader))[0] == 200
            held.append((reader, writer))
        assert len(count) <= 12
        assert (count.count("workspace vic"), count.count("workspace atk")) == (3, 6)
        assert [await first.read() for first, _ in held[:14]] == [b""] * 14
        writer.write(ask)
        assert (await answer_of(reader))[0] == 200  # it was kept
        for _, writer in held:
            writer.close()


async def test_answers_that_nobody_reads_leave_room_for_who_has_a_key(tmp_path: Path) -> None:
    """All connections of the address ask for long answers without a key, and take none of them."""
    async with world(tmp_path, keyed=True) as here:
        here.state.connections.most_of_address = 3
        ours = await key_for(here, "vic")
        address = urlsplit(here.url)
        unread = []
        for _ in range(3):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            one.connect((address.hostname, address.port))
            one.sendall(b"GET /openapi.json HTTP/1.1\r\n\r\n" * 60)
            unread.append(one)
        assert here.server._uvicorn is not None
        open_ones = here.server._uvicorn.server_state.connections
        while sum(one.flow.write_paused for one in open_ones) < len(unread):  # noqa: ASYNC110 - nobody is told of it
            await asyncio.sleep(0)
        reader, writer = await connected(here)
        writer.write(b"GET /v1/sandboxes HTTP/1.1\r\n" + HOST + f"authorization: Bearer {ours}\r\n\r\n".encode())
        assert (await answer_of(reader))[0] == 200
        writer.close()
        for one in unread:
            one.close()


async def test_a_server_that_is_full_of_answers_says_so(here: World) -> None:
    """A connection that nobody's could be closed for gets a problem, and the others go on."""
    here.state.connections.most = 0
    reader, writer = await connected(here)
    status, headers, problem = await answer_of(reader)
    assert (status, headers["connection"], problem["reason"]) == (503, "close", "CONNECTIONS")
    writer.close()


class _Out(ListeningSocket):
    asked = 0

    def _accept(self) -> Any:
        self.asked += 1
        raise OSError(errno.EMFILE, "Too many open files")


async def test_no_descriptor_left(caplog: pytest.LogCaptureFixture) -> None:
    """The system is asked once, and the log says it once, however often the loop asks."""
    with _Out() as listening, caplog.at_level(logging.ERROR, "harena.server"):
        with pytest.raises(OSError, match="Too many"):
            listening.accept()
        for _ in range(2048):
            with pytest.raises(BlockingIOError):
                listening.accept()
        listening._resumes_at = 0.0
        with pytest.raises(OSError, match="Too many"):
            listening.accept()
        assert (listening.asked, len(caplog.records)) == (2, 1)


async def test_connections_are_taken_a_few_at_a_time() -> None:
    """So that those which were taken are counted before there are more."""
    with ListeningSocket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(2 * connections.ACCEPTED_AT_ONCE)
        listening.setblocking(False)
        clients = [socket.create_connection(listening.getsockname()) for _ in range(connections.ACCEPTED_AT_ONCE + 1)]
        taken = [listening.accept()[0] for _ in range(connections.ACCEPTED_AT_ONCE)]
        with pytest.raises(BlockingIOError):
            listening.accept()
        await asyncio.sleep(0)
        taken.append(listening.accept()[0])
        for each in (*taken, *clients):
            each.close()


def test_workspaces_together_leave_connections() -> None:
    """However many are busy for whatever number of workspaces, the next one comes in, and so does a stranger; what was
    identified while it was quiet counts when it is busy."""
    count, dropped = Connections(64), list[str]()
    busy = dict.fromkeys(map(str, range(4)), 0)
    for name in busy:
        mine = [made for number in range(40) if (made := opened(count, name, dropped, f"10.{name}.0.{number}"))]
        for made in mine:
            if made not in count._owner_of:
                continue  # it was quiet longest
            count.heard(made, quiet=False)
            try:
                count.identified(made, name)
            except LimitExceededError:
                count.heard(made, quiet=True)
            else:
                made.busy, busy[name] = True, busy[name] + 1
    assert [*busy.values()] == sorted(busy.values(), reverse=True)
    assert min(busy.values()) > 0
    assert sum(busy.values()) < 64
    newcomer = opened(count, "new", dropped, "10.9.0.1")
    assert newcomer
    count.heard(newcomer, quiet=False)
    count.identified(newcomer, "new")


def test_requests_whose_bodies_come_late_count() -> None:
    """A connection is quiet while its client sends, and could be busy for long from one moment to the next."""
    count, dropped = Connections(8), list[str]()
    begun = []
    for number in range(8):
        made = opened(count, f"{number}", dropped, f"10.0.0.{number}")
        assert made
        count.heard(made, quiet=True)
        try:
            count.identified(made, "one" if number < 4 else "two")
        except LimitExceededError:
            continue
        begun.append(made)
    assert dropped == ["4", "5"], "those of its own that were quiet longest, since no more than are left may be busy"
    begun = [made for made in begun if made.name not in dropped]
    assert [made.name for made in begun] == ["0", "1", "2", "3", "6", "7"]
    for made in begun:
        count.heard(made, quiet=False)
        made.busy = True
    assert opened(count, "new", dropped, "10.9.0.1")
    for made in begun:
        count.answered(made)
        count.remove(made)
    assert (count._begun, count._begun_of) == ({}, {})


def test_the_connection_that_asks_is_not_closed_for_itself() -> None:
    """One whose body is still coming is quiet. Closed at its own request it kept its place among those that are
    answered for ever, and so all workspaces had one less."""
    count, dropped = Connections(12), list[str]()
    for workspace in ("v", "w"):
        for number in range(4):
            made = opened(count, f"{workspace}{number}", dropped, f"10.0.{ord(workspace)}.{number}")
            assert made
            count.identified(made, workspace)
            count.heard(made, quiet=False)
    asking = opened(count, "asks", dropped, "10.0.0.1")
    assert asking
    count._pass_to(asking, "address 10.0.0.1", "workspace w")  # a request before this one had the key
    with pytest.raises(LimitExceededError, match="under way"):
        count.identified(asking, "w")
    assert not dropped
    for connection in list(count._owner_of):
        count.remove(connection)
    assert not count._begun
    assert not count._begun_of
