"""Thread pools for each kind of work and each owner, in place of the event loop's one executor.

An owner is a workspace or a sandbox. Work of one owner waits for other work of that owner only, so none starves
another one, as it could in a shared executor. A pool has a bounded number of threads and a bounded queue, is made
when it is first needed, and ends when it was idle for IDLE_SECONDS.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, ParamSpec, TypeVar

from harena.core.errors import LimitExceededError

P = ParamSpec("P")
T = TypeVar("T")

IDLE_SECONDS = 2.0
"""for which a pool keeps its threads after its last work"""
RETRY_SECONDS = 1.0
"""after which there may be room in a queue that was full"""

work_for: ContextVar[str] = ContextVar("harena_work_for", default="")
"""the workspace for which the present task works; what it starts works for the same one. "" = the node itself"""


def node_task(work: Coroutine[Any, Any, T], name: str, *, workspace: str = "") -> asyncio.Task[T]:
    """A task of the node itself, whoever's request has begun it. It works for all, or for a workspace, whose threads it
    has then."""
    context = contextvars.copy_context()
    context.run(work_for.set, workspace)
    return asyncio.create_task(work, name=name, context=context)


class ThreadKind:
    """One kind of work, with the pools of its owners. Used from any event loop."""

    def __init__(self, name: str, *, most_threads: int, most_waiting: int = 10_000) -> None:
        """`most_threads` and `most_waiting` (work that waits for a thread) are each owner's."""
        self.name = name
        self._most_threads = most_threads
        self._most_pieces = most_threads + most_waiting
        self._pools: dict[str, _Pool] = {}
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    async def run(self, function: Callable[P, T], /, *given: P.args, **named: P.kwargs) -> T:
        """What the function returns or raises, in a thread of the present task's workspace. Raises
        LimitExceededError."""
        return await self.run_for(work_for.get(), partial(function, *given, **named))

    async def run_for(self, owner: str, function: Callable[[], T]) -> T:
        """What the function returns or raises, in a thread of the named owner. The function runs on where its caller is
        cancelled. Raises LimitExceededError."""
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        with self._lock:
            pool = self._pools.get(owner)
            if pool is None:
                pool = self._pools[owner] = _Pool(
                    ThreadPoolExecutor(self._most_threads, thread_name_prefix=f"harena-{self.name}")
                )
            if pool.pieces >= self._most_pieces:
                raise LimitExceededError(
                    f"too much of one kind ({self.name}) was asked for at one time: ask again in a moment",
                    reason="BUSY",
                    retry_delay=timedelta(seconds=RETRY_SECONDS),
                )
            pool.pieces += 1
            pool.uses += 1
            try:
                work = pool.executor.submit(context.run, function)
            except BaseException:  # whatever stopped it, it does not run and is not counted
                pool.pieces -= 1
                raise
        work.add_done_callback(lambda _: self._note_end(pool))
        try:
            return await asyncio.wrap_future(work)
        finally:
            loop.call_later(IDLE_SECONDS, self._end_idle, owner, pool, pool.uses)

    @property
    def pools(self) -> int:
        """Owners who have threads now."""
        return len(self._pools)

    def _note_end(self, pool: _Pool) -> None:
        with self._lock:
            pool.pieces -= 1

    def _end_idle(self, owner: str, pool: _Pool, uses: int) -> None:
        with self._lock:
            if pool.uses != uses or self._pools.get(owner) is not pool:
                return
            if pool.pieces:  # of a caller that was cancelled: nobody else comes back when that work has ended
                asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_idle, owner, pool, uses)
                return
            del self._pools[owner]
        pool.executor.shutdown(wait=False)

    def _forget(self) -> None:
        # a forked child has none of its parent's threads
        self._lock = threading.Lock()
        self._pools = {}


@dataclass(slots=True, eq=False)
class _Pool:
    """One owner's threads."""

    executor: ThreadPoolExecutor
    pieces: int = 0
    """number of pieces that run or wait"""
    uses: int = 0


BODIES = ThreadKind("bodies", most_threads=2, most_waiting=256)
"""bodies of requests: read, counted and checked"""
CONTENT = ThreadKind("content", most_threads=2)
"""contents of one sandbox's files, which a program inside can hold up; the owner is the sandbox"""
SCENARIOS = ThreadKind("scenarios", most_threads=2)
"""scenarios, candidates and contracts: read, checked, packed"""
OBJECTS = ThreadKind("objects", most_threads=4)
"""trees of published objects, and what training jobs refer to"""
TRAINING = ThreadKind("training", most_threads=4)
"""requests, files and folders of training jobs"""
VERDICTS = ThreadKind("verdicts", most_threads=4)
"""long texts that are compared"""
BLUEPRINTS = ThreadKind("blueprints", most_threads=1)
"""records of blueprints: one thread, so that nothing of a workspace's changes between a look at its room and a write"""
IMAGES = ThreadKind("images", most_threads=4)
"""manifests, records and folders of images; layers are unpacked by processes"""
PACKAGES = ThreadKind("packages", most_threads=2)
"""wheels that blueprints install"""
WORLD_GAMES = ThreadKind("worlds", most_threads=2)
"""worlds that are made, searched and played, which takes the processor"""
UPLOADS = ThreadKind("uploads", most_threads=4)
"""what arrives line by line, and given files"""
NAMES = ThreadKind("names", most_threads=8)
"""names of hosts that a workspace has given"""
NODE = ThreadKind("node", most_threads=4)
"""what a node does for itself: starts, stores"""
