"""The process that unpacks one blob of a layer: `python -I -S -c "... unpacker.main()"`, see `unpacking`.

The blob is its standard input, the question its only argument, the answer a line of JSON on its standard output. It
verifies the blob's digest and the digest of what is unpacked while it unpacks. It can write nowhere but in the target
directory (Landlock), as root it has no capability but those of files, and it dies with the node.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import lzma
import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harena.core import landlock
from harena.core.decompression import Decompressor, decompressor
from harena.image_store.layer_writer import LayerWriter, TooLargeError, UnfitFileSystemError
from harena.image_store.tar_entries import BrokenLayerError, entries

_CHUNK_BYTES = 1024 * 1024
_PACKED_BYTES = 64 * 1024
"""size of the pieces in which compressed data is read: what lies behind the end of each of many streams is copied"""
_MOST_CHUNKS = 8
_MOST_SECONDS = 1800
"""processor time of one layer"""
_HEADERS_BYTES = 1536
"""most bytes of a stream that an entry has beside its content, on average"""
_MEMORY_BYTES = 1 << 30
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _LAST_CAPABILITY = 1, 24, 40
_CHOWN, _DAC_OVERRIDE, _FOWNER, _FSETID, _MKNOD = 0, 1, 3, 4, 27
_KEPT_CAPABILITIES = sum(1 << number for number in (_CHOWN, _DAC_OVERRIDE, _FOWNER, _FSETID, _MKNOD))
_CAPABILITIES_VERSION = 0x20080522


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    target: str
    """an empty directory"""
    digest: str
    """sha256 that the blob should have, in hexadecimal digits; "" = it is not known"""
    most_files: int
    most_bytes: int
    keeps_owners: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What was unpacked, or why it was not."""

    diff_id: str = ""
    """sha256 of the layer as a tar archive, in hexadecimal digits"""
    files: int = 0
    bytes: int = 0
    disk_bytes: int = 0
    dropped: dict[str, int] | None = None
    fault: str = ""
    """what is wrong: "corrupt" (the blob is not what its digest says), "broken", "large", "unfit" or "system"; "" =
    nothing"""
    said: str = ""
    """the fault in words"""
    errno: int = 0
    """number of a fault of the system"""


class Unpacked:
    """The layer's tar stream. A thread of its own decompresses and digests, another one digests the blob."""

    def __init__(self, blob: int, most_bytes: int) -> None:
        self._pieces: queue.Queue[bytes | BaseException] = queue.Queue(_MOST_CHUNKS)
        self._buffer = memoryview(b"")
        self._most_bytes = most_bytes
        self._digest = hashlib.sha256()
        self._blob_digest = hashlib.sha256()
        self._is_over = False
        source, self._program = _open_blob(blob)
        self._reading = threading.Thread(target=self._read, args=(source,), daemon=True)
        self._checking = threading.Thread(target=self._check, args=(blob,), daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._reading.start()
        self._checking.start()

    def take(self, size: int) -> bytes:
        """Take the next `size` bytes, or none at the stream's end. Raises BrokenLayerError where the stream ends within
        them."""
        buffer = self._buffer
        if len(buffer) >= size:
            self._buffer = buffer[size:]
            return bytes(buffer[:size])
        found = [bytes(buffer)]
        missing = size - len(buffer)
        while missing:
            piece = self._next()
            if not piece:
                self._buffer = memoryview(b"")
                if len(found) == 1 and not found[0]:
                    return b""
                raise BrokenLayerError("it ends within an entry")
            view = memoryview(piece)
            found.append(bytes(view[:missing]))
            self._buffer = view[missing:]
            missing -= min(missing, len(view))
        return b"".join(found)

    def finish(self) -> tuple[str, str]:
        """(digest of the blob, digest of the stream), when the rest has been read. Raises as `take`."""
        while self._next():
            pass
        self._checking.join()
        if self._program is not None and self._program.wait() != 0:
            raise BrokenLayerError("its compression is damaged")
        return self._blob_digest.hexdigest(), self._digest.hexdigest()

    def blob_digest(self) -> str:
        """Digest of the blob alone."""
        self._checking.join()
        return self._blob_digest.hexdigest()

    def _next(self) -> bytes:
        if self._is_over:
            return b""
        piece = self._pieces.get()
        if isinstance(piece, BaseException):
            self._is_over = True
            raise piece
        self._is_over = not piece
        return piece

    def _read(self, source: Iterator[bytes]) -> None:
        size = 0
        try:
            for piece in source:
                size += len(piece)
                if size > self._most_bytes:
                    raise TooLargeError(f"it unpacks to more than {self._most_bytes} bytes")
                self._digest.update(piece)
                self._pieces.put(piece)
            self._pieces.put(b"")
        except (zlib.error, lzma.LZMAError, EOFError, OSError) as error:
            self._pieces.put(BrokenLayerError(f"its compression is damaged ({error})"))
        except BaseException as error:  # noqa: BLE001 - raised where the stream is read
            self._pieces.put(error)

    def _check(self, blob: int) -> None:
        place = 0
        while piece := os.pread(blob, _CHUNK_BYTES, place):
            self._blob_digest.update(piece)
            place += len(piece)


_ZSTD = b"\x28\xb5\x2f\xfd"


def _open_blob(blob: int) -> tuple[Iterator[bytes], subprocess.Popen[bytes] | None]:
    begin = os.pread(blob, 8, 0)
    if begin.startswith(_ZSTD):
        try:
            program = subprocess.Popen(["zstd", "-dcq"], stdin=blob, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except OSError:
            raise UnfitFileSystemError("it is compressed with zstd, and the program zstd is not installed") from None
        assert program.stdout is not None
        return _plain(program.stdout.fileno()), program
    found = decompressor(begin)
    return (_plain(blob) if found is None else _decompressed(blob, *found)), None


def _plain(descriptor: int) -> Iterator[bytes]:
    while piece := os.read(descriptor, _CHUNK_BYTES):
        yield piece


def _decompressed(blob: int, magic: bytes, kind: Callable[[], Decompressor]) -> Iterator[bytes]:
    """Several compressed streams may follow each other; zeros and other things behind them are none."""
    one = kind()
    piece = os.read(blob, _PACKED_BYTES)
    while True:
        made = one.decompress(piece, _CHUNK_BYTES)
        piece = b""
        if made:
            yield made
        if one.eof:
            rest = one.unused_data
            if len(rest) < len(magic):
                rest += os.read(blob, _PACKED_BYTES)
            if not rest.startswith(magic):
                return
            one, piece = kind(), rest
        elif one.needs_input:
            piece = os.read(blob, _PACKED_BYTES)
            if not piece:
                if not made:
                    raise EOFError("it ends too early")
                continue


def unpack(question: Question, blob: int) -> Answer:
    """Unpack a blob in this process."""
    root = os.open(question.target, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    stream: Unpacked | None = None
    try:
        stream = Unpacked(blob, question.most_bytes + question.most_files * _HEADERS_BYTES)
        _give_up_rights(question.target)
        stream.start()
        writer = LayerWriter(root, question.most_files, question.most_bytes, question.keeps_owners)
        try:
            for entry in entries(stream):
                writer.write(entry, stream)
            found, diff_id = stream.finish()
        except BrokenLayerError:
            found = stream.blob_digest()
            if not question.digest or found == question.digest:
                raise
        if question.digest and found != question.digest:
            return Answer(fault="corrupt", said=f"its sha256 is {found}")
        writer.finish()
        return Answer(diff_id, writer.files, writer.content_bytes, writer.disk_bytes, writer.dropped)
    except BrokenLayerError as error:
        return Answer(fault="broken", said=str(error))
    except TooLargeError as error:
        return Answer(fault="large", said=str(error))
    except UnfitFileSystemError as error:
        return Answer(fault="unfit", said=str(error))
    except OSError as error:
        return Answer(fault="system", said=error.strerror or str(error), errno=error.errno or 0)
    finally:
        os.close(root)


def main() -> None:
    """Answer the question of the command line."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    given: Any = json.loads(sys.argv[1])
    os.umask(0)
    sys.stdout.write(json.dumps(asdict(unpack(Question(**given), 0))))
    sys.stdout.flush()
    os._exit(0)  # threads may wait for room that nobody makes any more


def _give_up_rights(target: str) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        for number in range(_LAST_CAPABILITY + 1):
            if not _KEPT_CAPABILITIES >> number & 1:
                libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
        sets = (ctypes.c_uint32 * 6)(_KEPT_CAPABILITIES, _KEPT_CAPABILITIES, 0, 0, 0, 0)
        if libc.capset(header, sets):
            # who has fewer of them keeps those: what is missing shows in the first file that needs it
            pass
    if landlock.version() >= 2:  # the first version forbids all hard links between folders
        landlock.restrict_this_thread((), (Path(target),))
