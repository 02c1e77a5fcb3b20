"""A batch's calls, and structs in them that hold addresses of others."""

from __future__ import annotations

import ctypes
import os
import socket
import struct

from harena.runtime.kernel import batch
from harena.runtime.kernel.numbers import NUMBERS


def received(connection: socket.socket) -> tuple[bytes, list[int]]:
    content, descriptors, _, _ = socket.recv_fds(connection, 100, 10)
    return content, descriptors


def test_a_call_passes_descriptors() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read_end, write_end = os.pipe()
    calls = batch.Batch()
    calls.add("pass", NUMBERS["sendmsg"], theirs.fileno(), batch.message(b"L", [read_end, write_end]), 0)
    calls.seal()
    calls.run()
    content, descriptors = received(ours)
    assert content == b"L"
    os.write(descriptors[1], b"through")
    assert os.read(descriptors[0], 10) == b"through"
    for each in (read_end, write_end, *descriptors):
        os.close(each)
    ours.close()
    theirs.close()


def test_what_is_laid_out_for_another_place_works_there_once_its_addresses_are_moved() -> None:
    """As a forker does with an order that it has received, wherever that lies."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read_end, write_end = os.pipe()
    calls = batch.Batch()
    calls.add("pass", NUMBERS["sendmsg"], theirs.fileno(), batch.message(b"LL", [read_end]), 0)
    rows, texts, addresses = calls.laid_out(24, 16)
    memory = ctypes.create_string_buffer(bytes(24) + rows + bytes(16) + texts)
    start = ctypes.addressof(memory)
    for place in addresses:
        struct.pack_into("<Q", memory, place, struct.unpack_from("<Q", memory, place)[0] + start)
    number, *arguments = struct.unpack_from("<7q", memory, 24)
    libc = ctypes.CDLL(None)
    assert libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) == 2
    content, descriptors = received(ours)
    assert content == b"LL"
    assert len(addresses) == len(set(addresses)) == 4
    for each in (read_end, write_end, *descriptors):
        os.close(each)
    ours.close()
    theirs.close()
