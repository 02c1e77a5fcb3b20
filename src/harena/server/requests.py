"""ASGI middleware for every request: request id, authentication, limits, bounded body, log line and metrics.

A plain ASGI layer: streams pass it piece by piece. The id is the caller's `x-request-id` where that is a plain word.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from urllib.parse import urlsplit

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harena.core.clock import Clock
from harena.core.errors import AccessError, HarenaError, LimitExceededError, ValidationError
from harena.core.threads import work_for
from harena.core.workspace import WorkspaceLimits
from harena.server.answer_memory import CountedAnswer
from harena.server.answers import ProblemResponse
from harena.server.bodies import OCTETS
from harena.server.bounds import MOST_JSON_BYTES
from harena.server.connections import Connection
from harena.server.face_routes import FACES
from harena.server.request_shares import Share, needed_bytes, needed_for_more
from harena.server.state import ServerState
from harena.server.strict_json import LINES

_PLAIN_WORD = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_QUIET = frozenset({"/healthz", "/metrics"})
"""asked for all the time, and no news"""
_FOR_CALLERS = ("/v1/", "/metrics", *(face.prefix for face in FACES))
"""routes that ask for a key where there are keys"""

_AS_IT_IS_CALLED = (b"x-content-type-options", b"nosniff")
"""Programs write files and outputs: a browser takes none of them for a page because it looks like one."""

BODY_SECONDS = 120.0
"""for which nothing of a body may come before its connection is closed"""
MOST_LOGGED = 512
"""characters of a path that the log holds: it may have 32 Ki, also of who has no key or exceeds its rate"""
_MOST_DIGITS = 19
"""most digits of a content length; the protocol refuses longer ones"""

_log = structlog.get_logger("harena.server")


class Requests:
    """Around the whole application."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        request_id = _request_id(headers.get(b"x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        began, status = self._state.clock.now(), 0
        turn = scope["state"]["write_turn"] = self._state.write_turns.take(scope)

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode()), _AS_IT_IS_CALLED]
            await send(message)

        try:
            try:
                limits = await self._admit(scope, headers)
                share = scope["state"]["share"] = await self._share(scope, headers, limits)
            except HarenaError as refused:
                await ProblemResponse(refused, request_id)(scope, receive, noted)
            else:
                try:
                    arriving = _lively(scope, receive, self._state.clock)
                    answered = self._count_answer(scope, receive, noted, limits)
                    await self._app(scope, _bounded(scope, headers, arriving, limits, share), answered)
                finally:
                    share.release()
        finally:
            if turn is not None:
                self._state.write_turns.end(turn)
            self._note(scope, request_id, status, self._state.clock.now() - began)

    def _count_answer(self, scope: Scope, receive: Receive, send: Send, limits: WorkspaceLimits) -> Send:
        """Sends an answer while its workspace has room for it; see `harena.server.answer_memory`."""
        caller = scope["state"].get("caller")
        workspace = "" if caller is None else caller.workspace
        answer = CountedAnswer(send, self._state.answer_memory, workspace, limits.request_memory_bytes)

        async def counted(message: Message) -> None:
            try:
                await answer(message)
            except LimitExceededError as refused:
                if not answer.has_begun:
                    await ProblemResponse(refused, scope["state"]["request_id"])(scope, receive, send)
                elif (connection := scope["state"].get("connection")) is not None:
                    connection.drop()  # what has come must not be taken for the whole
                if message.get("more_body"):
                    raise asyncio.CancelledError from refused  # ends a stream as its reader's leaving does

        return counted

    async def _admit(self, scope: Scope, headers: dict[bytes, str]) -> WorkspaceLimits:
        """Before anything of the body is read: who asks, and may it be now? What the workspace may use. Raises
        AccessError, LimitExceededError, ValidationError."""
        if self._state.open_to_loopback and (stranger := _stranger(headers)):
            raise stranger
        if not scope["path"].startswith(_FOR_CALLERS):
            scope["query_string"] = b""  # nobody's key is asked for, and a framework would parse 32 KiB of it
            return WorkspaceLimits(request_bytes=MOST_JSON_BYTES)
        caller = await self._state.access.identify(_authorization(scope["path"], headers))
        scope["state"]["caller"] = caller
        work_for.set(caller.workspace)
        if (connection := scope["state"].get("connection")) is not None:
            connection.identified(caller.workspace)
        return await self._state.quotas.admit(caller)

    async def _share(self, scope: Scope, headers: dict[bytes, str], limits: WorkspaceLimits) -> Share:
        """Room for what the request says that it brings. Raises LimitExceededError, ValidationError."""
        caller = scope["state"].get("caller")
        share = self._state.request_memory.share("" if caller is None else caller.workspace)
        told = headers.get(b"content-length", "")
        size = int(told) if told.isdecimal() and len(told) < _MOST_DIGITS else 0
        if size and not _is_streamed(scope, headers) and size <= min(MOST_JSON_BYTES, limits.request_bytes):
            try:
                await share.take(needed_bytes(size), limits.request_memory_bytes)
            except asyncio.CancelledError:
                share.release()
                raise
        return share

    def _note(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "(none)")
        caller = scope["state"].get("caller")
        workspace = None if caller is None else caller.workspace
        self._state.metrics.answered(scope["method"], route, status, seconds, workspace=workspace)
        if route in _QUIET:
            return
        _log.info(
            "request",
            request_id=request_id,
            method=scope["method"],
            path=scope["path"][:MOST_LOGGED],
            status=status,
            duration_seconds=round(seconds, 6),
            workspace=workspace,
            key_id=None if caller is None else caller.key_id,
        )


def _authorization(path: str, headers: dict[bytes, str]) -> str | None:
    """The header that carries a key: clients of a face may send it in one of their own."""
    if (told := headers.get(b"authorization")) is not None:
        return told
    face = next((face for face in FACES if path.startswith(face.prefix)), None)
    key = None if face is None else headers.get(face.key_header.encode())
    return None if key is None else f"Bearer {key}"


def _request_id(given: str | None) -> str:
    return given if given is not None and _PLAIN_WORD.fullmatch(given) else f"req_{secrets.token_hex(8)}"


def _stranger(headers: dict[bytes, str]) -> AccessError | None:
    """A web page of somebody else's that a browser on this machine shows can send requests here, also under a name of
    its own that it has resolved to this address."""
    named = [f"http://{headers.get(b'host', '')}"]
    if b"origin" in headers:
        named.append(headers[b"origin"])
    for address in named:
        try:
            host = urlsplit(address).hostname
        except ValueError:
            host = None
        if host not in _LOOPBACK_HOSTS:
            message = f"{address}: a server without keys answers programs of its own machine only, as http://127.0.0.1"
            return AccessError(message, reason="FORBIDDEN")
    return None


def _is_streamed(scope: Scope, headers: dict[bytes, str]) -> bool:
    """Lines and files are not held as a whole; what of them is, takes its room where that is known."""
    kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
    return kind in (OCTETS, LINES) or scope["method"] == "PUT"


def _lively(scope: Scope, receive: Receive, clock: Clock) -> Receive:
    """A body of which nothing comes for BODY_SECONDS ends with its connection: it may hold memory, files and threads.
    Time counts only while the server waits for the client, and not while it is busy with what has come."""
    connection: Connection | None = scope["state"].get("connection")
    if connection is None:
        return receive
    arriving = True

    async def watched() -> Message:
        nonlocal arriving
        if not arriving:  # what comes next is the client's leaving, for which nobody need be quick
            return await receive()
        timer = clock.call_later(BODY_SECONDS, connection.drop)
        try:
            message = await receive()
        finally:
            timer.cancel()
        arriving = bool(message.get("more_body"))
        return message

    return watched


def _bounded(
    scope: Scope, headers: dict[bytes, str], receive: Receive, limits: WorkspaceLimits, share: Share
) -> Receive:
    """What is read whole is no more than MOST_JSON_BYTES, which its sender may have told before; lines are bounded by
    the workspace alone, and files not at all."""
    if (coding := headers.get(b"content-encoding", "identity")) != "identity":
        return _refused(coding)
    kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
    if kind == OCTETS or scope["method"] == "PUT":  # whatever their sender calls them
        return receive
    request_bytes = limits.request_bytes
    most_bytes = request_bytes if kind == LINES else min(MOST_JSON_BYTES, request_bytes)
    told = headers.get(b"content-length", "")
    size, least = 0, int(told) if told.isdecimal() and len(told) < _MOST_DIGITS else 0
    unknown = not told and kind != LINES

    async def counted() -> Message:
        nonlocal size
        if least <= most_bytes:
            message = await receive()
            piece_bytes = len(message.get("body", b""))
            size += piece_bytes
            if unknown and size <= most_bytes:
                share.grow(needed_for_more(size - piece_bytes, piece_bytes), limits.request_memory_bytes)
        if max(size, least) > most_bytes:
            whose = " (the workspace's limit)" if most_bytes == request_bytes else ""
            raise ValidationError(
                f"the request's body is larger than {most_bytes} bytes{whose}: send files by their own routes, and "
                f"many scenarios as {LINES}, one to a line",
                reason="TOO_LARGE",
            )
        return message

    return counted


def _refused(coding: str) -> Receive:
    async def receive() -> Message:
        raise ValidationError(f"content-encoding {coding!r}: send the body as it is", reason="CONTENT_TYPE")

    return receive
