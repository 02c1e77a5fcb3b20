"""Submits work to the SDK's event loop: one loop in one daemon thread per process, started on first use.

After a fork the child has a portal of its own; whatever was made through the parent's raises a clear error there.
Nothing here, or anywhere in the sdk, installs a signal handler.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # registers its own end-of-process callback, which must come after ours  # noqa: F401
import contextlib
import logging
import os
import selectors
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from harena.core.errors import SandboxNotRunningError
from harena.sdk import server_choice, transport
from harena.sdk.refs import OperationRef

if TYPE_CHECKING:
    from harena.core.ports import Operations

T = TypeVar("T")

CLOSE_TIMEOUT_SECONDS = 20.0

_log = logging.getLogger("harena")
_lock = threading.Lock()
_current: Portal | None = None
_closes_at_exit = False


class Portal:
    """One event loop, its thread, and the node that is reached through it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.inherited = False
        """this process is a fork of the one that made it"""
        self.closed = False
        self._starting = threading.Lock()
        self._selector: selectors.BaseSelector | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._operations: Operations | None = None
        self._opening: asyncio.Task[Operations] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._woken = False

    # -- from any thread --

    def submit(
        self, function: Callable[..., Coroutine[Any, Any, T]], *args: Any, cancellable: bool = True
    ) -> OperationRef[T]:
        """Run `function(*args)` on the loop."""
        ref: OperationRef[T] = OperationRef(self, cancellable=cancellable)
        self.call(self.launch, ref, function, *args)
        return ref

    def settled(self, value: T) -> OperationRef[T]:
        """A reference to something that is done already."""
        ref: OperationRef[T] = OperationRef(self, cancellable=False)
        ref.settle(value)
        return ref

    def call(self, callback: Callable[..., object], *args: Any) -> None:
        """Call `callback(*args)` on the loop, soon. Calls keep their order."""
        loop = self._loop
        if loop is None or self.inherited:
            self.check_not_inherited()
            loop = self._start()
        try:
            if self.closed:
                raise RuntimeError("closed")
            self._calls.append((callback, args))
            if not self._woken:  # waking the loop is dear: calls that follow each other share one
                self._woken = True
                loop.call_soon_threadsafe(self._make_calls)
        except RuntimeError:
            message = (
                "harena was closed (at the end of the process, or by harena.shutdown()): start again from Sandbox.run"
            )
            raise SandboxNotRunningError(message, reason="CLOSED") from None
        except BaseException:  # a signal's handler raised between these lines: the next call wakes the loop
            self._woken = False
            raise

    def call_if_open(self, callback: Callable[..., object], *args: Any) -> None:
        """Like `call`, but do nothing after the portal has ended. Safe in a finalizer."""
        if self._loop is not None and not self.inherited and not self.closed:
            with contextlib.suppress(RuntimeError):  # closed in this very moment
                self._loop.call_soon_threadsafe(callback, *args)

    def check_not_inherited(self) -> None:
        """Raise if this process is a fork of the one that the object belongs to."""
        if self.inherited:
            raise SandboxNotRunningError(
                f"this object belongs to process {self.pid}, of which process {os.getpid()} is a fork: sandboxes are "
                "not shared over a fork; create new ones here (they get a node of their own)",
                reason="AFTER_FORK",
            )

    def check_may_block(self) -> None:
        """Raise in a fork, and on the sdk's own loop, which would wait for itself."""
        self.check_not_inherited()
        thread = self._thread
        if thread is not None and thread.ident == threading.get_ident():
            raise RuntimeError(
                "a blocking call on harena's own event loop would wait for itself for ever: `await` the object instead"
            )

    # -- on the loop --

    def _make_calls(self) -> None:
        self._woken = False  # first: what is appended from now on wakes the loop again
        while self._calls:
            callback, args = self._calls.popleft()
            try:
                callback(*args)
            except Exception as error:  # noqa: BLE001 - as the loop treats its callbacks: report it, and go on
                context = {"message": f"a call on harena's loop failed: {callback!r}", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)

    def launch(self, ref: OperationRef[T], function: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> None:
        """Start `function(*args)` as a task whose outcome goes to `ref`."""
        if ref.completed is not None:
            ref.cancelled_before_it_began()
            return
        task = asyncio.get_running_loop().create_task(_drive(ref, function, args))
        ref._task = task
        self._tasks.add(task)  # the loop itself keeps no strong reference to tasks
        task.add_done_callback(self._tasks.discard)

    async def operations(self) -> Operations:
        """The node, opened on first use. An opening that failed is tried again by the next caller."""
        if self._operations is not None:
            return self._operations
        if self._opening is None:
            self._opening = asyncio.get_running_loop().create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Operations:
        try:
            self._operations = await transport.open_operations()
            return self._operations
        finally:
            self._opening = None

    # -- begin and end --

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                _close_at_exit()
                self._selector = selectors.DefaultSelector()
                loop = asyncio.SelectorEventLoop(self._selector)
                self._thread = threading.Thread(target=self._run, args=(loop,), name="harena", daemon=True)
                self._thread.start()
                self._loop = loop
            return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    def close(self, timeout: float = CLOSE_TIMEOUT_SECONDS) -> None:
        """End the node and the loop, and wait for that. May be called more than once."""
        with self._starting:
            loop, thread, was_closed = self._loop, self._thread, self.closed
            self.closed = True
        if loop is None or thread is None or was_closed:
            return
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(self._begin_end)
        thread.join(timeout)
        if thread.is_alive():
            _log.error("harena's node did not close within %.0f s; its sandboxes end with this process", timeout)

    def _begin_end(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_note_what_the_end_broke)
        self._ending = loop.create_task(self._end())
        self._ending.add_done_callback(lambda _: loop.stop())

    async def _end(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self._operations is not None:
            try:
                await self._operations.close()
            except Exception:  # noqa: BLE001 - the process ends; whoever reads the log learns why it was not clean
                _log.exception("closing harena's node failed")
        for _ in range(3):  # what ended with the node settles by itself; the rest is cancelled
            await asyncio.sleep(0)
        while rest := list(self._tasks):
            for task in rest:
                task.cancel()
            await asyncio.wait(rest)
        await asyncio.get_running_loop().shutdown_asyncgens()

    def become_inherited(self) -> None:
        """In the child of a fork: never use the parent's loop, and let go of its descriptors."""
        self.inherited = True
        if self._selector is not None:
            self._selector.close()  # closes our copy of the descriptor; what the parent waits for is untouched
        close_descriptors = getattr(self._operations, "after_fork_in_child", None)
        if close_descriptors is not None:
            close_descriptors()


def _note_what_the_end_broke(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Work that nobody waits for any more, and that failed because its node was being closed, is no news."""
    _log.debug("while closing: %s", context.get("message"), exc_info=context.get("exception"))


async def _drive(ref: OperationRef[T], function: Callable[..., Coroutine[Any, Any, T]], args: tuple[Any, ...]) -> None:
    try:
        value = await function(*args)
    except asyncio.CancelledError:
        ref.settle_error(SandboxNotRunningError("harena was closed while this was under way", reason="CLOSED"))
    except BaseException as error:  # noqa: BLE001 - it belongs to whoever asks for the result
        ref.settle_error(error)
    else:
        ref.settle(value)
    finally:
        ref._task = None  # breaks a reference cycle


def current_portal() -> Portal:
    """This process's portal."""
    global _current
    portal = _current
    if portal is None or portal.closed:
        with _lock:
            if _current is None or _current.closed:
                _current = Portal()
            portal = _current
    return portal


def shutdown(timeout: float = CLOSE_TIMEOUT_SECONDS) -> None:
    """End every sandbox of this process and everything that holds them. The next use starts afresh."""
    global _current
    with _lock:
        portal, _current = _current, None
    if portal is not None:
        portal.check_may_block()
        portal.close(timeout)
        server_choice.closed()


def _close_at_exit() -> None:
    """Close before Python joins threads: a node may own threads that end only when it is closed."""
    global _closes_at_exit
    if not _closes_at_exit:
        _closes_at_exit = True
        register: Callable[[Callable[[], None]], object] = getattr(threading, "_register_atexit", atexit.register)
        try:
            register(_shutdown_quietly)
        except RuntimeError:  # first used while Python is ending: its last callbacks are still to come
            atexit.register(_shutdown_quietly)


def _shutdown_quietly() -> None:
    if _current is not None and not _current.inherited:
        shutdown()


def _after_fork_in_child() -> None:
    global _current, _lock
    _lock = threading.Lock()
    portal, _current = _current, None
    if portal is not None:
        portal.become_inherited()
        server_choice.closed()


os.register_at_fork(after_in_child=_after_fork_in_child)


def disable_signal_handlers() -> None:
    """Does nothing: harena never installs a signal handler. Accepted from code written for clients that do."""


@contextlib.asynccontextmanager
async def in_thread(made: Callable[[], contextlib.AbstractContextManager[T]]) -> AsyncIterator[T]:
    """Makes, enters and leaves a context that touches the disk in threads, since the loop has others to serve."""
    context = await asyncio.to_thread(made)
    value = await asyncio.to_thread(context.__enter__)
    try:
        yield value
    except BaseException as error:
        if not await asyncio.to_thread(context.__exit__, type(error), error, error.__traceback__):
            raise
    else:
        await asyncio.to_thread(context.__exit__, None, None, None)
