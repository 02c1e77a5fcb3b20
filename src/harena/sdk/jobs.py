"""What benchmark jobs and training jobs have in common: keys of their requests, waits for their ends, their streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

from harena.core.checked import checked_text, checked_timeout
from harena.core.errors import SandboxTimeoutError
from harena.core.idempotency import IdempotencyKey
from harena.sdk.portal import current_portal
from harena.sdk.streams import BatchSource, StreamReader

T = TypeVar("T")


def key_of(given: str | None, request: Mapping[str, Any]) -> IdempotencyKey | None:
    """The key that a caller gave for this request; None = it gave none. Raises ValidationError."""
    if given is None:
        return None
    asked = json.dumps(request, sort_keys=True, default=repr).encode()
    return IdempotencyKey.of(checked_text(given, "idempotency_key"), asked)


async def in_time(ended: Callable[[], Awaitable[T]], timeout: float | None, late: str) -> T:
    """What `ended` gives. Raises ValidationError, and SandboxTimeoutError that says `late` after `timeout` seconds
    (None = never)."""
    timer = asyncio.timeout(checked_timeout(timeout, "timeout"))
    try:
        async with timer:
            return await ended()
    except TimeoutError:
        if not timer.expired():
            raise
        raise SandboxTimeoutError(late) from None


def read_ahead(opened: Callable[[], Awaitable[AsyncIterator[T]]]) -> StreamReader[T]:
    """Read a stream for `for` and `async for`, and fetch ahead of its consumer."""
    portal = current_portal()
    return StreamReader(portal, BatchSource(portal, opened))
