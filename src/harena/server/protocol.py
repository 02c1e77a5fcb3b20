"""The HTTP protocol of one connection, before there is a request: malformed, endless and unfinished heads.

They are answered with problems, as everywhere else. A request's head (its first line and its headers) has limits of
size and of time, so clients that are not authenticated yet can neither fill the memory nor hold connections.
"""

from __future__ import annotations

import asyncio
import http
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from harena.core.errors import HarenaError, SandboxUnavailableError, ValidationError
from harena.server.answers import ProblemResponse
from harena.server.connections import SERVER_FULL, Connections

if TYPE_CHECKING:
    from harena.server.state import ServerState

MOST_URL_BYTES = 32 * 1024
MOST_HEAD_BYTES = 64 * 1024
"""size limit of a request's first line and headers together"""
HEAD_SECONDS = 60.0
"""in which they must come, counted from the connection's begin or from their own"""

_MALFORMED = ("this is no HTTP request that can be understood", "HTTP")
_TOO_LONG = (f"the address is longer than {MOST_URL_BYTES} bytes", "URL_TOO_LONG")
_TOO_LARGE = (f"the headers are larger than {MOST_HEAD_BYTES} bytes", "HEAD_TOO_LARGE")


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _refusal = _MALFORMED
    """what is wrong, and the reason"""
    _in_head = True
    _head_bytes = 0
    _unfinished_bytes = 0
    _timer: asyncio.TimerHandle | None = None

    _counted: Connections | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        state: ServerState = self.config.app.state.harena  # type: ignore[union-attr]
        if state.connections.add(self, None if self.client is None else self.client[0]):
            self._counted = state.connections
            self._wind()
        else:
            self._answer_and_close(SandboxUnavailableError(SERVER_FULL, reason="CONNECTIONS"))

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._unwind()
        if self._counted is not None:
            self._counted.remove(self)
        super().connection_lost(exc)

    def may_be_closed(self) -> bool:
        """See `Connection`."""
        return self._waits_for_its_client() and not self.flow.read_paused

    def drop(self) -> None:
        """See `Connection`."""
        self.transport.abort()

    def identified(self, workspace: str) -> None:
        """A request with a key of the workspace came. Raises LimitExceededError."""
        if self._counted is None:
            return
        try:
            self._counted.identified(self, workspace)
        except HarenaError:
            self.cycle.keep_alive = False  # it is closed behind the answer
            raise

    def _waits_for_its_client(self) -> bool:
        """For a request, or for more of one; not where one that has come is answered."""
        if self.cycle is None:
            return True
        return not self.pipeline and (self.cycle.response_complete or self.cycle.more_body)

    def _note(self) -> None:
        if self._counted is not None:
            self._counted.heard(self, quiet=self._waits_for_its_client())

    def on_response_complete(self) -> None:
        """See uvicorn."""
        super().on_response_complete()
        if self._counted is not None:
            self._counted.answered(self)
        self._note()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        self._note()
        # a header that never ends is told to nobody before its end
        self._unfinished_bytes = self._unfinished_bytes + len(data) if self._in_head else 0
        if self._unfinished_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self._refusal = _TOO_LARGE
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """See httptools, as below."""
        super().on_message_begin()
        self.scope["state"]["connection"] = self
        self._in_head, self._head_bytes = True, 0
        self._wind()

    def on_url(self, url: bytes) -> None:
        """More of the address."""
        super().on_url(url)
        if len(self.url) > MOST_URL_BYTES:
            self._refuse(_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One whole header."""
        super().on_header(name, value)
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MOST_HEAD_BYTES:
            self._refuse(_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """The request begins."""
        self._in_head = False
        self._unwind()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """What cannot be understood is answered with a problem, and the connection closed."""
        message, reason = self._refusal
        self._answer_and_close(ValidationError(message, reason=reason))

    def _answer_and_close(self, error: HarenaError) -> None:
        answer = ProblemResponse(error, None)
        phrase = http.HTTPStatus(answer.status_code).phrase
        head: list[Any] = [f"HTTP/1.1 {answer.status_code} {phrase}".encode()]
        head += (name + b": " + value for name, value in answer.raw_headers)
        self.transport.write(b"\r\n".join([*head, b"connection: close", b"", bytes(answer.body)]))
        self.transport.close()

    def _refuse(self, refusal: tuple[str, str]) -> None:
        self._refusal = refusal
        raise ValueError(refusal[0])  # the parser stops, and `send_400_response` is called

    def _wind(self) -> None:
        self._unwind()
        self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _unwind(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
