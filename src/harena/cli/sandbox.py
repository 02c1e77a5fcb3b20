"""`harena exec`: one command in a fresh sandbox, as if it ran here."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from typing import Annotated, Any, TextIO

import typer

from harena.cli import face
from harena.cli.blueprint import pairs

READ_BYTES = 64 * 1024
TIMEOUT_EXIT = 124
"""as the `timeout` program has it"""


def exec_command(
    command: Annotated[list[str], typer.Argument(metavar="-- CMD...", help="The command and its arguments.")],
    image: Annotated[str | None, typer.Option(help="The image to run it in.")] = None,
    blueprint: Annotated[str | None, typer.Option(help="The blueprint to run it in.")] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Environment; may be repeated.")] = None,
    cwd: Annotated[str | None, typer.Option(help="Working directory inside.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds; then everything that it started is killed.")] = None,
    stdin: Annotated[bool, typer.Option("--stdin", "-i", help="Pass standard input on.")] = False,
) -> None:
    """Run one command in a fresh, isolated sandbox and pass its output and exit code through.

    A command that a signal ended gives 128 + signal, one that passed its time-out 124, as in a shell.
    """
    options: dict[str, Any] = {"container_image": image, "blueprint": blueprint}
    harena = face.load()
    with harena.Sandbox.run(**{name: value for name, value in options.items() if value is not None}) as sandbox:
        process = sandbox.exec(
            command, env=dict(pairs(env, "--env")) or None, cwd=cwd, timeout_seconds=timeout, stdin=stdin
        )
        copies = [
            threading.Thread(target=_copy, args=(process.stdout, sys.stdout), daemon=True),
            threading.Thread(target=_copy, args=(process.stderr, sys.stderr), daemon=True),
        ]
        for copy in copies:
            copy.start()
        if stdin:  # not waited for: who reads a terminal cannot be interrupted
            threading.Thread(target=_feed, args=(process.stdin, harena.HarenaError), daemon=True).start()
        try:
            returncode = process.result().returncode
        except harena.SandboxCommandTimeoutError as error:
            returncode = TIMEOUT_EXIT
            message = f"harena: {error}\n"
        else:
            message = ""
        for copy in copies:
            copy.join()
    sys.stderr.write(message)
    raise typer.Exit(returncode if returncode >= 0 else 128 - returncode)


def _copy(pieces: Iterable[str], out: TextIO) -> None:
    for piece in pieces:
        out.write(piece)
        out.flush()


def _feed(stdin: Any, closed: type[Exception]) -> None:
    try:
        while data := os.read(sys.stdin.fileno(), READ_BYTES):
            stdin.write(data).result()
        stdin.close()
    except closed:
        return  # the command has ended and reads no more; its exit code says the rest
