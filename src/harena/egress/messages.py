"""What a node and its egress process say to each other: one JSON object in each message (SOCK_SEQPACKET).

node -> process, each with a number `q` that the answer repeats
    {"do": "begin", "times": {...}, "table": {...} | null, "permitted": [CIDR, ...] | null}
    {"do": "admit", "id": ..., "workspace": ..., "policy": ..., "ports": [...]}   with the listeners' descriptors
    {"do": "change", "id": ..., "policy": ...}
    {"do": "log", "id": ..., "after": ..., "limit": ...}
    {"do": "forget", "id": ...}                                                    without an answer
process -> node
    {"q": ..., "answer": ...} or {"q": ..., "error": text, "unknown": true | false}
"""

from __future__ import annotations

import json
from typing import Any

MOST_BYTES = 160 << 10
"""size of the longest message; a policy of 200 entries has less, and so has a page of a log"""
MOST_DESCRIPTORS = 32


def encoded(message: dict[str, Any]) -> bytes:
    """A message's bytes."""
    return json.dumps(message, separators=(",", ":")).encode()


def decoded(content: bytes) -> dict[str, Any]:
    """The message that these bytes are. Raises ValueError."""
    message = json.loads(content)
    if not isinstance(message, dict):
        raise ValueError("no message")
    return message
