"""HTTP of sandboxes: the proxy (CONNECT, and requests for `http://...`), and port 80 of programs that know of no proxy.

h11 reads what comes and writes what goes: a request is never passed on as it came, but made anew from its parts, so
that nothing which two readers could understand in two ways gets through.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from dataclasses import dataclass
from typing import Any

import h11

from harena.core.network_policy import Address, read_host
from harena.egress import relay
from harena.egress.gate import BAD_GATEWAY, FORBIDDEN, GATEWAY_TIMEOUT, Gate, RefusedError
from harena.egress.ledger import Line
from harena.egress.shares import Pieces

MOST_HEAD = 16 << 10
"""bytes of a request's or an answer's head"""
BAD_REQUEST = 400
HTTP_PORT = 80
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^:/?#@\[\]\s]+)(?::(?P<port>[0-9]{1,5}))?")
_ABSOLUTE = re.compile(r"http://(?P<authority>[^/?#]*)(?P<rest>[^#]*)(?:#.*)?", re.IGNORECASE)
_OF_ONE_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization", b"te",
     b"trailer", b"upgrade", b"expect", b"host", b"http2-settings"}
)  # fmt: skip
_REASONS = {400: b"Bad Request", 403: b"Forbidden", 502: b"Bad Gateway", 504: b"Gateway Timeout"}


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes."""

    host: str | Address
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The value of its Host header."""
        host = f"[{self.host}]" if not isinstance(self.host, str) and self.host.version == 6 else str(self.host)
        return host if self.port == HTTP_PORT else f"{host}:{self.port}"


async def serve_proxy(gate: Gate, client: socket.socket, _: int) -> None:
    """Serve one connection to the proxy."""
    await _HttpSide(gate, client, "proxy", None).serve()


async def serve_direct(gate: Gate, client: socket.socket, port: int) -> None:
    """Serve one connection of a program that knows of no proxy: where it leads, its local address says."""
    address = client.getsockname()[0]
    host = gate.names.name_of(address)
    if port == HTTP_PORT:
        await _HttpSide(gate, client, "direct", host or "").serve()
        return
    upstream = None
    try:
        if host is None:
            raise gate.refused("direct", address, port, FORBIDDEN, no_name(address))
        is_tls = port == relay.TLS_PORT
        first = await relay.hello(gate, client, "direct", host, port, b"") if is_tls else b""
        upstream, line = await gate.reach("direct", host, port)
        await relay.tunnel(gate, line, "direct", host, client, upstream, first=first, checked=is_tls)
    except RefusedError:
        if port == relay.TLS_PORT:
            await relay.deny(gate, client)
    finally:
        if upstream is not None:
            upstream.close()


def no_name(address: str) -> str:
    """Why a connection to an address that stands for no name is refused."""
    return (
        f"{address} stands for no host of the network: look up a host's name first, and connect to the address that "
        "comes back (or use the proxy)"
    )


class _HttpSide:
    """One connection of a program."""

    def __init__(self, gate: Gate, client: socket.socket, way: str, fixed: str | None) -> None:
        """`fixed`: the only host that it may ask for; "" = none, None = each that the policy allows."""
        self.gate = gate
        self.client = client
        self.way = way
        self.fixed = fixed
        self.inner = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)
        self._pieces = Pieces(gate.served.turns, gate.workspace, gate.sandbox_id)

    async def serve(self) -> None:
        """One request after the other."""
        try:
            while await self._serve_one():
                self.inner.start_next_cycle()
            if self.inner.their_state is h11.SEND_BODY:  # it was answered before all was read, and still sends
                await relay.linger(self.gate, self.client)
        except RefusedError as error:
            await self._refuse(error)
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint if 400 <= error.error_status_hint < 600 else BAD_REQUEST
            await self._refuse(RefusedError(status, f"the request cannot be understood: {error}"))

    async def _serve_one(self) -> bool:
        """Whether another request may follow."""
        async with asyncio.timeout(self.gate.served.times.head):
            request = await self._next_event()
        if not isinstance(request, h11.Request):
            return False
        if request.method == b"CONNECT" and self.fixed is None:
            await self._tunnel(request)
            return False
        target = self._target(request)
        upstream, line = await self.gate.reach(self.way, target.host, target.port)
        try:
            await self._forward(request, target, upstream, line)
        finally:
            self.gate.left()
            upstream.close()
        return self.inner.our_state is h11.DONE and self.inner.their_state is h11.DONE

    # -- what is asked for ---------------------------------------------------------------------------------------

    def _target(self, request: h11.Request) -> Target:
        headers = list(request.headers)
        named = {name for name, _ in headers}
        if b"content-length" in named and b"transfer-encoding" in named:
            raise RefusedError(BAD_REQUEST, "a request with both Content-Length and Transfer-Encoding is not passed on")
        text = request.target.decode("ascii", "replace")
        absolute = _ABSOLUTE.fullmatch(text)
        host_header = next((value.decode("ascii", "replace") for name, value in headers if name == b"host"), None)
        if absolute is not None:
            authority, path = absolute["authority"], absolute["rest"] or "/"
            path = path if path.startswith("/") else f"/{path}"
            if host_header is None:
                host_header = authority
        elif self.fixed is not None and (text.startswith("/") or text == "*"):
            authority, path = (self.fixed if host_header is None else host_header), text
        else:
            raise RefusedError(
                BAD_REQUEST,
                f"{text[:100]!r} is no target of a proxy: it takes CONNECT host:port (for https), and http://host/path",
            )
        host, port = _read_authority(authority, HTTP_PORT)
        if host_header is not None and _read_authority(host_header, HTTP_PORT) != (host, port):
            reason = f"the Host header says {host_header[:300]!r}, and the request is for {authority[:300]!r}"
            raise self.gate.refused(self.way, str(host), port, FORBIDDEN, reason)
        if self.fixed is not None and (host, port) != (self.fixed, HTTP_PORT):
            reason = f"the request is for {authority[:300]!r}, and its connection for {self.fixed}"
            if not self.fixed:
                reason = no_name(self.client.getsockname()[0])
            raise self.gate.refused(self.way, str(host), port, FORBIDDEN, reason)
        return Target(host, port, path)

    # -- tunnels -------------------------------------------------------------------------------------------------

    async def _tunnel(self, request: h11.Request) -> None:
        text = request.target.decode("ascii", "replace")
        host, port = _read_authority(text, 0)
        if not port:
            raise RefusedError(BAD_REQUEST, f"CONNECT {text[:100]!r}: a host and a port are needed, as example.org:443")
        for name, value in request.headers:
            if name == b"host" and _read_authority(value.decode("ascii", "replace"), port) != (host, port):
                reason = f"the Host header says {value[:300]!r}, and CONNECT {text[:300]!r}"
                raise self.gate.refused(self.way, str(host), port, FORBIDDEN, reason)
            if name in (b"content-length", b"transfer-encoding"):
                raise RefusedError(BAD_REQUEST, "CONNECT has no body")
        upstream, line = await self.gate.reach(self.way, host, port)
        try:
            await self._next_event()  # the end of the request, so that what follows is known to be the tunnel's
            await relay.send_all(self.gate, self.client, b"HTTP/1.1 200 Connection established\r\n\r\n")
            first = self.inner.trailing_data[0]
            try:
                if port == relay.TLS_PORT:
                    first = await relay.hello(self.gate, self.client, self.way, host, port, first)
                await relay.tunnel(
                    self.gate, line, self.way, host, self.client, upstream, first=first, checked=port == relay.TLS_PORT
                )
            except RefusedError as error:
                line.reason = str(error)
                await relay.deny(self.gate, self.client)
        finally:
            self.gate.left()
            upstream.close()

    # -- requests that are passed on -----------------------------------------------------------------------------

    async def _forward(self, request: h11.Request, target: Target, upstream: socket.socket, line: Line) -> None:
        outer = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD)
        headers = [(b"Host", target.authority.encode()), *_end_to_end(request.headers), (b"Connection", b"close")]
        content = outer.send(h11.Request(method=request.method, target=target.path.encode(), headers=headers))
        await self._send_out(upstream, line, content or b"")
        if self.inner.they_are_waiting_for_100_continue:
            proceed = self.inner.send(h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue"))
            await relay.send_all(self.gate, self.client, proceed or b"")
        body = asyncio.ensure_future(self._pass_body(outer, upstream, line))
        try:
            await self._pass_answer(outer, upstream, line)
        finally:
            body.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError, TimeoutError, h11.ProtocolError):
                await body

    async def _pass_body(self, outer: h11.Connection, upstream: socket.socket, line: Line) -> None:
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Data):
                await self._send_out(upstream, line, outer.send(event) or b"")
            elif isinstance(event, h11.EndOfMessage):
                await self._send_out(upstream, line, outer.send(h11.EndOfMessage()) or b"")
                return
            else:
                return

    async def _pass_answer(self, outer: h11.Connection, upstream: socket.socket, line: Line) -> None:
        begun = False
        pieces = Pieces(self.gate.served.turns, self.gate.workspace, self.gate.sandbox_id)
        try:
            while True:
                await pieces.next()
                event = outer.next_event()
                if event is h11.NEED_DATA:
                    content = await relay.received(self.gate, upstream, self.gate.served.times.answer)
                    self.gate.ledger.count(line, 0, len(content))
                    await self.gate.rate.pay(len(content))
                    outer.receive_data(content)
                    pieces.has_turn()
                elif isinstance(event, h11.Response):
                    headers = _end_to_end(event.headers, drop=(b"transfer-encoding",))
                    answer = h11.Response(status_code=event.status_code, headers=headers, reason=event.reason)
                    begun = True
                    await self._send_in(answer)
                elif isinstance(event, h11.Data):
                    await self._send_in(event)
                elif isinstance(event, h11.EndOfMessage):
                    await self._send_in(h11.EndOfMessage())
                    return
                elif not isinstance(event, h11.InformationalResponse):
                    raise h11.RemoteProtocolError("it has closed the connection before its answer was whole")
        except TimeoutError:
            why = f"{line.host}:{line.port} has sent nothing for {self.gate.served.times.answer:g} s"
            self._broken(line, begun, GATEWAY_TIMEOUT, why)
        except OSError as error:
            self._broken(line, begun, BAD_GATEWAY, f"{line.host}:{line.port}: {error.strerror or error}")
        except h11.RemoteProtocolError as error:
            self._broken(line, begun, BAD_GATEWAY, f"the answer of {line.host}:{line.port} is broken: {error}")

    def _broken(self, line: Line, begun: bool, status: int, why: str) -> None:
        """The other side's fault. An answer that has begun can only be cut off, which its reader sees."""
        line.reason = why
        if begun:
            raise ConnectionResetError(why)
        raise RefusedError(status, why)

    # -- bytes ---------------------------------------------------------------------------------------------------

    async def _next_event(self) -> Any:
        while True:
            await self._pieces.next()
            event = self.inner.next_event()
            if event is not h11.NEED_DATA:
                return event
            received = await relay.received(self.gate, self.client, self.gate.served.times.idle)
            self._pieces.has_turn()
            if received and self.inner.their_state is h11.IDLE and not self.inner.trailing_data[0]:
                received = received.lstrip(b"\r\n")  # empty lines before a request
                if not received:
                    continue
            self.inner.receive_data(received)

    async def _send_out(self, upstream: socket.socket, line: Line, content: bytes) -> None:
        if content:
            await relay.send_all(self.gate, upstream, content)
            self.gate.ledger.count(line, len(content), 0)
            await self.gate.rate.pay(len(content))

    async def _send_in(self, event: Any) -> None:
        content = self.inner.send(event)
        if content:
            await relay.send_all(self.gate, self.client, content)

    async def _refuse(self, error: RefusedError) -> None:
        """Answer with the sentence, if there still is somebody who waits for an answer."""
        if self.inner.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        text = f"harena: {error}\n".encode()
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text))),
                   ("Connection", "close")]  # fmt: skip
        reason = _REASONS.get(error.status, b"Refused")
        answer = self.inner.send(h11.Response(status_code=error.status, headers=headers, reason=reason)) or b""
        answer += self.inner.send(h11.Data(data=text)) or b""
        with contextlib.suppress(OSError, TimeoutError):
            await relay.send_all(self.gate, self.client, answer)
        await relay.linger(self.gate, self.client)


def _read_authority(text: str, default_port: int) -> tuple[str | Address, int]:
    """(host, port). Raises RefusedError for what is none, and for addresses in odd forms."""
    match = _AUTHORITY.fullmatch(text)
    try:
        if match is None:
            raise ValueError("no host")
        host = read_host(match["host"])
        port = int(match["port"]) if match["port"] else default_port
        if not 0 <= port < 65536 or (match["port"] and not port):
            raise ValueError("no port")
    except ValueError:
        raise RefusedError(
            BAD_REQUEST,
            f"{text[:100]!r} is no host (and port): write a name, or an address in its usual form",
        ) from None
    return host, port


def _end_to_end(headers: Any, drop: tuple[bytes, ...] = ()) -> list[tuple[bytes, bytes]]:
    """The headers that are not about one connection only."""
    listed = {
        each.strip().lower() for name, value in headers if name == b"connection" for each in value.split(b",")
    } - {b"content-length", b"transfer-encoding"}
    return [
        (name, value)
        for name, value in headers.raw_items()
        if name.lower() not in _OF_ONE_HOP and name.lower() not in listed and name.lower() not in drop
    ]
