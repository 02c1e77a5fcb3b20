"""`harena`: the command line. Every command is a thin call into the public sdk, which is loaded when a command runs.

Exit codes: 0 it went well; 2 what was asked for could not be done, with one message that says what happened and what to
do; 130 interrupted; any other as the command's help says.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from harena.cli.output import StreamError, flushed, missing_stream
from harena.core.errors import HarenaError, NotFoundError
from harena.core.garbage import collection_paused, keep_what_pauses_made

ERROR_EXIT = 2
NEW_OBJECTS_COLLECTED = 20_000
"""A command's process ends soon, and most of what it makes stays to its end: the collector looks at it more rarely than
by default (700), which takes a twentieth of a small job's time."""


def main(words: Sequence[str]) -> int:
    """Run one command; its exit code."""
    if missing := missing_stream():
        if sys.stderr is not None:
            sys.stderr.write(f"harena: {missing}\n")
        return ERROR_EXIT
    try:
        with collection_paused():  # modules and parameters stay
            from harena.cli.app import command_line
            from harena.cli.arguments import spread

            app = command_line(words)
        app(spread(words), prog_name="harena")
        code = 0
    except SystemExit as ended:  # how the parser ends: mistakes in the words, interruptions, a reader that has gone
        code = ended.code if isinstance(ended.code, int) else 0
    except (HarenaError, StreamError) as error:
        sys.stderr.write(f"harena: {error}{_asked_where(error)}\n")
        code = ERROR_EXIT
    except OSError as error:
        if error.filename is not None:  # not of a stream: a mistake of ours, to be seen whole
            raise
        sys.stderr.write(f"harena: the output could not be written: {error.strerror or error}\n")
        code = ERROR_EXIT
    return flushed(code, ERROR_EXIT)


def _asked_where(error: Exception) -> str:
    """The server that knows of no such thing: it may be on another, or in this machine's own database."""
    if not isinstance(error, NotFoundError):
        return ""
    from harena.sdk.server_choice import chosen

    there = chosen()
    return "" if there is None else f" (asked {there.address}, as {there.source} says)"


def run() -> None:
    """The entry point of the `harena` program."""
    gc.set_threshold(NEW_OBJECTS_COLLECTED)
    words = sys.argv[1:]
    if runs_a_job(words) and not missing_stream():
        keep_what_pauses_made()
        with collection_paused():
            from harena.ahead import open_ahead

            open_ahead()
    code = main(words)
    # Else the interpreter, as it ends, looks for cycles in all that the command has loaded and made, several times.
    # What has to be closed is closed by the callbacks of `atexit`, as ever.
    gc.freeze()
    sys.exit(code)


def runs_a_job(words: Sequence[str]) -> bool:
    """The command, unless a mistake is found in its words, needs a node."""
    return tuple(words[:2]) == ("benchmark", "run") and len(words) > 2 and "--help" not in words


if __name__ == "__main__":
    run()
