"""Contents of files and standard input that a request holds as base64: large ones are decoded in a workspace's threads.

Decoding holds the interpreter's lock until it is done, so a long text is decoded piece by piece: the event loop runs
between two pieces.
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping

from harena.core.errors import ValidationError
from harena.core.models import MIB
from harena.core.records.record import bytes_of
from harena.core.threads import BODIES
from harena.server.bodies import AT_ONCE_BYTES

PIECE = MIB
"""characters that are decoded at a time; a multiple of 4"""


async def decoded(text: str, name: str) -> bytes:
    """The bytes that base64 text stands for; `name` begins what is told of it. Raises ValidationError, and
    LimitExceededError where too much is to be done in threads."""
    return (await _decoded({name: text}))[name]


async def decoded_files(files: Mapping[str, str]) -> dict[str, bytes]:
    """path -> content, from path -> base64 text. Raises as `decoded`."""
    made = await _decoded({f"files: {path}": text for path, text in files.items()})
    return dict(zip(files, made.values(), strict=True))


async def _decoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    if sum(map(len, texts.values())) > AT_ONCE_BYTES:
        return await BODIES.run(_all_decoded, texts)
    return _all_decoded(texts)


def _all_decoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    made = {}
    for name, text in texts.items():
        try:
            made[name] = _in_pieces(text)
        except (binascii.Error, ValueError) as error:
            raise ValidationError(f"{name}: not base64 ({error})") from None
    return made


def _in_pieces(text: str) -> bytes:
    pieces = [text[place : place + PIECE] for place in range(0, len(text), PIECE)]
    if any(piece.endswith("=") for piece in pieces[:-1]):
        raise ValueError("Excess data after padding")
    return b"".join(map(bytes_of, pieces))
