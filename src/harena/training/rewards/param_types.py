"""Whether the parameters of a reward recipe have the types that its signature says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter
from pydantic import ValidationError as PydanticError

from harena.core.checked import shown

_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)


def wrong_types(make: Callable[..., Any], params: Mapping[str, Any]) -> list[str]:
    """A sentence for each parameter that is missing or has a wrong type; what it has not is said elsewhere."""
    wrong = []
    hints = get_type_hints(make if inspect.isfunction(make) else make.__init__)
    for name, parameter in inspect.signature(make).parameters.items():
        if name not in params:
            wrong += [f"{name}: missing"] if parameter.default is inspect.Parameter.empty else []
            continue
        try:
            TypeAdapter(hints[name], config=_STRICT).validate_python(params[name])
        except PydanticError as error:
            message = error.errors(include_url=False)[0]["msg"]
            wrong.append(f"{name}: {message[:1].lower()}{message[1:]} (got {shown(params[name])})")
    return wrong
