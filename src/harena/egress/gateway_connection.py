"""One connection of a program to a gateway: requests come in with the token, and go out with the credential."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
import h11

from harena.core.gateways import Gateway
from harena.egress.credentials import BoundGateway, Headers, put_in, without_tokens
from harena.egress.gateway_heads import (
    END_OF_HEAD,
    RefusedError,
    answered,
    check_lines,
    check_method,
    checked_framing,
    passed_on,
    printable,
    unknown_token,
)
from harena.egress.gateway_ledger import Exchange, GatewayLedger, RequestRate
from harena.egress.gateway_paths import RefusedTargetError, allows, read_target
from harena.egress.gateway_upstream import Upstream, UpstreamError
from harena.egress.redaction import Redaction, redacted
from harena.egress.shares import Pieces

MOST_HEAD = 32 * 1024
"""bytes of a request's head"""
MOST_HEADERS = 200
PIECE_BYTES = 64 * 1024
_MASKED_BYTES = 16 * 1024
"""bytes of an answer that are looked through in one turn: what is full of escapes takes a thousand times as long"""
_TOKEN = re.compile(r"hgt_[A-Za-z0-9_-]{20,}")
_WITH_ADDRESSES = frozenset({"location", "content-location", "link"})
_WORDS = {
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 405: "Method Not Allowed", 408: "Request Timeout",
    413: "Content Too Large", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds for which a program may do nothing."""

    head: float = 30.0
    """until a head is whole"""
    idle: float = 120.0
    """between two requests, and between two pieces of a body, either way"""


USUAL_TIMES = Times()


class _GoneError(Exception):
    """There is nobody to tell anything."""


@dataclass(frozen=True, slots=True)
class Side:
    """A gateway as its connections need it."""

    bound: BoundGateway
    upstream: Upstream
    base_url: str
    ledger: GatewayLedger
    rate: RequestRate

    @property
    def gateway(self) -> Gateway:
        """Without its credential."""
        return self.bound.gateway

    def clean(self, text: str) -> str:
        """A text without token and credential."""
        return _TOKEN.sub("[token]", redacted(text, self.bound.forms))


class GatewayConnection:
    """One connection of a program, whose requests follow one another."""

    def __init__(
        self,
        side: Side,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        times: Times,
        pieces: Pieces,
        *,
        full: bool,
    ) -> None:
        self._pieces = pieces
        self._side = side
        self._reader = reader
        self._writer = writer
        self._times = times
        self._full = full
        self._left = b""
        # what has been written is the kernel's when `drain` returns: the end of a connection throws the rest away
        writer.transport.set_write_buffer_limits(0)

    async def serve(self) -> None:
        """Until one of the two sides ends it."""
        with suppress(_GoneError, OSError):
            while await self._one():
                continue

    async def _one(self) -> bool:
        """Serve a request; whether another one may follow."""
        exchange = self._side.ledger.began(self._side.gateway.name)
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)
        try:
            if self._full:
                raise RefusedError(
                    503, "the sandbox, or all sandboxes together, have as many connections to gateways open as they may"
                )
            head = await self._head()
            if head is None:
                exchange.noted = True
                return False
            http.receive_data(head)
            event = http.next_event()
            if not isinstance(event, h11.Request):
                raise RefusedError(400, "what was sent is no HTTP request")
            length = checked_framing(head, bytes(event.http_version))
            await self._exchange(http, event, exchange, length)
        except RefusedError as error:
            await self._refuse(http, exchange, error)
            return False
        except h11.RemoteProtocolError as error:
            # the status is h11's own: 431 for a head that is too long, 501 for a coding that it does not know
            status = error.error_status_hint
            await self._refuse(http, exchange, RefusedError(status, f"what was sent is no HTTP request: {error}"))
            return False
        except _GoneError:
            exchange.reason = exchange.reason or "the program has gone"
            raise
        finally:
            self._note(exchange)
        if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
            return False
        self._left, ended = http.trailing_data
        return not ended

    def _note(self, exchange: Exchange) -> None:
        if not exchange.noted:
            exchange.noted = True
            self._side.ledger.ended(exchange, self._side.clean)

    # -- reading ---------------------------------------------------------------------------------------------------

    async def _head(self) -> bytes | None:
        """A whole head and what came behind it; None = the program sends no more."""
        got = self._left
        seconds = self._times.head if got else self._times.idle
        try:
            async with asyncio.timeout(seconds) as limit:
                while True:
                    end = got.find(END_OF_HEAD)
                    check_lines(got if end < 0 else got[: end + 4])
                    if end >= 0:
                        if end > MOST_HEAD:
                            break
                        if got.count(b"\n", 0, end) > MOST_HEADERS:
                            raise RefusedError(431, f"the request has more than {MOST_HEADERS} headers")
                        await self._pieces.turn()
                        return got
                    if len(got) > MOST_HEAD:
                        break
                    more = await self._reader.read(PIECE_BYTES)
                    if not more:
                        return None
                    if not got:
                        limit.reschedule(asyncio.get_running_loop().time() + self._times.head)
                    got += more
        except TimeoutError:
            if not got:
                return None
            raise RefusedError(408, f"the request's head was not whole after {self._times.head:g} s") from None
        raise RefusedError(431, f"the request's head has more than {MOST_HEAD} bytes")

    async def _more(self, http: h11.Connection) -> None:
        try:
            async with asyncio.timeout(self._times.idle):
                more = await self._reader.read(PIECE_BYTES)
        except TimeoutError:
            raise _GoneError from None
        if not more:
            raise _GoneError
        await self._pieces.turn()
        http.receive_data(more)

    async def _body(self, http: h11.Connection, exchange: Exchange) -> AsyncIterator[bytes]:
        """The pieces of a request's body."""
        while True:
            await self._pieces.next()
            event = http.next_event()
            if event is h11.NEED_DATA:
                if http.they_are_waiting_for_100_continue:
                    await self._send(http, h11.InformationalResponse(status_code=100, headers=[]))
                await self._more(http)
            elif isinstance(event, h11.Data):
                exchange.sent_bytes += len(event.data)
                if exchange.sent_bytes > self._side.gateway.request_bytes:
                    raise self._too_large()
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return
            else:
                raise _GoneError

    def _too_large(self) -> RefusedError:
        return RefusedError(
            413,
            f"the request's body has more than the {self._side.gateway.request_bytes} bytes that this gateway takes",
        )

    # -- one request -----------------------------------------------------------------------------------------------

    async def _exchange(
        self, http: h11.Connection, request: h11.Request, exchange: Exchange, length: int | None
    ) -> None:
        gateway = self._side.gateway
        exchange.method = request.method.decode("ascii")
        exchange.path = request.target.decode("latin-1").partition("?")[0]
        headers = [(name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers]
        try:
            target = read_target(request.target)
        except RefusedTargetError as error:
            raise RefusedError(400, str(error)) from None
        exchange.path = target.path
        tokens, headers, query = without_tokens(self._side.bound, headers, target.query)
        if not any(map(self._side.bound.is_token, tokens)):
            raise unknown_token(gateway, bool(tokens))
        check_method(exchange.method)
        if not allows(gateway.rules, exchange.method, target):
            raise RefusedError(
                403, f"{exchange.method} {target.path[:200]} is not allowed by the rules of the gateway {gateway.name}"
            )
        if (seconds := self._side.rate.wait_seconds()) > 0:
            raise RefusedError(
                429,
                f"the gateway {gateway.name} takes {gateway.requests_per_minute} requests in a minute",
                ("retry-after", str(int(seconds) + 1)),
            )
        if length is not None and length > gateway.request_bytes:
            raise self._too_large()
        sent, query = put_in(self._side.bound, passed_on(headers), query)
        has_body = length is None or length > 0
        if length is not None and (has_body or exchange.method in ("POST", "PUT", "PATCH")):
            sent.append(("content-length", str(length)))
        url = f"{gateway.url}{target.path}{'?' if query else ''}{query}"
        await self._ask(http, exchange, url, sent, has_body=has_body)

    async def _ask(self, http: h11.Connection, exchange: Exchange, url: str, sent: Headers, *, has_body: bool) -> None:
        problems: list[Exception] = []

        async def body() -> AsyncIterator[bytes]:
            # aiohttp tells what a body raises as an error of its own: this one is told instead
            try:
                async for piece in self._body(http, exchange):
                    yield piece
            except (RefusedError, _GoneError, h11.RemoteProtocolError, OSError) as error:
                problems.append(error)
                raise aiohttp.ClientPayloadError("the request's body ended") from error

        exchange.forwarded = True
        try:
            if not has_body:
                async for _ in self._body(http, exchange):
                    raise RefusedError(400, "the request has a body that it does not tell of")
            async with self._side.upstream.answer_to(
                exchange.method, url, sent, body() if has_body else None
            ) as answer:
                await self._answer(http, exchange, answer)
        except UpstreamError as error:
            if problems:
                raise problems[0] from None
            if exchange.status:
                exchange.reason = str(error)
                raise _GoneError from None
            raise RefusedError(error.status, str(error)) from None

    # -- answering -------------------------------------------------------------------------------------------------

    async def _answer(self, http: h11.Connection, exchange: Exchange, answer: aiohttp.ClientResponse) -> None:
        gateway, forms = self._side.gateway, self._side.bound.forms
        if not 200 <= answer.status <= 599:
            raise RefusedError(502, f"the upstream answers with the status {answer.status}")
        if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise RefusedError(
                502,
                "the upstream compresses its answer although it was asked not to, so that it cannot be looked through",
            )
        if answer.headers.get("transfer-encoding", "chunked").strip().lower() != "chunked":
            raise RefusedError(502, "the upstream's answer has a transfer-encoding that is not `chunked` alone")
        told = [
            (name, redacted(self._rewritten(name, value), forms)) for name, value in answered(answer.headers.items())
        ]
        length = answer.headers.get("content-length")
        if length is not None and "transfer-encoding" not in answer.headers:
            if not length.isdecimal() or (int(length) > gateway.answer_bytes and exchange.method != "HEAD"):
                raise RefusedError(502, f"the answer's body has more than {gateway.answer_bytes} bytes")
            told.append(("content-length", length))
        exchange.status = answer.status
        reason = redacted(answer.reason or "", forms).encode("latin-1", "replace")
        await self._send(http, h11.Response(status_code=answer.status, headers=told, reason=printable(reason)))
        redaction = Redaction(forms)
        async for piece in answer.content.iter_any():
            exchange.received_bytes += len(piece)
            if exchange.received_bytes > gateway.answer_bytes:
                exchange.reason = f"ended: the answer has more than {gateway.answer_bytes} bytes"
                raise _GoneError
            for place in range(0, len(piece), _MASKED_BYTES):
                await self._pieces.turn()
                if passed := redaction.passed(piece[place : place + _MASKED_BYTES]):
                    await self._send(http, h11.Data(data=passed))
        self._note(exchange)
        if rest := redaction.rest():
            await self._send(http, h11.Data(data=rest))
        await self._send(http, h11.EndOfMessage())

    def _rewritten(self, name: str, value: str) -> str:
        """Addresses below the upstream's URL are told as the gateway's own; others stay, and are not followed here."""
        if name not in _WITH_ADDRESSES:
            return value
        gateway = self._side.gateway
        if name == "link":
            return _below(gateway).sub(self._side.base_url, value)
        if value.startswith("/") and not value.startswith("//"):
            base = gateway.base_path
            is_below = not base or value == base or value.startswith((f"{base}/", f"{base}?"))
            return f"{self._side.base_url}{value.removeprefix(base)}" if is_below else value
        return _below(gateway).sub(self._side.base_url, value, count=1)

    async def _send(self, http: h11.Connection, event: h11.Event) -> None:
        try:
            content = http.send(event)
        except h11.LocalProtocolError as error:
            # an upstream whose answer is longer or shorter than it says, or has a header that HTTP does not allow
            raise UpstreamError(502, f"the upstream's answer is no HTTP: {error}") from None
        if not content:
            return
        self._writer.write(content)
        try:
            async with asyncio.timeout(self._times.idle):
                await self._writer.drain()
        except TimeoutError:
            raise _GoneError from None

    async def _refuse(self, http: h11.Connection, exchange: Exchange, error: RefusedError) -> None:
        """Tell why, and end the connection: what is left of the request is not looked at."""
        exchange.reason = str(error)
        if exchange.status:
            return
        exchange.status = error.status
        said = self._side.clean(f"harena gateway {self._side.gateway.name}: {error}").encode("utf-8", "replace") + b"\n"
        head = [
            f"HTTP/1.1 {error.status} {_WORDS.get(error.status, 'Error')}",
            "content-type: text/plain; charset=utf-8",
            f"content-length: {len(said)}",
            "connection: close",
            *(f"{name}: {value}" for name, value in error.more),
        ]
        body = b"" if exchange.method == "HEAD" else said
        self._writer.write("\r\n".join(head).encode("latin-1") + END_OF_HEAD + body)
        self._note(exchange)  # a program that has its answer may be the one that asks for the log
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self._writer.drain()
                self._writer.write_eof()
                for _ in range(16):  # a connection that is closed with unread bytes is reset, and the words are lost
                    if not await self._reader.read(PIECE_BYTES):
                        return


def _below(gateway: Gateway) -> re.Pattern[str]:
    """The beginning of each absolute address that is below the upstream's URL."""
    parts = urlsplit(gateway.url)
    port = f"(?::{gateway.port})?" if parts.port is None else f":{gateway.port}"
    path = re.escape(parts.path)
    return re.compile(rf"(?i:https://{re.escape(gateway.host)}){port}{path}(?=[/?#>]|$)")
