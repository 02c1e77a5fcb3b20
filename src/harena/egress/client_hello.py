"""The server name in a TLS client's first message (RFC 8446, 4.1.2), read from bytes that anybody may have sent."""

from __future__ import annotations

MOST_BYTES = 64 * 1024
"""size of the longest first message; those of browsers have less than 4,096"""
MOST_RECORDS = 1024
"""records that carry it; each is looked at again whenever more has come"""
MOST_EXTENSIONS = 256
_MOST_NAMES = 16
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST_NAME = 22, 1, 0, 0
_RECORD_HEAD, _MESSAGE_HEAD, _MOST_RECORD = 5, 4, 16 * 1024


class NoHelloError(Exception):
    """The bytes are no TLS client's first message."""


class UnfinishedHelloError(Exception):
    """They may be, once more of them have come."""


def looks_like_tls(first: bytes) -> bool:
    """A connection that begins so may be one of TLS."""
    return first[:1] == b"\x16" and first[1:2] in (b"", b"\x03")


def server_name(received: bytes) -> str | None:
    """The server name that a first message gives, in lower case; None where it gives none. Raises NoHelloError,
    UnfinishedHelloError."""
    body = _Reader(_message(received))
    body.skip(2 + 32)  # version, random
    body.skip(body.number(1))  # session
    body.skip(body.number(2))  # cipher suites
    body.skip(body.number(1))  # compression
    if body.is_at_end:
        return None
    extensions = body.part(body.number(2))
    names: list[bytes] = []
    count = 0
    while not extensions.is_at_end:
        count += 1
        if count > MOST_EXTENSIONS:
            raise NoHelloError("too many extensions")
        kind = extensions.number(2)
        content = extensions.part(extensions.number(2))
        if kind == _SERVER_NAME:
            names += _names(content)
    if len(names) > 1:
        raise NoHelloError("two server names")
    try:
        return names[0].decode("ascii").lower() if names else None
    except UnicodeDecodeError:
        raise NoHelloError("a server name that is not ASCII") from None


def _names(content: _Reader) -> list[bytes]:
    found = []
    entries = content.part(content.number(2))
    count = 0
    while not entries.is_at_end:
        count += 1
        if count > _MOST_NAMES:
            raise NoHelloError("too many names")
        kind = entries.number(1)
        name = entries.take(entries.number(2))
        if kind == _HOST_NAME:
            found.append(name)
    return found


def _message(received: bytes) -> bytes:
    """The handshake message that the first records carry, without its head."""
    carried = bytearray()
    place = records = 0
    while True:
        if records > MOST_RECORDS:
            raise NoHelloError("too many records")
        records += 1
        if carried and carried[0] != _CLIENT_HELLO:
            raise NoHelloError("another message")
        if len(carried) >= _MESSAGE_HEAD:
            size = int.from_bytes(carried[1:4], "big")
            if size > MOST_BYTES:
                raise NoHelloError("too long")
            if len(carried) >= _MESSAGE_HEAD + size:
                return bytes(carried[_MESSAGE_HEAD : _MESSAGE_HEAD + size])
        if not looks_like_tls(received[place : place + 2]) and len(received) > place:
            raise NoHelloError("another kind of record")
        if len(received) < place + _RECORD_HEAD:
            raise UnfinishedHelloError
        size = int.from_bytes(received[place + 3 : place + 5], "big")
        if not 0 < size <= _MOST_RECORD:
            raise NoHelloError("a record of a size that there is not")
        carried += received[place + _RECORD_HEAD : place + _RECORD_HEAD + size]
        place += _RECORD_HEAD + size
        if place > len(received):
            if len(carried) >= _MESSAGE_HEAD and carried[0] != _CLIENT_HELLO:
                raise NoHelloError("another message")
            raise UnfinishedHelloError


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0

    @property
    def is_at_end(self) -> bool:
        return self._place == len(self._content)

    def take(self, count: int) -> bytes:
        taken = self._content[self._place : self._place + count]
        if len(taken) < count:
            raise NoHelloError("a length that leads out of the message")
        self._place += count
        return taken

    def skip(self, count: int) -> None:
        self.take(count)

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def part(self, count: int) -> _Reader:
        return _Reader(self.take(count))
