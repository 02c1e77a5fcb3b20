"""Orders the writes of one file of a sandbox: one request after the other, in the order of their arrival.

An upload whose sender has given up may still be ending here when the sender's next one arrives. A request enters the
queue before anything else is awaited, because its key is looked up in a database and those answers come in any order.
Each API key has queues of its own, so requests with another key, or none, delay nobody.
"""

from __future__ import annotations

import asyncio
import hashlib
import re

from starlette.datastructures import QueryParams
from starlette.types import Scope

_FILES = re.compile(r"/v1/sandboxes/([^/]+)/files")
_File = tuple[bytes, str, str]
"""(digest of who says that it asks, sandbox id, path)"""


class WriteTurn:
    """One request's place."""

    def __init__(self, file: _File, before: WriteTurn | None) -> None:
        self.file = file
        self.before = before
        self.over = asyncio.Event()

    async def come(self) -> None:
        """Returns when all that came before have ended."""
        while self.before is not None:
            await self.before.over.wait()
            self.before = self.before.before


class WriteTurns:
    """The lines of one server."""

    def __init__(self) -> None:
        self._last: dict[_File, WriteTurn] = {}

    def take(self, scope: Scope) -> WriteTurn | None:
        """The place of this request; None = it writes no file."""
        if scope["method"] not in ("PUT", "POST") or (found := _FILES.fullmatch(scope["path"])) is None:
            return None
        sender = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        file = (hashlib.sha256(sender).digest(), found[1], QueryParams(scope["query_string"]).get("path", ""))
        turn = self._last[file] = WriteTurn(file, self._last.get(file))
        return turn

    def end(self, turn: WriteTurn) -> None:
        """The request has ended; those behind wait on for those that came before it."""
        turn.over.set()
        last = self._last.get(turn.file)
        while last is not None and last.over.is_set():
            last = last.before
        if last is None:
            self._last.pop(turn.file, None)
        else:
            self._last[turn.file] = last
