"""Reads JSON bodies in three steps: checks the content type, counts the values and their depth, and parses.

Values are counted before any object is made, because parsing can take many times the memory of the text. Parsing is
strict: UTF-8, no NaN, Infinity or number beyond the largest one, and no name twice in one object.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, NoReturn

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.json_steps import dict_of, parse
from harena.core.models import MIB
from harena.core.outside_json import JsonDepthError, JsonSizeError, check_size
from harena.core.threads import BODIES

if TYPE_CHECKING:
    from fastapi._compat import ModelField

    from harena.server.request_shares import Share

JSON = "application/json"
LINES = "application/x-ndjson"
OCTETS = "application/octet-stream"
IN_THREAD_BYTES = MIB // 16
"""a larger body is read and checked in a thread: others shall not wait for it"""
MOST_DEPTH = 200
"""lists and objects inside each other"""
VALUE_BYTES = 140
"""memory of the largest value, beside its text: an object with one name"""
_REASON = "BODY"


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
    """Reads its body as `read_json` does; a large one is checked by its model in the same thread."""

    def __init__(self, request: Request, model: ModelField | None) -> None:
        super().__init__(request.scope, request.receive)
        self._model = model

    async def json(self) -> Any:
        """The body, or what its model made of it: that passes the model a second time without being looked at. Raises
        ValidationError, and RequestValidationError with what the model has found."""
        body = await self.body()
        if self._model is None or len(body) <= IN_THREAD_BYTES:
            return await read_json(body)
        return await BODIES.run(_check_body, body, self._model)


def _check_body(body: bytes, model: ModelField) -> Any:
    made, mistakes = model.validate(json_in(body, "the body"), {}, loc=("body",))
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
    """One JSON value; `where` it was found is how its errors begin. Raises ValidationError, and LimitExceededError
    where too much is to be read in threads."""
    if len(body) > IN_THREAD_BYTES:
        return await BODIES.run(json_in, body, where)
    return json_in(body, where)


def json_in(body: bytes, where: str = "the body") -> Any:
    """One JSON value, read at once: not for the event loop. Raises ValidationError."""
    _check_size(body, where)
    try:
        return _read(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValidationError(f"{where} is not UTF-8 (byte {error.start}): send UTF-8", reason=_REASON) from None
    except json.JSONDecodeError as error:
        message = f"{where} is no JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise ValidationError(message, reason=_REASON) from None
    except RecursionError:
        raise ValidationError(f"{where} is nested too deeply to be read", reason=_REASON) from None
    except ValueError as error:  # also an integer of more digits than Python reads
        raise ValidationError(f"{where} cannot be read: {error}", reason=_REASON) from None


def _check_size(body: bytes, where: str) -> None:
    try:
        check_size(body, most_depth=MOST_DEPTH)
    except JsonDepthError as error:
        raise ValidationError(f"{where} {error}", reason=_REASON) from None
    except JsonSizeError as error:
        advice = f"send many scenarios as {LINES}, one to a line"
        raise ValidationError(f"{where} {error.what}: {advice}", reason="TOO_LARGE") from None


def _is_json(media_type: str) -> bool:
    return media_type == JSON or (media_type.startswith("application/") and media_type.endswith("+json"))


def _read(text: str) -> Any:
    return parse(text, parse_float=_number, parse_constant=_no_number, object_pairs_hook=_object)


def _number(written: str) -> float:
    number = float(written)
    if math.isinf(number):  # no answer could hold it
        raise ValueError(f"{quote(written)} is beyond the largest number, about 1.8e308")
    return number


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict_of(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"the name {quote(name)} is written twice in one object; keep one of them")
            seen.add(name)
    return made
