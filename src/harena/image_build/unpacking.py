"""Archives that ADD unpacks: they are written out as plain tar files, which are then read as trees."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from harena.core.decompression import Decompressor, decompressor
from harena.core.errors import ValidationError
from harena.image_build.source_trees import Node, SourceTree, StoppedError
from harena.image_build.work_files import WorkFiles

_CHUNK_BYTES = 1024 * 1024
_USTAR = slice(257, 262)


def unpacked_tar(tree: SourceTree, node: Node, work: WorkFiles) -> Path | None:
    """A plain tar file of an archive, one of `work`; None = the file is no archive. Raises ValidationError, OSError."""
    pieces = tree.content(node)
    first = next(pieces, b"")
    found = decompressor(first)
    kind = None if found is None else found[1]
    if kind is None and first[_USTAR] != b"ustar":
        return None
    descriptor, file = work.new("archive-")
    is_begun = False
    with open(descriptor, "wb") as out:
        try:
            for piece in _plain(first, pieces, kind):
                if not is_begun and piece[_USTAR] != b"ustar":
                    work.remove([file])
                    return None  # compressed, and no archive: it is copied as it is
                is_begun = True
                if tree.stop():
                    raise StoppedError
                work.grow(file, len(piece))
                out.write(piece)
        except (zlib.error, lzma.LZMAError, EOFError) as error:
            raise ValidationError(f"the archive {node.name!r:.200} is damaged: {error}", reason="CONTEXT") from None
        except OSError as error:
            if error.errno is None:  # what bz2 raises for damaged data
                raise ValidationError(f"the archive {node.name!r:.200} is damaged", reason="CONTEXT") from None
            raise
    return file


def _plain(first: bytes, more: Iterator[bytes], kind: Callable[[], Decompressor] | None) -> Iterator[bytes]:
    if kind is None:
        yield first
        yield from more
        return
    one = kind()
    piece = first
    begun: list[bytes] = []
    while True:
        made = one.decompress(piece, _CHUNK_BYTES)
        piece = b""
        if made:
            # the first piece is large enough to tell what it is
            begun.append(made)
            if sum(map(len, begun)) >= _USTAR.stop or one.eof:
                yield b"".join(begun)
                begun = []
        if one.eof:
            break
        if one.needs_input:
            piece = next(more, b"")
            if not piece:
                raise EOFError("it ends too early")
    if begun:
        yield b"".join(begun)
