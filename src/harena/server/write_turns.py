"""Who writes one file of a sandbox, one request after the other, in the order in which they came.

An upload whose sender has given up may still be ending here when that sender's next one comes. A place in the line is
taken before anything of a request is waited for: who asks is looked up in a database, and the answers to that come in
any order.
"""

from __future__ import annotations

import asyncio
import re

from starlette.datastructures import QueryParams
from starlette.types import Scope

_FILES = re.compile(r"/v1/sandboxes/([^/]+)/files")
_Key = tuple[str, str]


class WriteTurn:
    """One request's place."""

    def __init__(self, before: WriteTurn | None) -> None:
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
        self._last: dict[_Key, WriteTurn] = {}

    def take(self, scope: Scope) -> WriteTurn | None:
        """The place of this request; None = it writes no file."""
        key = _written_file(scope)
        if key is None:
            return None
        turn = self._last[key] = WriteTurn(self._last.get(key))
        return turn

    def end(self, scope: Scope, turn: WriteTurn) -> None:
        """The request has ended; those behind wait on for those that came before it."""
        turn.over.set()
        key = _written_file(scope)
        assert key is not None
        last = self._last.get(key)
        while last is not None and last.over.is_set():
            last = last.before
        if last is None:
            self._last.pop(key, None)
        else:
            self._last[key] = last


def _written_file(scope: Scope) -> _Key | None:
    found = _FILES.fullmatch(scope["path"])
    if found is None or scope["method"] not in ("PUT", "POST"):
        return None
    return found[1], QueryParams(scope["query_string"]).get("path", "")
