"""Server-sent events, as far as harena's server writes them: `id`, `event` and one line of JSON as `data`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any


async def read_events(lines: AsyncIterable[bytes]) -> AsyncGenerator[tuple[str, Any], None]:
    """(event, data) of each event; comments, which keep the connection alive, are left out. Raises ValueError."""
    kind, written = "message", b""
    async for line in lines:
        line = line.rstrip(b"\r\n")
        if line.startswith(b"event:"):
            kind = line[6:].strip().decode()
        elif line.startswith(b"data:"):
            written += line[5:].strip()
        elif not line and written:
            yield kind, json.loads(written)
            kind, written = "message", b""
