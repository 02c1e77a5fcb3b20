"""Names to addresses, asked once for each connection; and which addresses are this machine's own."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Protocol

from harena.core.network_policy import Address

MOST_ADDRESSES = 16
"""addresses of one name; others are not looked at"""
MOST_AT_ONE_TIME = 64
MOST_OF_A_WORKSPACE = 8
"""questions under way: a name server that does not answer holds a thread for as long as the system's resolver waits"""
ANSWER_SECONDS = 20.0
_NOT_OURS = "192.0.2.1"


class UnknownNameError(Exception):
    """A name leads nowhere. The text, where there is any, is a reason that is not the name's own."""


class Resolver(Protocol):
    """Finds addresses."""

    async def resolve(self, workspace: str, name: str) -> Sequence[Address]:
        """The addresses of a name, at least one. Raises UnknownNameError."""


class SystemResolver:
    """Asks as this machine's programs do, in threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST_AT_ONE_TIME, thread_name_prefix="names")
        self._asked: Counter[str] = Counter()

    async def resolve(self, workspace: str, name: str) -> Sequence[Address]:
        """Ask the machine's resolver in a thread. Raises UnknownNameError, also where too many names are being looked
        up."""
        if self._asked[workspace] >= MOST_OF_A_WORKSPACE or self._asked.total() >= MOST_AT_ONE_TIME:
            raise UnknownNameError(f"{name} was not looked up: {MOST_OF_A_WORKSPACE} other names are; try again")
        self._asked[workspace] += 1
        asked = asyncio.get_running_loop().run_in_executor(self._threads, _addresses, name)
        asked.add_done_callback(lambda _: self._answered(workspace))
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await asyncio.shield(asked)
        except TimeoutError:
            raise UnknownNameError(f"{name} could not be looked up within {ANSWER_SECONDS:.0f} s") from None
        except OSError:
            raise UnknownNameError from None
        if not found:
            raise UnknownNameError
        return found

    def _answered(self, workspace: str) -> None:
        self._asked[workspace] -= 1
        if not self._asked[workspace]:
            del self._asked[workspace]


class TableResolver:
    """Answers from a table, each time with the next of a name's answers, and the last one for ever. For tests."""

    def __init__(self, table: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._left = {name: list(answers) for name, answers in table.items()}

    async def resolve(self, workspace: str, name: str) -> Sequence[Address]:
        """Answer from the table, each answer once and the last one for ever. Raises UnknownNameError."""
        answers = self._left.get(name)
        if not answers:
            raise UnknownNameError
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ipaddress.ip_address(each) for each in answer]


def _addresses(name: str) -> list[Address]:
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(str(sockaddr[0]).partition("%")[0] for *_, sockaddr in found)
    return [ipaddress.ip_address(each) for each in list(addresses)[:MOST_ADDRESSES]]


class OwnAddresses:
    """Tells this machine's addresses from others: by binding to them, and by the source that the kernel chooses."""

    def __init__(self) -> None:
        self._binding_tells = not _binds(ipaddress.ip_address(_NOT_OURS))  # ip_nonlocal_bind lets anybody

    def has(self, address: Address) -> bool:
        """It is one of this machine's. Sends nothing."""
        return (self._binding_tells and _binds(address)) or _is_its_own_source(address)


def _binds(address: Address) -> bool:
    with suppress(OSError), socket.socket(_family(address), socket.SOCK_DGRAM) as probe:
        probe.bind((str(address), 0))
        return True
    return False


def _is_its_own_source(address: Address) -> bool:
    with suppress(OSError), socket.socket(_family(address), socket.SOCK_DGRAM) as probe:
        probe.connect((str(address), 9))
        return ipaddress.ip_address(str(probe.getsockname()[0]).partition("%")[0]) == address
    return False


def _family(address: Address) -> socket.AddressFamily:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6
