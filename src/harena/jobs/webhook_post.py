"""Sends one webhook delivery: an HTTP POST with a time limit, without redirects, to addresses that are allowed only.

Against SSRF and DNS rebinding the address is checked when its socket is made, after the name was resolved, so a name
that resolves to another address a moment later, or another notation of an address, changes nothing. Proxies of the
environment are not used.

Nothing of an answer is wanted but its status. A receiver that sends more than there is room for before that (interim
answers without an end, headers) is told nothing and finds its connection closed: the HTTP library would go on reading,
in the event loop that serves everybody.
"""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from harena.core.errors import ValidationError
from harena.jobs.webhooks import SEND_SECONDS, DeliveryOutcome, Network, is_allowed, literal_address

Address = tuple[int, int, int, str, tuple[str | int, ...] | tuple[bytes, ...] | tuple[str, int]]


_NO_ADDRESS = (
    "the receiver's name has no address that this server posts to; its operator can allow more: "
    "`harena serve --webhook-allow`"
)


MOST_ANSWER_BYTES = 16 * 1024
"""what is read of an answer, until its headers have come"""
MOST_HANDSHAKE_BYTES = 64 * 1024
"""what is read beside that where the receiver has certificates to show"""
PIECE_BYTES = 2048
"""what is read of it at one time: others have their turn before the next"""


class Post(Protocol):
    """Sends one delivery."""

    async def __call__(self, url: str, headers: Mapping[str, str], body: bytes) -> DeliveryOutcome:
        """What came of it; raises nothing for what the receiver does."""


class _NotAllowedError(OSError):
    """This server does not post to that address."""


def check_can_post() -> None:
    """Raises ValidationError where what is needed for webhooks is not installed."""
    if importlib.util.find_spec("aiohttp") is None:
        raise ValidationError("webhook: posting needs aiohttp, which is not installed: pip install 'harena[http]'")


class HttpPost:
    """Implements `Post`."""

    def __init__(self, allowed: Sequence[Network] | None, *, seconds: float = SEND_SECONDS) -> None:
        """`allowed`: networks beside the public internet; None = every address. `seconds`: for all of one try."""
        self._allowed = allowed
        self._seconds = seconds

    async def __call__(self, url: str, headers: Mapping[str, str], body: bytes) -> DeliveryOutcome:
        """Post a body to the URL, and tell how it went; only addresses that are allowed are connected to."""
        import aiohttp

        from harena.jobs.webhook_names import WorkspaceResolver

        shows_certificates = url[:6].lower() == "https:"
        most_bytes = MOST_ANSWER_BYTES + (MOST_HANDSHAKE_BYTES if shows_certificates else 0)
        sockets, names = _Sockets(self._allowed, most_bytes), WorkspaceResolver()
        try:
            async with (
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(force_close=True, socket_factory=sockets.make, resolver=names),
                    timeout=aiohttp.ClientTimeout(total=self._seconds),
                    cookie_jar=aiohttp.DummyCookieJar(),
                ) as session,
                session.post(url, data=body, headers=headers, allow_redirects=False) as response,
            ):
                return DeliveryOutcome(status=response.status)
        except TimeoutError:
            return DeliveryOutcome(error=f"the receiver did not answer within {self._seconds:g} seconds")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if names.failed or (sockets.refused and not sockets.made):
                # one outcome for both, and no address: else a webhook would tell which names exist inside this network
                return DeliveryOutcome(error=_NO_ADDRESS, for_good=literal_address(url) is not None)
            if sockets.overrun:
                return DeliveryOutcome(error=f"the receiver sent {most_bytes} bytes without answering")
            # a URL that the library does not take will not be taken later either
            never = isinstance(error, aiohttp.InvalidURL)
            return DeliveryOutcome(error=f"the receiver could not be reached: {type(error).__name__}", for_good=never)


class _Sockets:
    """Makes the sockets of one try."""

    def __init__(self, allowed: Sequence[Network] | None, most_bytes: int) -> None:
        self.refused = 0
        self._allowed = allowed
        self._most_bytes = most_bytes
        self._made: list[_BoundedSocket] = []

    @property
    def made(self) -> int:
        return len(self._made)

    @property
    def overrun(self) -> bool:
        """A receiver had sent all that is read, and an answer had not come."""
        return any(made.left <= 0 for made in self._made)

    def make(self, address: Address) -> socket.socket:
        family, kind, protocol, _, place = address
        if self._allowed is not None and not is_allowed(str(place[0]), self._allowed):
            self.refused += 1
            raise _NotAllowedError("not allowed")
        made = _BoundedSocket(family, kind, protocol)
        made.left = self._most_bytes
        self._made.append(made)
        return made


class _BoundedSocket(socket.socket):
    """A socket that has nothing more to read once so many bytes have been received."""

    left = 0

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Receive at most PIECE_BYTES; nothing, as at the end, when no room is left. Raises OSError."""
        if self.left <= 0:
            return b""
        piece = super().recv(min(bufsize, PIECE_BYTES, self.left), flags)
        self.left -= len(piece)
        return piece

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """Receive into the buffer, as `recv` does; gives the number of bytes. Raises OSError."""
        if self.left <= 0:
            return 0
        count = super().recv_into(buffer, min(nbytes or len(buffer), PIECE_BYTES, self.left), flags)
        self.left -= count
        return count
