"""Reads JSON strictly: UTF-8, no NaN, Infinity or number beyond the largest one, and no name twice in one object.

Values and their depth are counted before any object is made, because parsing can take many times the memory of the
text. This module loads no framework: the processes that read large bodies load it, too.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.outside_json import JsonDepthError, JsonSizeError, check_size

LINES = "application/x-ndjson"
MOST_DEPTH = 200
"""lists and objects inside each other"""
_REASON = "BODY"


def json_in(body: bytes, where: str = "the body") -> Any:
    """One JSON value, read in one step: nothing else of the process runs meanwhile. Raises ValidationError."""
    _check_size(body, where)
    try:
        return json.loads(
            body.decode("utf-8-sig"), parse_float=_number, parse_constant=_no_number, object_pairs_hook=_object
        )
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


def _number(written: str) -> float:
    number = float(written)
    if math.isinf(number):  # no answer could hold it
        raise ValueError(f"{quote(written)} is beyond the largest number, about 1.8e308")
    return number


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"the name {quote(name)} is written twice in one object; keep one of them")
            seen.add(name)
    return made
