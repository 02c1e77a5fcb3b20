"""Makes two calls of one asynchronous function: a blocking one, and `.aio`, which can be awaited."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, TypeVar

from harena.sdk.keywords import keyword_names, refuse_unknown
from harena.sdk.portal import current_portal
from harena.sdk.refs import OperationRef

P = ParamSpec("P")
T = TypeVar("T")


class Twin(Generic[P, T]):
    """`twin(...)` waits for the result; `twin.aio(...)` returns an `OperationRef`, which any event loop can await."""

    def __init__(self, function: Callable[P, Coroutine[Any, Any, T]]) -> None:
        self._function = function
        self._name = function.__name__.removeprefix("_")
        functools.update_wrapper(self, function)

    @functools.cached_property
    def _keywords(self) -> frozenset[str]:
        return keyword_names(self._function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run it and wait."""
        return self.aio(*args, **kwargs).result()

    def aio(self, *args: P.args, **kwargs: P.kwargs) -> OperationRef[T]:
        """Run it in the background. Raises TypeError for an unknown keyword, with the one that was perhaps meant."""
        refuse_unknown(self._name, kwargs, self._keywords)
        return current_portal().submit(functools.partial(self._function, *args, **kwargs))
