"""Asks a server's application itself: its middleware, limits, routes, node and store, without a connection between."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from api_world import Answer
from starlette.types import ASGIApp, Message

MOST_BYTES = 1 << 20
"""of an answer that are read; who has read them goes away"""
GONE_SECONDS = 0.2
"""in which the application finds that its caller has gone, where it looks"""


@dataclass(eq=False)
class _Exchange:
    """One request: a body in pieces, then a caller that waits, and goes away when it has seen enough."""

    pieces: list[bytes]
    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    content: bytearray = field(default_factory=bytearray)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    told: asyncio.Event = field(default_factory=asyncio.Event)
    """something of the answer's content has come"""

    async def receive(self) -> Message:
        """A piece of the body, or the caller's leaving."""
        if self.pieces:
            return {"type": "http.request", "body": self.pieces.pop(0), "more_body": bool(self.pieces)}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Take a part of the answer."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
            return
        self.content += message.get("body", b"")[: MOST_BYTES - len(self.content)]
        self.told.set()
        if len(self.content) >= MOST_BYTES:
            self.gone.set()


class ApplicationCaller:
    """Whoever has a key, as `api_world.Caller`."""

    def __init__(self, app: ASGIApp, key: str, patience_seconds: float = 0.05) -> None:
        """`patience_seconds`: after which the caller goes away from an answer that has begun and does not go on, and
        from one that does not begin."""
        self._app = app
        self._key = key
        self._patience = patience_seconds
        self._left: set[asyncio.Future[None]] = set()

    async def ask(
        self, method: str, path: str, content: Any = None, *, data: bytes | None = None, **headers: str
    ) -> Answer:
        """One request. Raises ValueError where the address cannot be sent, and what the application raises."""
        body = data if data is not None else b"" if content is None else json.dumps(content).encode()
        sent = {"authorization": f"Bearer {self._key}", "host": "server", "content-length": str(len(body))}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent.setdefault("content-type", "application/json" if data is None else "application/octet-stream")
        exchange = _Exchange([body[: len(body) // 2], body[len(body) // 2 :]] if len(body) > 1 else [body])
        asking = asyncio.ensure_future(self._app(_scope(method, path, sent), exchange.receive, exchange.send))
        await self._answered(asking, exchange)
        identifier = exchange.headers.get(b"x-request-id")
        text = exchange.content.decode(errors="replace")
        return Answer(exchange.status, text, None if identifier is None else identifier.decode())

    async def _answered(self, asking: asyncio.Future[None], exchange: _Exchange) -> None:
        """Until the application has done with the request, or its caller has gone. A server goes on with one that waits
        for something and asks nobody whether its caller is still there: so does this, see `settled`."""
        while not asking.done() and not exchange.gone.is_set():
            exchange.told.clear()
            told = asyncio.ensure_future(exchange.told.wait())
            await asyncio.wait({asking, told}, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
            told.cancel()
            await asyncio.wait({told})
            if not exchange.told.is_set() and _is_endless(exchange):
                break
        exchange.gone.set()
        await asyncio.wait({asking}, timeout=GONE_SECONDS)
        if asking.done():
            asking.result()
        else:
            self._left.add(asking)

    async def settled(self, seconds: float) -> list[str]:
        """What requests whose callers went away raise, and which of them do not end in so many seconds."""
        left, self._left = self._left, set()
        if not left:
            return []
        ended, others = await asyncio.wait(left, timeout=seconds)
        faults = [f"{error!r}" for task in ended if (error := task.exception()) is not None]
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others)
        return [*faults, *map(repr, others)]


def _is_endless(exchange: _Exchange) -> bool:
    """An answer of events, or of a command's output; one that has not begun may wait for something."""
    return exchange.status in (0, 200)


def _scope(method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
    where, _, query = path.partition("?")
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(where), "raw_path": where.encode("ascii", "replace"), "query_string": query.encode(),
        "root_path": "", "client": ("127.0.0.1", 1), "server": ("server", 80), "state": {},
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }  # fmt: skip
