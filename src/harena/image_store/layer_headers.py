"""Layers that are kept as a folder alone: what their archives have beside the contents of files, and archives that are
made of both again.

Headers are the bytes of an archive as they are, without contents and what pads them, compressed. So whoever asks for
the archive gets the one whose digest the layer has, whatever the folder cannot keep (owners, where the node's user is
not root). This module runs in processes of its own and needs the standard library only.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import resource
import signal
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harena.core import landlock
from harena.image_store import holes
from harena.image_store.layer_writer import LayerWriter, open_in_root
from harena.image_store.sealed_archives import SMALL_BYTES
from harena.image_store.tar_entries import BLOCK, FILE, BrokenLayerError, Entry, entries, padding

_PIECE_BYTES = 1024 * 1024
_MOST_UNPACKED = 256
"""pieces of headers that are compressed at one time: each takes 1 MiB at most, and mostly 512 bytes"""
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PR_SET_PDEATHSIG, _CLONE_NEWUSER = 1, 0x10000000
_MOST_SECONDS = 1800
_MEMORY_BYTES = 1 << 30


class SpooledLayer:
    """Implements `ByteStream` over a `Spool`, whose layer becomes a folder; the headers are kept, and all is digested
    as its archive would be."""

    def __init__(self, spool: int, large: int, headers: int) -> None:
        """Descriptors: of the spool, of the folder of its large files, and of the file that its headers go to."""
        self._spool, self._large, self._headers = spool, large, headers
        self._buffer, self._place, self._digested = b"", 0, 0
        self._offset = 0
        self._moved = 0
        self._packing = zlib.compressobj(1)
        self._unpacked: list[bytes] = []
        self._digest = hashlib.sha256()
        self._is_content = False
        self.headers_bytes = 0

    def lay_out(self, writer: LayerWriter) -> str:
        """Write all entries; gives the digest of the archive. Raises BrokenLayerError, TooLargeError, OSError."""
        for entry in entries(self):
            self._is_content = True
            writer.write(entry, self)
            self._is_content = False
        while self.take(BLOCK):
            pass
        self._digest_taken()
        self._pack()
        self._keep(self._packing.flush())
        writer.finish()
        return self._digest.hexdigest()

    def take(self, size: int) -> bytes:
        """Take the next `size` bytes of the stream, and keep them unless they are a file's content; none at its end.
        Raises BrokenLayerError where it ends within them."""
        while len(self._buffer) - self._place < size:
            more = os.pread(self._spool, max(_PIECE_BYTES, size), self._offset)
            if not more:
                if self._place < len(self._buffer):
                    raise BrokenLayerError("it ends within an entry")
                return b""
            self._offset += len(more)
            self._digest_taken()
            self._buffer = self._buffer[self._place :] + more
            self._place = self._digested = 0
        taken = self._buffer[self._place : self._place + size]
        self._place += size
        if not self._is_content:
            self._unpacked.append(taken)
            if len(self._unpacked) >= _MOST_UNPACKED:
                self._pack()
        return taken

    def move(self, entry: Entry, folder: int, name: bytes) -> bool:
        """Put the content of a large file where it belongs; False = the stream has it. Raises OSError."""
        if entry.size <= SMALL_BYTES:
            return False
        self._digest_taken()
        os.rename(str(self._moved), name, src_dir_fd=self._large, dst_dir_fd=folder)
        self._moved += 1
        file = os.open(name, _OPEN_FILE, dir_fd=folder)
        try:
            while piece := os.read(file, _PIECE_BYTES):
                self._digest.update(piece)
        finally:
            os.close(file)
        return True

    def _digest_taken(self) -> None:
        self._digest.update(memoryview(self._buffer)[self._digested : self._place])
        self._digested = self._place

    def _pack(self) -> None:
        self._keep(self._packing.compress(b"".join(self._unpacked)))
        self._unpacked.clear()

    def _keep(self, packed: bytes) -> None:
        self.headers_bytes += len(packed)
        holes.write(self._headers, packed)


class _Headers:
    """Implements `ByteStream` over headers; what was taken is remembered until it is passed on."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unpacking = zlib.decompressobj()
        self._buffer, self._place = b"", 0
        self._taken: list[bytes] = []

    def take(self, size: int) -> bytes:
        """Take the next `size` bytes of the packed headers; none at their end. Raises BrokenLayerError where they end
        within them."""
        while len(self._buffer) - self._place < size:
            packed = self._unpacking.unconsumed_tail or os.read(self._descriptor, _PIECE_BYTES)
            if not packed:
                if self._place < len(self._buffer) or not self._unpacking.eof:
                    raise BrokenLayerError("its headers end too early")
                return b""
            more = self._unpacking.decompress(packed, _PIECE_BYTES)
            self._buffer, self._place = self._buffer[self._place :] + more, 0
        taken = self._buffer[self._place : self._place + size]
        self._place += size
        self._taken.append(taken)
        return taken

    def passed_on(self) -> bytes:
        """What was taken since this was asked for last."""
        found = b"".join(self._taken)
        self._taken.clear()
        return found


def archive(headers: int, root: int) -> Iterator[bytes]:
    """The archive of a layer, in pieces. Raises BrokenLayerError, OSError."""
    stream = _Headers(headers)
    try:
        for entry in entries(stream):
            yield stream.passed_on()
            if entry.kind == FILE and entry.size:
                yield from _content(root, entry)
                yield bytes(padding(entry.size))
        while stream.take(BLOCK):
            pass
    except zlib.error as error:
        raise BrokenLayerError(f"its headers are damaged ({error})") from None
    yield stream.passed_on()


def _content(root: int, entry: Entry) -> Iterator[bytes]:
    try:
        file = open_in_root(root, b"/".join(entry.parts), _OPEN_FILE)
    except (FileNotFoundError, NotADirectoryError):
        raise BrokenLayerError("a file of its folder is gone") from None
    try:
        left = entry.size
        while left:
            piece = os.read(file, min(left, _PIECE_BYTES))
            if not piece:
                raise BrokenLayerError("a file of its folder has been cut")
            left -= len(piece)
            yield piece
    finally:
        os.close(file)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the process that makes an archive again."""

    headers: str
    root: str
    """the unpacked layer"""
    target: str
    """the archive, which is made"""
    digest: str
    """the digest that it has"""


@dataclass(frozen=True, slots=True)
class Answer:
    """Why it could not be made; nothing where it was."""

    fault: str = ""
    """"broken" (folder and headers make no such archive), "system"; "" = nothing"""
    said: str = ""
    errno: int = 0


def rebuild(question: Question) -> Answer:
    """Make the archive in this process."""
    try:
        headers = os.open(question.headers, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        root = os.open(question.root, _OPEN_FOLDER)
        target = os.open(question.target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        _give_up_rights(root)
        digest, size = hashlib.sha256(), 0
        for piece in archive(headers, root):
            digest.update(piece)
            size += len(piece)
            holes.write(target, piece)
        holes.end(target, size)
    except BrokenLayerError as error:
        return Answer("broken", str(error))
    except OSError as error:
        return Answer("system", error.strerror or str(error), error.errno or 0)
    if digest.hexdigest() != question.digest:
        return Answer("broken", f"its archive would have the sha256 {digest.hexdigest()}")
    return Answer()


def main() -> None:
    """Answer the question of the command line."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    given: Any = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(asdict(rebuild(Question(**given)))))
    sys.stdout.flush()
    os._exit(0)


def _give_up_rights(root: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    if os.geteuid() != 0:
        _become_root_of_own_files()
    if landlock.version():
        landlock.restrict_this_thread([Path(f"/proc/self/fd/{root}")])


def _become_root_of_own_files() -> None:
    """A layer has files that their owner may not read, and who is not root in any namespace cannot read them."""
    user, group = os.geteuid(), os.getegid()
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER):
        return  # the first file that needs it says so
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
