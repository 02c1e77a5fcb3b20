"""Pauses of one sandbox: init stops all its programs, and commands that are asked for meanwhile wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from harena.core.errors import PlatformError
from harena.runtime.host.box_life import BoxLife
from harena.runtime.host.init_channel import InitChannel
from harena.runtime.host.patience import Patience


class BoxPauses:
    """Made with its sandbox, and ended with it. Used from one event loop."""

    def __init__(
        self,
        sandbox_id: str,
        life: BoxLife,
        channel: InitChannel,
        patience: Patience,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.turn = asyncio.Lock()
        """held by who stops the programs, or has the sandbox go on as another one"""
        self.goes_on = asyncio.Event()
        """programs may start; cleared while all of them are stopped"""
        self.goes_on.set()
        self._id = sandbox_id
        self._life = life
        self._channel = channel
        self._patience = patience
        self._loop = loop
        self._asked: dict[int, asyncio.Future[None]] = {}

    @property
    def is_asked(self) -> bool:
        """Somebody waits for init's word."""
        return bool(self._asked)

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Stop all programs for as long as the context is open. Raises PlatformError."""
        async with self.turn:
            self._life.check_running()
            self.goes_on.clear()
            try:
                await self.check_still()
                yield
            finally:
                self.goes_on.set()
                if not self._life.is_dead and not self._life.is_stopping:
                    self._channel.send(("c", self._channel.next_number()))

    async def check_still(self) -> None:
        """Have init stop all programs, or say that none has run since. Raises PlatformError."""
        try:
            await self._ask("p")
        except (TimeoutError, OSError) as error:
            raise PlatformError(
                f"the programs of sandbox {self._id} could not be stopped: {error}", step="pause"
            ) from None

    async def ask_quiet(self) -> int | None:
        """The number of this question, if init says that nothing runs; else None."""
        try:
            return await self._ask("q")
        except (TimeoutError, OSError):
            return None

    async def _ask(self, kind: str) -> int:
        """The number of the question, once init has said that it is so. Raises TimeoutError, OSError."""
        number = self._channel.next_number()
        answer: asyncio.Future[None] = self._loop.create_future()
        self._asked[number] = answer
        self._channel.send((kind, number))
        await self._patience.wait(answer)
        return number

    def take(self, number: int, code: int) -> None:
        """Init has answered, with an errno or 0."""
        answer = self._asked.pop(number, None)
        if answer is not None and not answer.done():
            if code:
                answer.set_exception(OSError(code, "not all of them have come to their stop"))
            else:
                answer.set_result(None)

    def end(self) -> None:
        """The sandbox has ended: nobody is answered any more, and what waits for the end of a pause goes on."""
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(self._life.end_error())
        self._asked.clear()
        self.goes_on.set()
