"""A checked contract as people write one: JSON types, with values in the tagged notation of `harena.scoring.values`.

`load_scenarios` makes an equal contract of it again. Needed where a contract that was read from another format has to
travel: a data set's own tests become a scoring contract, and a training job keeps it with its prompts.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from harena.scoring.contracts.calls import Check, Inputs
from harena.scoring.contracts.parts import Contract
from harena.scoring.values import Bag

_LARGEST_JSON_INTEGER = 2**63
"""some readers of JSON and Parquet take no larger one"""


def written_contract(contract: Contract) -> dict[str, Any]:
    """The contract, with the fields that were given."""
    made: dict[str, Any] = _plain(contract)
    return made


def to_tagged(value: Any) -> Any:
    """The notation of a host value, as JSON types: what `from_tagged` reads as an equal value."""
    if isinstance(value, Bag):
        if value.kind != "dict":
            return {f"${value.kind}": [to_tagged(item) for item in value.items]}
        return {"$dict": [[to_tagged(key), to_tagged(item)] for key, item in value.items]}
    if type(value) is tuple:
        return {"$tuple": [to_tagged(item) for item in value]}
    if type(value) is list:
        return [to_tagged(item) for item in value]
    if type(value) is bytes:
        return {"$bytes": base64.b64encode(value).decode()}
    if type(value) is complex:
        return {"$complex": [value.real, value.imag]}
    if type(value) is float and not math.isfinite(value):
        return {"$float": str(value)}
    if type(value) is int and not -_LARGEST_JSON_INTEGER <= value < _LARGEST_JSON_INTEGER:
        return {"$int": hex(value)}
    return value


def _plain(part: Any) -> Any:
    if isinstance(part, BaseModel):
        fields = {name: getattr(part, name) for name in type(part).model_fields if name in part.model_fields_set}
        if isinstance(part, Check | Inputs):
            return {name: _call_field(name, value) for name, value in fields.items()}
        return {name: _plain(value) for name, value in fields.items()}
    if isinstance(part, Mapping):
        return {str(name): _plain(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(value) for value in part]
    return part


def _call_field(name: str, value: Any) -> Any:
    """Arguments and expected values are values; all other fields are plain."""
    if name in ("args", "alternatives"):
        return [to_tagged(item) for item in value]
    if name == "kwargs":
        return {key: to_tagged(item) for key, item in value.items()}
    return to_tagged(value) if name == "expected" else _plain(value)
