"""Orders the writes of one file of a sandbox: one request after the other, in the order of their arrival.

An upload whose sender has given up may still be ending here when the sender's next one arrives. A request enters the
queue before anything else is awaited, because its key is looked up in a database and those answers come in any order.
Each API key has queues of its own, so requests with another key, or none, delay nobody.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from urllib.parse import unquote_plus

from starlette.types import Scope

_FILES = re.compile(r"/v1/sandboxes/([^/]+)/files")
_PATH = b"path="
_MOST_PATH_BYTES = 3 * 4096
"""length of a path as it is sent of which the rest is not looked at: no file has a longer one"""
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
        file = (hashlib.sha256(sender).digest(), found[1], _path_in(scope["query_string"]))
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


def _path_in(query: bytes) -> str:
    """The path that a route would read there, found without looking at what else there is: no key is known yet."""
    begin = (b"&" + query).rfind(b"&" + _PATH)
    if begin < 0:
        return ""
    path = query[begin + len(_PATH) :][:_MOST_PATH_BYTES].partition(b"&")[0]
    return unquote_plus(path.decode("latin-1"))
