"""The server name of a TLS client's first message, of clients that exist and of ones that lie."""

from __future__ import annotations

import ssl
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.egress.client_hello import NoHelloError, UnfinishedHelloError, looks_like_tls, server_name


def hello(name: str | None) -> bytes:
    """What OpenSSL says first."""
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


HELLO = hello("a.example.org")


def in_records(message: bytes, size: int) -> bytes:
    """The same handshake message in records of another size."""
    pieces = [message[place : place + size] for place in range(0, len(message), size)]
    return b"".join(b"\x16\x03\x01" + struct.pack(">H", len(piece)) + piece for piece in pieces)


def with_extensions(extensions: bytes) -> bytes:
    body = (
        b"\x03\x03"
        + bytes(32)
        + b"\0"
        + b"\0\x02\x13\x01"
        + b"\x01\0"
        + struct.pack(">H", len(extensions))
        + extensions
    )
    return in_records(b"\x01" + struct.pack(">I", len(body))[1:] + body, 16384)


def named(*names: bytes) -> bytes:
    entries = b"".join(b"\0" + struct.pack(">H", len(name)) + name for name in names)
    content = struct.pack(">H", len(entries)) + entries
    return struct.pack(">HH", 0, len(content)) + content


def test_the_name_is_read() -> None:
    assert server_name(HELLO) == "a.example.org"
    assert server_name(hello(None)) is None
    assert server_name(with_extensions(named(b"A.Example"))) == "a.example"
    assert looks_like_tls(HELLO)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_it_may_come_in_many_records(size: int) -> None:
    assert server_name(in_records(HELLO[5:], size)) == "a.example.org"


def test_every_beginning_of_it_is_unfinished() -> None:
    for length in range(len(HELLO)):
        with pytest.raises(UnfinishedHelloError):
            server_name(HELLO[:length])


def test_bytes_behind_it_are_left_alone() -> None:
    assert server_name(HELLO + b"GET / HTTP/1.1\r\n") == "a.example.org"


LIES = {
    "no TLS": b"GET / HTTP/1.1\r\n\r\n",
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "another record": b"\x17\x03\x03\0\x05hello",
    "another message": in_records(b"\x02\0\0\x04abcd", 100),
    "an empty record": b"\x16\x03\x01\0\0",
    "a record too long": b"\x16\x03\x01\xff\xff" + bytes(100),
    "a message too long": in_records(b"\x01\xff\xff\xff" + bytes(100), 1000),
    "two names": with_extensions(named(b"a.org", b"b.org")),
    "two extensions": with_extensions(named(b"a.org") + named(b"b.org")),
    "a length that leads out": with_extensions(struct.pack(">HH", 0, 500)),
    "a name that leads out": with_extensions(struct.pack(">HHHBH", 0, 5, 3, 0, 9)),
    "no ASCII": with_extensions(named("ä.org".encode())),
    "cut off inside": in_records(b"\x01\0\0\x05" + b"\x03\x03abc", 100),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_is_no_first_message_is_refused(lie: str) -> None:
    with pytest.raises(NoHelloError):
        server_name(LIES[lie])


@given(st.binary(max_size=400), st.integers(0, 400), st.integers(0, 600))
def test_no_bytes_break_it(noise: bytes, place: int, kept: int) -> None:
    for content in (noise, HELLO[:place] + noise + HELLO[place:], HELLO[:kept] + noise):
        try:
            name = server_name(content)
        except (NoHelloError, UnfinishedHelloError):
            continue
        assert name is None or name.isascii()


def test_records_extensions_and_names_have_numbers() -> None:
    """They are looked at again whenever more has come, and everybody waits meanwhile."""
    message = b"\1" + (60_000).to_bytes(3, "big") + b"\0" * 10_000
    with pytest.raises(NoHelloError, match="too many records"):
        server_name(b"".join(b"\x16\x03\x01\x00\x01" + message[at : at + 1] for at in range(len(message))))

    def hello(extensions: bytes) -> bytes:
        body = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0" + len(extensions).to_bytes(2, "big") + extensions
        whole = b"\1" + len(body).to_bytes(3, "big") + body
        return b"\x16\3\1" + len(whole).to_bytes(2, "big") + whole

    assert server_name(hello(b"\xff\xff\0\0" * 256)) is None
    with pytest.raises(NoHelloError, match="too many extensions"):
        server_name(hello(b"\xff\xff\0\0" * 257))
    names = b"\7\0\0" * 17
    listed = len(names).to_bytes(2, "big") + names
    with pytest.raises(NoHelloError, match="too many names"):
        server_name(hello(b"\0\0" + len(listed).to_bytes(2, "big") + listed))
