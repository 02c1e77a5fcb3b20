"""Answers: JSON, streams that notice when nobody reads them any more, and problems."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from harena.core.errors import HarenaError, PlatformError, SandboxError
from harena.core.problems import CONTENT_TYPE, to_problem
from harena.core.server_places import without_server_places
from harena.core.threads import BODIES
from harena.server.encoding import encoded, encoded_at_once, is_large
from harena.server.encoding import pieces as json_pieces

_log = logging.getLogger("harena.server")

T = TypeVar("T")

MOST_DETAIL = 32 * 1024
"""characters of what a problem says"""
_FEW = 500
"""entries of a list that are put into words in the event loop"""
_PART = 1000
"""entries of a longer list that are put into words at a time, in a thread"""


class JsonAnswer(Response):
    """JSON in ASCII: names of files that are not UTF-8 travel as escapes."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """`content`: a record, or JSON types. It is the body at once, or when it is sent where it is large. Raises
        ValueError."""
        self._large = content if is_large(content) else None
        super().__init__(content, status_code, headers)

    def render(self, content: Any) -> bytes:
        """The body, as far as it is known now."""
        return encoded_at_once(content) if self._large is None else b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. Raises ValueError, LimitExceededError before anything is sent."""
        if self._large is not None:
            self.body = await encoded(self._large)
            self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def problem_of(error: HarenaError, request_id: str | None) -> dict[str, Any]:
    """What a caller is told of an error: what happened, and what to do. Where the server's files lie, and what a tool
    printed after the first line of a fault of the platform, is written to the server's log instead."""
    problem = to_problem(error)
    whole = str(problem["detail"])
    if len(whole) > MOST_DETAIL:  # whatever it repeats of a request
        whole = f"{whole[:MOST_DETAIL]} ... ({len(whole) - MOST_DETAIL} characters more)"
    told = whole
    if not isinstance(error, SandboxError) or isinstance(error, PlatformError):  # else its paths are a sandbox's
        is_ours = isinstance(error, PlatformError) or problem["status"] >= 500
        told = without_server_places(whole.split("\n", 1)[0] if is_ours else whole)
    if told != whole:
        _log.warning("request %s is told less than this: %s", request_id, whole)
        if problem["status"] >= 500:
            told += f"; the server's log says more under request {request_id}" if request_id else ""
    return {**problem, "detail": told}


class ProblemResponse(JsonAnswer):
    """What went wrong."""

    media_type = CONTENT_TYPE

    def __init__(self, error: HarenaError, request_id: str | None) -> None:
        problem = problem_of(error, request_id)
        headers = {}
        if problem["status"] == 401:
            headers["www-authenticate"] = "Bearer"
        if "retry_after_seconds" in problem:
            headers["retry-after"] = str(max(1, round(problem["retry_after_seconds"])))
        super().__init__({**problem, "request_id": request_id}, status_code=problem["status"], headers=headers)


class StreamAnswer(Response):
    """Pieces as they come, made by `begin_stream`. The generator is closed at the end, and at once when the reader has
    gone.

    An exception in the middle breaks the connection off: the reader must not take what has come for the whole.
    """

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes, None], media_type: str) -> None:
        """`rest` has been started: so closing it runs what it does in its end, whatever happens here."""
        self._first = first
        self._rest = rest
        self.background = None
        self.media_type = media_type
        self.status_code = 200
        self.body = b""
        self.init_headers({"cache-control": "no-store"})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        sending = asyncio.ensure_future(self._send(send))
        leaving = asyncio.ensure_future(_reader_has_gone(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            if not sending.done():
                sending.cancel()
            await asyncio.wait((sending, leaving))
            await self._rest.aclose()
        if not sending.cancelled():
            sending.result()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if self._first:
            await send({"type": "http.response.body", "body": self._first, "more_body": True})
        async for piece in self._rest:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def begin_stream(pieces: AsyncGenerator[bytes, None], media_type: str) -> StreamAnswer:
    """An answer of these pieces, of which the first is made now: what cannot even begin raises here, while there can
    still be a problem."""
    try:
        first = await anext(pieces)
    except StopAsyncIteration:
        first = b""
    except BaseException:
        await pieces.aclose()
        raise
    return StreamAnswer(first, pieces, media_type)


async def answer_list(name: str, entries: Sequence[T], to_json: Callable[[T], Any]) -> Response:
    """{name: entries}; of many entries, made while they are sent, some at a time, in a thread of the workspace: a
    program decides how many there are, and the event loop does nothing for each of them."""
    if len(entries) <= _FEW:
        return JsonAnswer({name: [to_json(entry) for entry in entries]})

    async def pieces() -> AsyncGenerator[bytes, None]:
        head = b'{"%s":[' % name.encode()
        for place in range(0, len(entries), _PART):
            yield head + await BODIES.run(_encoded_entries, entries[place : place + _PART], to_json)
            head = b","
        yield b"]}"

    return await begin_stream(pieces(), JsonAnswer.media_type)


def _encoded_entries(entries: Sequence[T], to_json: Callable[[T], Any]) -> bytes:
    return b"".join(json_pieces([to_json(entry) for entry in entries]))[1:-1]


async def _reader_has_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
