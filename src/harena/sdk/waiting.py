"""Waiting for several things at once."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from harena.core.checked import quote
from harena.core.errors import SandboxValidationError
from harena.sdk.refs import OperationRef
from harena.sdk.sandbox import Sandbox

T = TypeVar("T")
W = TypeVar("W", bound="Sandbox | OperationRef[Any]")

Waitable = Sandbox | OperationRef[Any]


def wait(
    waitables: Iterable[W], num_returns: int | None = None, timeout: float | None = None
) -> tuple[list[W], list[W]]:
    """Wait until `num_returns` (all) of them are done, or `timeout` seconds have passed: (done, pending).

    `done` holds exactly that many (fewer after a time-out) in the order of their completion, however they ended;
    `pending` the others as they were given. A sandbox is done when it runs or has failed to start; one that was not
    started is started.
    """
    items = _several(waitables, "wait")
    wanted = _check_num_returns(num_returns, len(items))
    with _Watch(items) as watch:
        order = watch.first(wanted, timeout)
    chosen = set(order)
    return [items[index] for index in order], [item for index, item in enumerate(items) if index not in chosen]


@overload
def results(waitables: OperationRef[T], /) -> T: ...
@overload
def results(waitables: Sandbox, /) -> Sandbox: ...
@overload
def results(waitables: Sequence[OperationRef[T]], /) -> list[T]: ...
@overload
def results(waitables: Iterable[Any], /) -> list[Any]: ...
def results(waitables: Any, /) -> Any:
    """The result of one reference, or the results of several in their order; raises what the first to fail raised.

    A sandbox's result is the sandbox, running.
    """
    if isinstance(waitables, OperationRef):
        return waitables.result()
    if isinstance(waitables, Sandbox):
        return waitables.wait()
    if isinstance(waitables, str | bytes) or not isinstance(waitables, Iterable):
        raise SandboxValidationError(
            f"only sandboxes and what their verbs return, or a list of them, have a result, not {quote(waitables)}"
        )
    return [results(waitable) for waitable in waitables]


result = results
get = results


class AsCompleted(Generic[W]):
    """The given things as they are done; for `for` and `async for`. Nothing is lost when a loop is left early."""

    def __init__(self, waitables: Iterable[W], timeout: float | None) -> None:
        self._items = _several(waitables, "as_completed")
        self._timeout = timeout

    def __iter__(self) -> Iterator[W]:
        deadline = self._deadline()
        with _Watch(self._items) as watch:
            for number in range(len(self._items)):
                order = watch.first(number + 1, _seconds_left(deadline))
                if len(order) <= number:
                    raise self._too_late(len(order))
                yield self._items[order[number]]

    async def __aiter__(self) -> AsyncIterator[W]:
        deadline = self._deadline()
        loop = asyncio.get_running_loop()
        news = asyncio.Event()
        with _Watch(self._items, lambda: loop.call_soon_threadsafe(news.set)) as watch:
            for number in range(len(self._items)):
                while len(watch.order) <= number:
                    try:
                        async with asyncio.timeout(
                            _seconds_left(deadline)
                        ):  # wait_for may lose a cancellation before 3.12
                            await news.wait()
                    except TimeoutError:
                        raise self._too_late(number) from None
                    news.clear()
                yield self._items[watch.order[number]]

    def _deadline(self) -> float | None:
        return None if self._timeout is None else time.monotonic() + self._timeout

    def _too_late(self, done: int) -> TimeoutError:
        return TimeoutError(f"{len(self._items) - done} of {len(self._items)} were not done after {self._timeout} s")


def as_completed(waitables: Iterable[W], timeout: float | None = None) -> AsCompleted[W]:
    """Iterate over them in the order of their completion.

    Raises the builtin TimeoutError when some are not done `timeout` seconds after the loop began.
    """
    return AsCompleted(waitables, timeout)


class _Watch:
    """Notes the order in which things are done, while it is open."""

    def __init__(self, items: Sequence[Waitable], on_each: Callable[[], object] | None = None) -> None:
        self._references = [_reference(item) for item in items]
        self._on_each = on_each
        self._news = threading.Lock()  # free = something has ended since it was last taken
        self._news.acquire()
        self.order: list[int] = []
        """indexes of what is done, in the order of completion"""

    def __enter__(self) -> _Watch:
        done = [index for index, reference in enumerate(self._references) if reference.done()]
        done.sort(key=lambda index: self._references[index].completed or 0)
        self.order.extend(done)
        known = set(done)
        for index, reference in enumerate(self._references):
            if index not in known:
                reference.watch((self, index), lambda index=index: self._note(index))  # type: ignore[misc]
        if self._on_each is not None and done:
            self._on_each()
        return self

    def __exit__(self, *_: object) -> None:
        for index, reference in enumerate(self._references):
            reference.unwatch((self, index))

    def first(self, count: int, timeout: float | None) -> list[int]:
        """The first `count` to be done, or those that are when time is over."""
        if self._references:
            self._references[0].check_may_block()
        deadline = None if timeout is None else time.monotonic() + timeout
        while len(self.order) < count and self._news.acquire(timeout=_lock_timeout(deadline)):
            pass
        return self.order[:count]

    def _note(self, index: int) -> None:
        self.order.append(index)
        with contextlib.suppress(RuntimeError):  # it is free already
            self._news.release()
        if self._on_each is not None:
            self._on_each()


def _seconds_left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def _lock_timeout(deadline: float | None) -> float:
    left = _seconds_left(deadline)
    return -1 if left is None else min(left, threading.TIMEOUT_MAX)


def _reference(item: Waitable) -> OperationRef[Any]:
    if isinstance(item, OperationRef):
        return item
    if isinstance(item, Sandbox):
        return item.start()
    raise SandboxValidationError(f"only sandboxes and what their verbs return can be waited for, not {item!r}")


def _several(waitables: Iterable[W], verb: str) -> list[W]:
    if isinstance(waitables, OperationRef | Sandbox):
        raise SandboxValidationError(f"{verb} takes a list: harena.{verb}([...]), also for one (got {waitables!r})")
    if isinstance(waitables, str | bytes) or not isinstance(waitables, Iterable):
        raise SandboxValidationError(
            f"{verb} takes a list of sandboxes and of what their verbs return (got {quote(waitables)})"
        )
    return list(waitables)


def _check_num_returns(num_returns: int | None, available: int) -> int:
    if num_returns is None:
        return available
    if isinstance(num_returns, bool) or not isinstance(num_returns, int) or num_returns < 1:
        raise SandboxValidationError(f"num_returns must be a whole number of 1 or more (got {num_returns!r})")
    return min(num_returns, available)
