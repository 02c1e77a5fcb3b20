"""How many connections a server keeps open: together, for each workspace, and for each address that gave no key.

Each one takes a descriptor, which sandboxes need, too. Whoever is over a bound loses the connection that was quiet
longest: one that sends no request, or has sent only a part of one. A connection on which a request is being answered is
never closed for another one. On how many a workspace may be answered at one time depends on the others: it has fewer
than are left (the dynamic thresholds of shared buffers), so that several workspaces together leave some for who comes
next. Used from one event loop.
"""

from __future__ import annotations

import errno
import ipaddress
import logging
import resource
import socket
from asyncio import AbstractEventLoop, get_running_loop
from collections import Counter, OrderedDict
from datetime import timedelta
from typing import Any, Protocol

from harena.core.errors import LimitExceededError
from harena.server import kernel_memory
from harena.server.tls import Greetings

MOST_CONNECTIONS = 16_384
"""most open connections of one server; fewer where the process may open fewer files"""
LEAST_CONNECTIONS = 16
RESERVED_SHARE = 2
"""one part in so many of the process's descriptors is for sandboxes, files and the store: connections get the rest"""
WORKSPACE_SHARE = 2
"""one part in so many of all connections is the most that one workspace has"""
ADDRESS_SHARE = 4
"""one part in so many of all connections is the most that one address has of which no key is known"""
ACCEPTED_AT_ONCE = 64
"""connections that are taken before those that were taken are counted"""
RETRY_SECONDS = 1.0
"""after which fewer of a workspace's requests may be under way"""
PAUSE_SECONDS = 0.5
"""for which nothing is accepted after no descriptor was left; asyncio asks again after a second"""
TOLD_SECONDS = 60.0
"""without that trouble, after which it is told again"""
SERVER_FULL = "this server has as many connections as it keeps open: connect again in a moment"

_NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_ASYNCIO_SAYS = "socket.accept() out of system resource"

_log = logging.getLogger("harena.server")


class Connection(Protocol):
    """One that is open, as it is counted here."""

    def may_be_closed(self) -> bool:
        """No answer is under way on it, and the server waits for its client."""

    def drop(self) -> None:
        """Close it at once; what was to be sent is lost."""


class Connections:
    """The open connections of one server."""

    def __init__(self, most: int | None = None, *, one_workspace: bool = False) -> None:
        """`most` together; None = as many as the process's limit of open files allows. `one_workspace`: there are no
        keys, and all requests are one workspace's, which may have all connections."""
        self.most = most_connections() if most is None else most
        self.most_of_workspace = self.most if one_workspace else max(1, self.most // WORKSPACE_SHARE)
        self.most_of_address = max(1, self.most // ADDRESS_SHARE)
        self._owner_of: dict[Connection, str] = {}
        self._counts: dict[str, int] = {}
        self._one_workspace = one_workspace
        self._begun: dict[Connection, str] = {}
        """connection on which a request is under way -> whose; a body that still comes is part of it"""
        self._begun_of: Counter[str] = Counter()
        self._quiet: dict[str, OrderedDict[Connection, None]] = {}
        """owner -> connections that send nothing whole, the one that was heard of longest ago first"""

    def __len__(self) -> int:
        return len(self._owner_of)

    def count(self, owner: str) -> int:
        """Connections of `workspace NAME`, or of `address ADDRESS`."""
        return self._counts.get(owner, 0)

    def count_with(self, connection: Connection) -> int:
        """Connections of its owner."""
        return self.count(self._owner_of.get(connection, ""))

    def add(self, connection: Connection, address: str | None) -> bool:
        """It was opened. False: there is room for it only where another one were closed that must not be."""
        owner = f"address {network(address)}"
        if len(self) >= self.most and not self._close_one_of_most():
            return False
        if self.count(owner) >= self.most_of_address and not self._close_quiet(owner):
            return False
        self._enter(connection, owner)
        return True

    def remove(self, connection: Connection) -> None:
        """It was closed."""
        self.answered(connection)
        owner = self._owner_of.pop(connection, None)
        if owner is None:
            return
        self._quiet_of(owner).pop(connection, None)
        self._counts[owner] -= 1
        if not self._counts[owner]:
            del self._counts[owner], self._quiet[owner]

    def heard(self, connection: Connection, *, quiet: bool) -> None:
        """Something has come over it, or its answer has ended; `quiet`: what comes next is its client's."""
        owner = self._owner_of.get(connection)
        if owner is None:
            return
        waiting = self._quiet_of(owner)
        waiting.pop(connection, None)
        if quiet:
            waiting[connection] = None

    def answered(self, connection: Connection) -> None:
        """The answer to its request has ended."""
        if (owner := self._begun.pop(connection, None)) is not None:
            self._begun_of[owner] -= 1
            if not self._begun_of[owner]:
                del self._begun_of[owner]

    def identified(self, connection: Connection, workspace: str) -> None:
        """A request with a key of the workspace came over it. Raises LimitExceededError."""
        owner = f"workspace {workspace}"
        before = self._owner_of.get(connection)
        if before is None:
            return
        self.answered(connection)
        under_way, left = self._begun_of[owner], self.most - len(self._begun)
        is_over = not self._one_workspace and under_way and under_way >= left
        # one of its own whose body has not come is closed, if there is one
        if is_over and not self._close_quiet(owner, but=connection):
            raise LimitExceededError(
                f"requests of this workspace are under way on {under_way} connections, and the server has {left} left "
                "for all: wait for some of them",
                reason="CONNECTIONS",
                retry_delay=timedelta(seconds=RETRY_SECONDS),
            )
        if before != owner:
            self._pass_to(connection, before, owner)
        self._begun[connection] = owner
        self._begun_of[owner] += 1

    def _pass_to(self, connection: Connection, before: str, owner: str) -> None:
        if self.count(owner) >= self.most_of_workspace and not self._close_quiet(owner):
            raise LimitExceededError(
                f"this workspace has {self.most_of_workspace} connections open on which requests are answered, which "
                "is the most: wait for some of them, or send several requests over one connection",
                reason="CONNECTIONS",
            )
        quiet = connection in self._quiet_of(before)
        self.remove(connection)
        self._enter(connection, owner, quiet=quiet)

    def _enter(self, connection: Connection, owner: str, *, quiet: bool = True) -> None:
        self._owner_of[connection] = owner
        self._counts[owner] = self.count(owner) + 1
        self.heard(connection, quiet=quiet)

    def _quiet_of(self, owner: str) -> OrderedDict[Connection, None]:
        return self._quiet.setdefault(owner, OrderedDict())

    def _close_one_of_most(self) -> bool:
        """Close a quiet connection of the owner that has most connections, among those that have a quiet one."""
        owners = sorted((owner for owner, quiet in self._quiet.items() if quiet), key=self.count, reverse=True)
        return any(map(self._close_quiet, owners))

    def _close_quiet(self, owner: str, but: Connection | None = None) -> bool:
        """Close the connection of the owner that was quiet longest, other than `but`."""
        for connection in self._quiet.get(owner, ()):
            if connection is not but and connection.may_be_closed():
                self.remove(connection)
                connection.drop()
                return True
        return False


def most_connections() -> int:
    """The number of connections for which this process has descriptors, beside those that it reserves."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(LEAST_CONNECTIONS, min(MOST_CONNECTIONS, soft - soft // RESERVED_SHARE))


def network(address: str | None) -> str:
    """An address as one client has it: of version 6, everybody has 2**64."""
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(getattr(found, "ipv4_mapped", None) or found)


class ListeningSocket(socket.socket):
    """One that stops for a while where no descriptor is left: asyncio by itself asks and logs thousands of
    times a second.

    It gives a few connections at a time, so that those which were taken are counted before there are more. Each has
    little of the kernel's memory.
    """

    greetings: Greetings | None = None
    """where connections are counted on which TLS is being agreed upon; None = this server has no TLS"""
    _taken = 0
    _resumes_at = 0.0
    _told_until = 0.0

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection. Raises BlockingIOError also where this socket takes no more for now."""
        loop = get_running_loop()
        if loop.time() < self._resumes_at or self._taken >= ACCEPTED_AT_ONCE:
            raise BlockingIOError(errno.EAGAIN, "no more connections for now")
        if not self._taken:
            loop.call_soon(self._go_on)
        try:
            accepted = super().accept()
        except OSError as error:
            if error.errno in _NO_ROOM:
                self._stop(loop, error)
            raise
        self._taken += 1
        kernel_memory.narrow(accepted[0])
        if self.greetings is not None:
            self.greetings.begun(accepted[0], network(accepted[1][0]))
        return accepted

    def _go_on(self) -> None:
        self._taken = 0

    def _stop(self, loop: AbstractEventLoop, error: OSError) -> None:
        """asyncio, which gets the error, removes the socket from those it looks at, for a second."""
        self._resumes_at = loop.time() + PAUSE_SECONDS
        if loop.time() >= self._told_until:
            _log.error("no descriptor is left for connections (%s): new ones wait until there is", error.strerror)
        self._told_until = loop.time() + TOLD_SECONDS


def quiet_about_accepting(loop: AbstractEventLoop) -> None:
    """What `ListeningSocket` says once, asyncio says each second: that is left out."""
    before = loop.get_exception_handler()

    def handle(loop: AbstractEventLoop, context: dict[str, Any]) -> None:
        if context.get("message") == _ASYNCIO_SAYS:
            return
        if before is None:
            loop.default_exception_handler(context)
        else:
            before(loop, context)

    loop.set_exception_handler(handle)
