"""Answers that are being sent: how much memory those that their readers have not taken may hold, for each workspace.

A long answer is handed to the connection a piece at a time, and the next piece follows when the reader has taken most
of the one before. Until the last is taken, the whole answer is in memory, and counts for its workspace, which may have
`request_memory_bytes` of them at one time, beside its requests. An answer for which there is no room is replaced by a
problem where it has not begun, else its connection is closed.
"""

from __future__ import annotations

from starlette.types import Message, Send

from harena.server.request_shares import RequestMemory

PIECE = 128 * 1024
"""bytes that are handed on at a time; shorter answers are not counted"""


class AnswerMemory(RequestMemory):
    """Memory for answers that are being sent."""


class CountedAnswer:
    """Sends one answer. Its head waits for the first piece of its body, until which it can be a problem instead."""

    def __init__(self, send: Send, memory: AnswerMemory, workspace: str, most: int) -> None:
        """`most`: bytes that all answers of the workspace may hold."""
        self._send = send
        self._memory = memory
        self._workspace = workspace
        self._most = most
        self._head: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send one ASGI message on. Raises LimitExceededError where there is no room for what the message holds."""
        if message["type"] == "http.response.start":
            self._head = message
            return
        body: bytes = message.get("body", b"")
        if message["type"] != "http.response.body" or len(body) <= PIECE:
            await self._begin()
            await self._send(message)
            return
        share = self._memory.share(self._workspace)
        try:
            share.grow(len(body), max(self._most, len(body)))  # a single one always has room
            await self._begin()
            rest = memoryview(body)
            while rest:
                await self._send({"type": "http.response.body", "body": bytes(rest[:PIECE]), "more_body": True})
                rest = rest[PIECE:]
            # goes on when the connection has taken most of the last piece
            await self._send({**message, "body": b""})
        finally:
            share.release()

    @property
    def has_begun(self) -> bool:
        """Something was handed to the connection."""
        return self._head is None

    async def _begin(self) -> None:
        if self._head is not None:
            head, self._head = self._head, None
            await self._send(head)
