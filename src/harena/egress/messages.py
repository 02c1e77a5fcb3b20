"""What a node and its egress process say to each other: JSON objects, each in one or more packets (SOCK_SEQPACKET).

node -> process, each with a number `q` that the answer repeats
    {"do": "begin", "times": {...}, "table": {...} | null, "permitted": [CIDR, ...] | null}
    {"do": "ready"}                                                                when it has been told of all
    {"do": "admit", "id": ..., "workspace": ..., "policy": ..., "ports": [...]}   with the listeners' descriptors
    {"do": "change", "id": ..., "policy": ...}
    {"do": "log", "id": ..., "after": ..., "limit": ...}
    {"do": "forget", "id": ...}                                                    without an answer
process -> node
    {"q": ..., "answer": ...} or {"q": ..., "error": text, "unknown": true | false}

A packet begins with a byte that says whether the message goes on in the next one. How long a message is depends on what
programs have sent (a log repeats it), and a packet that the kernel or the other side does not take would end the
process of all sandboxes.
"""

from __future__ import annotations

import json
from typing import Any

PACKET_BYTES = 64 << 10
MOST_BYTES = 16 << 20
"""size of the longest message; the log and the policy that are the longest have less than a fifth of it"""
MOST_DESCRIPTORS = 32
_GOES_ON, _IS_LAST = b"+", b"."


def packets(message: dict[str, Any]) -> list[bytes]:
    """A message's packets, in their order. Raises ValueError for one that is too long."""
    content = json.dumps(message, separators=(",", ":")).encode()
    if len(content) > MOST_BYTES:
        raise ValueError(f"a message of {len(content)} bytes, and {MOST_BYTES} are possible")
    step = PACKET_BYTES - 1
    parts = [content[place : place + step] for place in range(0, len(content), step)]
    return [*(_GOES_ON + part for part in parts[:-1]), _IS_LAST + parts[-1]]


class Incoming:
    """Puts the packets of one side together."""

    def __init__(self) -> None:
        self._content = bytearray()

    def add(self, packet: bytes) -> dict[str, Any] | None:
        """The message that ends with this packet; None where it goes on. Raises ValueError, RecursionError."""
        self._content += packet[1:]
        if packet[:1] not in (_GOES_ON, _IS_LAST) or len(self._content) > MOST_BYTES:
            raise ValueError("no message")
        if packet[:1] == _GOES_ON:
            return None
        content, self._content = self._content, bytearray()
        message = json.loads(content)
        if not isinstance(message, dict):
            raise ValueError("no message")
        return message
