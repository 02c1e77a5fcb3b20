"""The process that parses large bodies, one after the other: started by `harena.server.large_bodies`, at the other end
of whose socket it ends.

A question is a head (QUESTION), the name of what is read, and its text. The answer is pieces of the value, each behind
a head of its own (PIECE), or a mistake.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from harena.core.errors import ValidationError
from harena.server.strict_json import json_in
from harena.server.value_pieces import pieces

QUESTION = struct.Struct("=IQ")
"""bytes of the name, and of the text"""
PIECE = struct.Struct("=BQ")
"""step of `value_pieces`, or MISTAKE; bytes of the content"""
MISTAKE = 0
"""the content is JSON: [what is wrong, reason]"""
MEMORY_BYTES = 2 << 30
"""address space of the process: the largest body, as text of four bytes a character, fits several times"""
_NICENESS = 5
"""the server's event loop, and programs that are run, come first"""
_KILLED_FIRST = "500"
"""a host without memory ends this process before a server"""


def main(descriptor: int) -> None:
    """Answer until nobody can ask any more."""
    gc.disable()  # what is parsed has no cycles
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with suppress(OSError):  # a host may forbid even that
        Path("/proc/self/oom_score_adj").write_text(_KILLED_FIRST)
    with socket.socket(fileno=descriptor) as channel, suppress(BrokenPipeError, ConnectionResetError):
        asked: BinaryIO = channel.makefile("rb")
        answers: BinaryIO = channel.makefile("wb")
        while head := asked.read(QUESTION.size):
            name, text = QUESTION.unpack(head)
            where = asked.read(name).decode()
            try:
                for step, content in pieces(json_in(asked.read(text), where)):
                    answers.write(PIECE.pack(step, len(content)))
                    answers.write(content)
            except ValidationError as mistake:
                _tell(answers, str(mistake), mistake.reason)
            except MemoryError:
                _tell(answers, f"{where} takes more memory than the {MEMORY_BYTES} bytes to read it in", "TOO_LARGE")
            answers.flush()


def _tell(answers: BinaryIO, mistake: str, reason: str | None) -> None:
    told = json.dumps([mistake, reason]).encode()
    answers.write(PIECE.pack(MISTAKE, len(told)) + told)


if __name__ == "__main__":
    main(int(sys.argv[1]))
