"""Reads JSON bodies in three steps: checks the content type, counts the values and their depth, and parses.

How parsing is strict is in `harena.server.strict_json`; large bodies are parsed by a process, see
`harena.server.large_bodies`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.models import MIB
from harena.server.large_bodies import read_large
from harena.server.strict_json import json_in

if TYPE_CHECKING:
    from fastapi._compat import ModelField

    from harena.server.request_shares import Share

JSON = "application/json"
OCTETS = "application/octet-stream"
AT_ONCE_BYTES = MIB // 16
"""a larger body is parsed by a process, and checked in a thread: others shall not wait for it"""
VALUE_BYTES = 140
"""memory of the largest value, beside its text: an object with one name"""


class JsonRoute(APIRoute):
    """A route whose body, where it takes one, is JSON as above. Raises ValidationError (415, 422)."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give FastAPI's handler, behind a check that a body which it would read says that it is JSON."""
        handler = super().get_route_handler()
        if self.body_field is None:
            return handler

        async def strict(request: Request) -> Response:
            if has_body(request) and not _is_json(content_type(request)):
                given = request.headers.get("content-type")
                raise ValidationError(
                    f"content-type {quote(given)}: send JSON, as content-type: {JSON}"
                    if given
                    else f"a body without a content-type: send JSON, as content-type: {JSON}",
                    reason="CONTENT_TYPE",
                )
            return await handler(_StrictRequest(request, self._whole_body()))

        return strict

    def _whole_body(self) -> ModelField | None:
        """What checks a body that is one parameter of its route; None = it is several."""
        return next((field for field in self.dependant.body_params if field is self.body_field), None)


class _StrictRequest(Request):
    """Reads its body as `read_json` does; a large one is checked by its model in a thread."""

    def __init__(self, request: Request, model: ModelField | None) -> None:
        super().__init__(request.scope, request.receive)
        self._model = model

    async def json(self) -> Any:
        """The body, or what its model made of it: that passes the model a second time without being looked at. Raises
        ValidationError, and RequestValidationError with what the model has found."""
        body = await self.body()
        if self._model is None or len(body) <= AT_ONCE_BYTES:
            return await read_json(body)
        return await read_large(body, "the body", partial(_checked, model=self._model))


def _checked(value: Any, model: ModelField) -> Any:
    made, mistakes = model.validate(value, {}, loc=("body",))
    if mistakes:
        raise RequestValidationError(mistakes)
    return made


async def arriving(request: Request) -> AsyncIterator[bytes]:
    """The body's pieces, as they come."""
    async for piece in request.stream():
        if piece:
            yield piece


async def read_bounded(request: Request, most_bytes: int, room_bytes: int) -> bytes:
    """The body; a longer one is not read to its end. It takes memory of its workspace, whose requests may have
    `room_bytes` together. Raises ValidationError (413), LimitExceededError."""
    share: Share = request.state.share
    told = request.headers.get("content-length", "")
    if told.isdecimal():
        if int(told) > most_bytes:
            raise _too_long(most_bytes)
        await share.hold(int(told), room_bytes)
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > most_bytes:
            raise _too_long(most_bytes)
        if not told:
            share.grow(len(piece), room_bytes)
    return b"".join(pieces)


def _too_long(most_bytes: int) -> ValidationError:
    return ValidationError(f"give at most {most_bytes} bytes in one write", reason="TOO_LARGE")


def content_type(request: Request) -> str:
    """Without its parameters, in small letters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def has_body(request: Request) -> bool:
    """Something was sent, be it nothing in pieces."""
    return request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers


async def read_json(body: bytes, where: str = "the body") -> Any:
    """One JSON value; `where` it was found is how its errors begin. Raises as `read_large`."""
    return await read_large(body, where) if len(body) > AT_ONCE_BYTES else json_in(body, where)


def _is_json(media_type: str) -> bool:
    return media_type == JSON or (media_type.startswith("application/") and media_type.endswith("+json"))
