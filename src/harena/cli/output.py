"""Standard streams of the command: handles closed, full and broken ones, and escapes control characters."""

from __future__ import annotations

import os
import sys
from typing import TextIO

GONE_EXIT = 1
"""the reader of our output has gone, as in `harena ... | head`"""


class StreamError(Exception):
    """What was to be written could not be. The message is for people."""


def missing_stream() -> str | None:
    """What is wrong with our streams before anything is done, and what to do; None where nothing is.

    A stream that was closed by the shell (`>&-`) leaves its descriptor free for the next file that is opened, which
    would then be written to by mistake.
    """
    for number, name in ((1, "output"), (2, "error")):
        if getattr(sys, "stdout" if number == 1 else "stderr") is None:
            return f"standard {name} is closed: to discard what is written there, give {number}>/dev/null instead"
    return None


def to_nowhere(out: TextIO) -> None:
    """What is still buffered cannot go anywhere; Python would complain about it at its exit."""
    try:
        number = out.fileno()
    except (OSError, ValueError):  # not a file at all
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def flushed(code: int, error_code: int) -> int:
    """`code`, or another one where standard output did not take everything."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        to_nowhere(sys.stdout)
        return code or GONE_EXIT
    except OSError as error:
        to_nowhere(sys.stdout)
        if code != error_code:  # else it was said already
            sys.stderr.write(f"harena: the output could not be written: {error.strerror or error}\n")
        return error_code
    return code
