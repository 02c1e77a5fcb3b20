"""What is kept of contracts, for the candidates that follow: bounded in number and in size.

Whoever writes contracts chooses how large they are, and a process that serves many keeps something of each.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any, Generic, ParamSpec, TypeVar

from harena.scoring.slices import SMALL, size_at_least

_P = ParamSpec("_P")
_T = TypeVar("_T")
_V = TypeVar("_V")
_MOST_SIZE = 1 << 23
_SHARE = 8


class BoundedCache(Generic[_V]):
    """The newest values, by key. Safe for threads."""

    def __init__(self, most: int, *, most_size: int = _MOST_SIZE) -> None:
        """`most`: their number; `most_size`: that of all keys and values, see `size_at_least`. What is larger than an
        eighth of it is not kept."""
        self._most, self._most_size = most, most_size
        self._values: OrderedDict[Hashable, tuple[_V, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> _V | None:
        """The value; None where there is none."""
        with self._lock:
            if (found := self._values.get(key)) is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, value: _V) -> None:
        """Keep a value, and drop the oldest ones that there is no more room for."""
        size = size_at_least(key, value, most=self._most_size // _SHARE)
        with self._lock:
            self._drop(key)
            if size > self._most_size // _SHARE:
                return
            self._values[key] = value, size
            self._size += size
            while len(self._values) > self._most or self._size > self._most_size:
                self._drop(next(iter(self._values)))

    def _drop(self, key: Hashable) -> None:
        self._size -= self._values.pop(key, (None, 0))[1]

    def __len__(self) -> int:
        return len(self._values)


def kept_for_small(most: int, size: int = SMALL) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A function whose answers are kept for the newest `most` arguments, unless these have more than `size`
    characters."""

    def keeping(function: Callable[_P, _T]) -> Callable[_P, _T]:
        known: Callable[..., Any] = lru_cache(maxsize=most)(function)

        @wraps(function)
        def asked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            is_small = sum(len(each) for each in (*args, *kwargs.values()) if isinstance(each, str)) <= size
            answer: _T = (known if is_small else function)(*args, **kwargs)
            return answer

        return asked

    return keeping
