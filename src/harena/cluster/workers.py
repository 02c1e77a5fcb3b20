"""Workers on a cluster's nodes: spread over them, told the same things, and replaced when they are lost.

A worker is an actor of a class with async methods, of which two are needed: `ready()`, and `node()`, the name of its
node. What a worker's own code refuses is a HarenaError, which travels as a value (`Refused`), so that its class,
message and reason arrive unchanged. A worker that is lost (its process or node has died, or cannot be reached) is never
asked again: Ray is told to end it, and another one takes its place wherever there is room. Its callers get
`WorkerLostError` and ask another worker, so that each answer counts once, whatever a dying worker still says.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import ActorDiedError, ActorUnavailableError, GetTimeoutError, ObjectLostError, WorkerCrashedError

from harena.cluster.address import SLOTS
from harena.core.errors import HarenaError, PlatformError

AT_ONCE = 10_000
"""most calls that one worker has under way"""
FIRST_PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.2, 10.0
"""first and longest pause before a worker that could not start is tried again"""
_LOST = (ActorDiedError, ActorUnavailableError, WorkerCrashedError, ObjectLostError, GetTimeoutError)
_log = logging.getLogger("harena.cluster")


@dataclass(frozen=True, slots=True)
class Refused:
    """What a worker answers in place of a result: its own code raised this."""

    error: HarenaError


class WorkerLostError(PlatformError):
    """A worker was lost while it was asked. Ask another one."""


@dataclass(eq=False, slots=True)
class Worker:
    """One worker that can be asked."""

    actor: Any
    node: str
    asked: int = 0
    """number of answers that it still owes"""


@dataclass(eq=False, slots=True)
class Workers:
    """So many workers of one class. Used from one event loop."""

    kind: type
    arguments: Callable[[], tuple[Any, ...]]
    """called for each worker: the arguments that its class is made with"""
    count: int
    on_change: Callable[[str], object] = lambda said: None
    """told in a sentence when a worker is lost and when another one has joined"""
    gpus: float = 0.0
    """GPUs of each"""
    lost: int = 0
    """workers that were lost so far"""
    live: list[Worker] = field(default_factory=list)
    """in the order in which they joined"""
    _standing: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    _joining: set[asyncio.Task[None]] = field(default_factory=set)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _fault: HarenaError | None = None
    _turn: int = 0

    def begin(self) -> None:
        """Begin to make all of them; each can be asked as soon as it has joined."""
        for _ in range(self.count):
            self._join()

    async def start(self, least: int | None = None) -> None:
        """Make all of them, and return when so many can be asked; None = all. Raises HarenaError where one cannot be
        made at all."""
        self.begin()
        await self.whole(least)

    async def whole(self, least: int | None = None) -> None:
        """Return when so many can be asked; None = all, the lost ones replaced. Raises as `start`."""
        while len(self.live) < (self.count if least is None else least):
            await self._change()

    async def least_busy(self) -> Worker:
        """The worker that was asked for least; waits while there is none. Raises what workers could not be made for."""
        while not self.live:
            await self._change()
        self._turn += 1
        order = {id(worker): (place - self._turn) % len(self.live) for place, worker in enumerate(self.live)}
        return min(self.live, key=lambda worker: (worker.asked, order[id(worker)]))

    async def ask(self, worker: Worker, method: str, *arguments: Any) -> Any:
        """One answer of this worker. Raises what it refuses with, and WorkerLostError."""
        worker.asked += 1
        try:
            answer = await getattr(worker.actor, method).remote(*arguments)
        except _LOST as error:
            raise self._note_lost(worker, error) from error
        finally:
            worker.asked -= 1
        return _accepted(answer)

    async def ask_any(self, method: str, *arguments: Any) -> Any:
        """One answer of any worker, of another one where the first is lost. Raises what it refuses with."""
        while True:
            with suppress(WorkerLostError):
                return await self.ask(await self.least_busy(), method, *arguments)

    async def answers(self, worker: Worker, method: str, *arguments: Any, count: int) -> AsyncIterator[Any]:
        """The answers of a method that gives `count` or fewer of them one by one. Raises as `ask`."""
        worker.asked += count
        try:
            async for reference in getattr(worker.actor, method).remote(*arguments):
                answer = await reference
                worker.asked -= 1
                count -= 1
                yield _accepted(answer)
        except _LOST as error:
            raise self._note_lost(worker, error) from error
        finally:
            worker.asked -= count

    async def tell_all(self, method: str, *arguments: Any) -> None:
        """Tell all workers, and each that joins later, before it is asked for anything. Of several calls of one method
        the last counts. Returns when all have answered. Raises what they refuse with."""
        self._standing[method] = arguments

        async def told(worker: Worker) -> None:
            with suppress(WorkerLostError):  # the worker that takes its place is told when it joins
                await self.ask(worker, method, *arguments)

        await asyncio.gather(*map(told, self.live))
        while not self.live:
            await self._change()

    async def close(self) -> None:
        """End all of them."""
        for task in self._joining:
            task.cancel()
        await asyncio.gather(*self._joining, return_exceptions=True)
        for worker in self.live:
            _end(worker.actor)
        self.live.clear()

    def _note_lost(self, worker: Worker, error: Exception) -> WorkerLostError:
        said = f"a worker on node {worker.node} was lost ({type(error).__name__})"
        if worker in self.live:
            self.live.remove(worker)
            self.lost += 1
            _end(worker.actor)  # it may be alive behind a broken line; its slot is needed
            self._join()
            self.on_change(f"{said}; {len(self.live)} of {self.count} are left, and another one is being started")
        return WorkerLostError(said, step="ray")

    def _join(self) -> None:
        task = asyncio.ensure_future(self._joined())
        self._joining.add(task)
        task.add_done_callback(self._end_of_joining)

    async def _joined(self) -> None:
        """Make one worker, tell it what all were told, and put it among the live ones."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            actor = _made(self.kind, self.arguments(), gpus=self.gpus)
            try:
                _accepted(await actor.ready.remote())
                node = await actor.node.remote()
                told: dict[str, tuple[Any, ...]] = {}
                while (missing := self._not_told(told)) is not None:
                    told[missing] = self._standing[missing]
                    _accepted(await getattr(actor, missing).remote(*told[missing]))
                break
            except _LOST as error:
                _log.info("a worker could not start: %s", error)
                _end(actor)
                await asyncio.sleep(pause)
                pause = min(2 * pause, MOST_PAUSE_SECONDS)
            except BaseException:  # raised again: nobody else knows of the actor
                _end(actor)
                raise
        self.live.append(Worker(actor, node))
        if self.lost:
            self.on_change(f"a worker on node {node} has joined; there are {len(self.live)} of {self.count}")

    def _not_told(self, told: dict[str, tuple[Any, ...]]) -> str | None:
        """A method whose last standing call this worker has not had: while it was told one, another may have come."""
        return next((name for name, given in self._standing.items() if told.get(name) is not given), None)

    def _end_of_joining(self, task: asyncio.Task[None]) -> None:
        self._joining.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fault = error if isinstance(error, HarenaError) else PlatformError(f"a worker: {error}", step="ray")
        self._changed.set()

    async def _change(self) -> None:
        if self._fault is not None:
            raise self._fault
        self._changed.clear()
        await self._changed.wait()
        if self._fault is not None:
            raise self._fault


def node_name() -> str:
    """In a worker: the address of its machine, and the beginning of its Ray node's id."""
    address: Any = ray.util.get_node_ip_address  # says no types
    return f"{address()} ({ray.get_runtime_context().get_node_id()[:8]})"


def split_evenly(many: Sequence[Any], parts: int) -> list[list[Any]]:
    """The sequence in so many pieces that follow each other, as equal as they can be; no piece is empty."""
    sizes = [len(many) // parts + (place < len(many) % parts) for place in range(parts)]
    ends = [sum(sizes[: place + 1]) for place in range(parts)]
    return [list(many[end - size : end]) for end, size in zip(ends, sizes, strict=True) if size]


def _made(kind: type, arguments: tuple[Any, ...], *, gpus: float) -> Any:
    remote: Any = ray.remote(kind)
    actor = remote.options(
        num_cpus=0,
        num_gpus=gpus,
        resources={SLOTS: 1},
        scheduling_strategy="SPREAD",
        max_restarts=0,  # a restarted one would know nothing of what it was told
        max_concurrency=AT_ONCE,
    )
    return actor.remote(*arguments)


def _accepted(answer: Any) -> Any:
    if isinstance(answer, Refused):
        raise answer.error
    return answer


def _end(actor: Any) -> None:
    with suppress(Exception):  # of whatever kind: an actor that cannot be told to end has ended, or Ray has
        ray.kill(actor, no_restart=True)
