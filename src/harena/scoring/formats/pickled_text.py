"""Text out of base64(zlib(pickle(text))), in which LiveCodeBench ships its private tests. Nothing is unpickled.

A pickle is a program; the pickle of a text is one of five opcodes that only push it. They are read one by one, and any
other opcode is refused.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from dataclasses import dataclass

from harena.core.models import MIB

MAX_BYTES = 256 * MIB
"""size limit of unpacked text: a few private tests of the data set unpack to more than 100 MB"""
LEAST_BYTES, BYTES_FOR_EACH = 512 * MIB, 16
"""what all packed texts that are read together may become: so much, and so many bytes for each packed one. Those of the
data set become about twice what they are packed."""
LEAST_SIGNS, SIGNS_FOR_EACH = 5_000_000, 4
"""likewise of the commas and brackets in them, each of which may be a value"""

_MOST_OPCODES = 100
"""most opcodes of one pickle: a text needs five, and each of them becomes an object"""
_FRAMING = frozenset({"PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT"})
_TEXT = frozenset({"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE"})


@dataclass(slots=True)
class Unpacking:
    """What packed texts that are read together have become, against what they were."""

    packed: int = 0
    unpacked: int = 0
    signs: int = 0

    def text_of(self, packed: str) -> str:
        """The text. Raises ValueError that says what is wrong, also where all of them become too much."""
        self.packed += len(packed)
        most = LEAST_BYTES + BYTES_FOR_EACH * self.packed
        if self.unpacked >= most:
            raise ValueError(_too_much(most, "bytes"))
        left = most - self.unpacked
        text = text_of(packed, max_bytes=min(MAX_BYTES, left))
        self.unpacked += len(text)
        self.signs += sum(map(text.count, ",[{"))
        most = LEAST_SIGNS + SIGNS_FOR_EACH * self.packed
        if self.signs > most:
            raise ValueError(_too_much(most, "commas and brackets"))
        return text


def _too_much(most: int, what: str) -> str:
    return f"unpacks, with the packed texts before it, to more than {most} {what}: give fewer rows, or tests as JSON"


def text_of(packed: str, *, max_bytes: int = MAX_BYTES) -> str:
    """The text. Raises ValueError that says what is wrong."""
    try:
        squeezed = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is neither JSON nor base64") from None
    unpacker = zlib.decompressobj()
    try:
        pickled = unpacker.decompress(squeezed, max_bytes)
    except zlib.error as error:
        raise ValueError(f"is base64 of something that zlib does not unpack: {error}") from None
    if unpacker.unconsumed_tail:
        raise ValueError(f"unpacks to more than {max_bytes} bytes")
    if not unpacker.eof:
        raise ValueError("is cut short")
    return _pushed_text(pickled)


def _pushed_text(pickled: bytes) -> str:
    import pickletools  # by the few data sets that hold such text

    texts: list[str] = []
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(pickled)):
            if number == _MOST_OPCODES:
                raise ValueError(f"is a pickle of more than {_MOST_OPCODES} opcodes, and one text needs five")
            if opcode.name in _TEXT and not texts and isinstance(argument, str):
                texts.append(argument)
            elif opcode.name not in _FRAMING and opcode.name != "STOP":
                raise ValueError(f"is a pickle of more than one text (opcode {opcode.name}), which is never unpickled")
    except (IndexError, UnicodeDecodeError):
        raise ValueError("is no pickle of a text") from None
    if not texts:
        raise ValueError("is no pickle of a text")
    return texts[0]
