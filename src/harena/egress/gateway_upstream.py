"""Requests to the upstream of a gateway: TLS that is always verified, to addresses that are allowed only.

The address is checked when its socket is made, after the name was resolved, so that a name which leads to another
address a moment later changes nothing. Redirects are answers, cookies are not kept, proxies of the environment are not
used, and nothing is decompressed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from harena.core.network_policy import NetworkPolicy
from harena.core.settings import GATEWAY_NETWORKS
from harena.egress.credentials import Headers
from harena.egress.resolving import OwnAddresses, Resolver, SystemResolver, UnknownNameError

MOST_CONNECTIONS = 64
"""to the upstream of one gateway at one time"""
DIAL_SECONDS = 15.0
MOST_HEADER = 16 * 1024
"""bytes of a line of the answer's head"""
BUFFER_BYTES = 256 << 10
"""size of the kernel's buffers for each way of a connection to an upstream, which may be far away; the kernel may allow
less"""
Address = tuple[int, int, int, str, tuple[Any, ...]]
LEADS_NOWHERE = (
    "the upstream's name does not exist, or leads to no public address; others (loopback, link-local, private, "
    "reserved, a metadata service, the node's own) are connected to only where the operator of the node allows their "
    f"network ({GATEWAY_NETWORKS.name})"
)
"""one sentence for both: a program could otherwise find out what the node's own network has"""


class UpstreamError(Exception):
    """The upstream cannot be asked, or does not answer as HTTP asks; the text says why, without any credential."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class _NotAllowedError(OSError):
    """A gateway does not connect to that address."""


def tls_context(more_authorities: str | None = None) -> ssl.SSLContext:
    """The system's authorities, and those of these certificates, as PEM. Raises ssl.SSLError."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if more_authorities is not None:
        context.load_verify_locations(cadata=more_authorities)
    return context


class _Names(aiohttp.abc.AbstractResolver):
    """Names as sandboxes' networks look them up: in threads of which no workspace holds all, and not for ever."""

    def __init__(self, resolver: Resolver, workspace: str) -> None:
        self._resolver = resolver
        self._workspace = workspace

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[aiohttp.abc.ResolveResult]:
        """Raises OSError, whose text is a reason where there is one that is not the name's own."""
        try:
            addresses = await self._resolver.resolve(self._workspace, host)
        except UnknownNameError as error:
            raise OSError(str(error)) from None
        return [
            {
                "hostname": host,
                "host": str(address),
                "port": port,
                "family": socket.AF_INET if address.version == 4 else socket.AF_INET6,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            }
            for address in addresses
        ]

    async def close(self) -> None:
        """It has nothing of its own."""


class Upstream:
    """Used from one event loop, in which it is made."""

    def __init__(
        self,
        tls: ssl.SSLContext,
        networks: Sequence[str],
        *,
        silent_seconds: float,
        resolver: Resolver | None = None,
        workspace: str = "",
    ) -> None:
        """`networks`: addresses beside the public ones that may be connected to, as CIDRs. `silent_seconds`: for which
        an upstream may send nothing. `resolver`: what finds addresses for all gateways, by `workspace`; None = one of
        its own."""
        names = _Names(SystemResolver() if resolver is None else resolver, workspace)
        self._addresses = NetworkPolicy(allow=tuple(networks))
        self._own = OwnAddresses()
        self._silent_seconds = silent_seconds
        self._refused = ""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=DIAL_SECONDS, sock_read=silent_seconds)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                ssl=tls, limit=MOST_CONNECTIONS, resolver=names, socket_factory=self._socket
            ),
            timeout=timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            max_line_size=MOST_HEADER,
            max_field_size=MOST_HEADER,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )

    @asynccontextmanager
    async def answer_to(
        self, method: str, url: str, headers: Headers, body: AsyncIterator[bytes] | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer, whose body has not been read. Raises UpstreamError."""
        self._refused = ""
        sent = CIMultiDict(headers)
        try:
            async with self._asking(method, url, sent, body) as answer:
                yield answer
        except aiohttp.ClientConnectorCertificateError as error:
            raise UpstreamError(502, f"the upstream's certificate is not valid: {error.certificate_error}") from None
        except aiohttp.ClientConnectorSSLError:
            raise UpstreamError(502, "the upstream does not speak TLS as it should") from None
        except aiohttp.ClientConnectorDNSError as error:
            raise UpstreamError(502, str(error.os_error) or LEADS_NOWHERE) from None
        except TimeoutError:
            raise UpstreamError(504, f"the upstream was silent for {self._silent_seconds:g} s") from None
        except aiohttp.ClientConnectorError:
            said = self._refused or "the upstream could not be connected to"
            raise UpstreamError(502, said) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            said = self._refused or f"the upstream's answer broke off or is no HTTP ({type(error).__name__})"
            raise UpstreamError(502, said) from None

    def _asking(
        self, method: str, url: str, headers: CIMultiDict[str], body: AsyncIterator[bytes] | None
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        place = URL(url, encoded=True)  # as it was checked: nothing is normalised once more
        return self._session.request(method, place, headers=headers, data=body, allow_redirects=False)

    async def close(self) -> None:
        """End its connections."""
        await self._session.close()
        await asyncio.sleep(0)  # what has been closed ends in the loop's next turn

    def _socket(self, address: Address) -> socket.socket:
        family, kind, protocol, _, place = address
        given = ipaddress.ip_address(str(place[0]).partition("%")[0])
        verdict = self._addresses.decide_address(given, int(place[1]), is_own=self._own.has(given))
        if not verdict.allowed:
            self._refused = LEADS_NOWHERE
            raise _NotAllowedError(self._refused)
        made = socket.socket(family, kind, protocol)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            made.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
        return made
