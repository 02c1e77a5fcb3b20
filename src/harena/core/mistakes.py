"""Words for what pydantic refuses: the parts of a sentence that are alike in every request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from harena.core.checked import quote
from harena.core.near_names import nearest_name

MistakeDetails = Mapping[str, Any]
"""one of pydantic's `errors()`: {type, loc, msg, input, ctx}"""


def reason_of(details: MistakeDetails) -> str:
    """Why a value was refused, as it follows the name of its field."""
    message = str(details["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def given_in(details: MistakeDetails) -> str:
    """What was given; of a list, a mapping or an object only its type."""
    given = details["input"]
    return quote(given) if isinstance(given, str | int | float | bool | None) else type(given).__name__


def nearest_key(name: str, valid: Collection[str], *, cutoff: float = 0.6) -> str:
    """The valid key that was perhaps meant, or all there are. `cutoff`: how alike the two must be, from 0 to 1."""
    close = nearest_name(name, valid, cutoff=cutoff)
    return f"did you mean {close!r}?" if close is not None else f"valid keys are {', '.join(valid)}"
