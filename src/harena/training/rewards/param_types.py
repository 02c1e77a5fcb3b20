"""Whether the parameters of a reward recipe have the types that its signature says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter
from pydantic import ValidationError as PydanticError

from harena.core.checked import quote
from harena.core.mistakes import reason_of
from harena.core.near_names import cut, nearest_name

SET_BY_THE_JOB = frozenset({"task"})
"""no parameters of a request"""
_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)


def wrong_types(make: Callable[..., Any], params: Mapping[str, Any]) -> list[str]:
    """A sentence for each parameter that is missing, has a wrong type, or is none of the recipe's."""
    hints = get_type_hints(make if inspect.isfunction(make) else make.__init__)
    parameters = inspect.signature(make).parameters
    wrong = [
        f"{cut(name)}: unknown parameter; {_nearest(name, parameters)}" for name in params if name not in parameters
    ]
    for name, parameter in parameters.items():
        if name not in params:
            wrong += [f"{name}: missing"] if parameter.default is inspect.Parameter.empty else []
            continue
        try:
            TypeAdapter(hints[name], config=_STRICT).validate_python(params[name])
        except PydanticError as error:
            reason = reason_of(error.errors(include_url=False)[0])
            wrong.append(f"{name}: {reason} (got {quote(params[name])})")
    return wrong


def _nearest(name: str, parameters: Mapping[str, Any]) -> str:
    valid = [known for known in parameters if known not in SET_BY_THE_JOB]
    if (close := nearest_name(name, valid)) is not None:
        return f"did you mean {close!r}?"
    return f"it has {', '.join(valid)}" if valid else "it has none"
