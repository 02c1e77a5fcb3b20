"""`harena exec`: one command in a fresh sandbox, as if it ran here."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import CancelledError
from typing import Annotated, Any, TextIO

import typer

from harena.cli import completion, face
from harena.cli.blueprint import pairs
from harena.cli.gateways import HELP, METAVAR, gateways_in_words
from harena.cli.output import StreamError, to_nowhere
from harena.core.checked import checked_seconds
from harena.core.errors import HarenaError
from harena.core.network_policy import NetworkPolicy, policy_in_words

READ_BYTES = 64 * 1024
TIMEOUT_EXIT = 124
"""exit code after a time-out, the one that the `timeout` program uses"""


def exec_command(
    command: Annotated[list[str], typer.Argument(metavar="CMD", help="The command and its arguments.")],
    image: Annotated[str | None, typer.Option(help="The image to run it in; snapshot://NAME is a snapshot.")] = None,
    snapshot: Annotated[str | None, typer.Option(help="Name or id of the snapshot that it begins with.")] = None,
    blueprint: Annotated[
        str | None, typer.Option(help="The blueprint to run it in.", autocompletion=completion.blueprint)
    ] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Environment; may be repeated.")] = None,
    cwd: Annotated[str | None, typer.Option(help="Working directory inside.")] = None,
    user: Annotated[
        str | None, typer.Option(help="USER or USER:GROUP of the image to run it as; without it the image's own.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="strict, or for an image machine: packages can be installed.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds; then everything that it started is killed.")] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="none|open|ENTRY,...",
            help="What it may reach: hosts, *.hosts, CIDRs, host:port and presets (pypi, npm, apt), with commas.",
        ),
    ] = None,
    gateway: Annotated[list[str] | None, typer.Option(metavar=METAVAR, help=HELP)] = None,
    stdin: Annotated[bool, typer.Option("--stdin", "-i", help="Pass standard input on.")] = False,
) -> None:
    """Run one command in a fresh, isolated sandbox and print its output.

    Options of `harena exec` come before the command; every word behind its first one is the command's own.

    Exit code: that of the command. 124: it passed its time-out. 128 + N: signal N ended it, as in a shell.
    """
    if timeout is not None:
        checked_seconds(timeout, "--timeout")
    options: dict[str, Any] = {
        "container_image": image,
        "snapshot": snapshot,
        "blueprint": blueprint,
        "profile": profile,
        "network": _network(network),
        "gateways": gateways_in_words(gateway),
    }
    harena = face.load()
    with harena.Sandbox.run(**{name: value for name, value in options.items() if value is not None}) as sandbox:
        code = run_in(sandbox, command, env=dict(pairs(env, "--env")), cwd=cwd, user=user, timeout=timeout, stdin=stdin)
    raise typer.Exit(code)


def run_in(
    sandbox: Any,
    command: list[str],
    *,
    env: dict[str, str],
    cwd: str | None,
    user: str | None,
    timeout: float | None,
    stdin: bool,
) -> int:
    """Run a command in a sandbox as if it ran here; its exit code. Raises StreamError where our streams take no more,
    and what `exec` raises."""
    harena = face.load()
    process = sandbox.exec(command, env=env or None, cwd=cwd, user=user, timeout_seconds=timeout, stdin=stdin)
    output, errors = process.byte_streams()
    copies = [_Copy(process, output, sys.stdout), _Copy(process, errors, sys.stderr)]
    if stdin:  # not waited for: who reads a terminal cannot be interrupted
        threading.Thread(target=_feed, args=(process.stdin,), daemon=True).start()
    message = ""
    try:
        code: int = process.result().returncode
    except harena.SandboxCommandTimeoutError:
        code = TIMEOUT_EXIT
        message = f"harena: it passed --timeout {timeout:g} and was killed with everything that it had started\n"
    except CancelledError:
        code = -signal.SIGPIPE
    for copy in copies:
        copy.join()
    for copy in copies:
        if copy.failure is not None:
            why = copy.failure.strerror or copy.failure
            raise StreamError(f"the command's output could not be written: {why}; the command was ended")
    sys.stderr.write(message)
    return code if code >= 0 else 128 - code


def _network(text: str | None) -> NetworkPolicy | None:
    """The policy that `--network` says."""
    return None if text is None else policy_in_words(text)


class _Copy(threading.Thread):
    """Passes one stream on as it comes. When nobody reads ours any more, the command is ended, as a pipe would."""

    def __init__(self, process: Any, pieces: Iterable[bytes], out: TextIO) -> None:
        super().__init__(daemon=True)
        self.failure: OSError | None = None
        """why our own stream took no more"""
        self._process = process
        self._pieces = pieces
        self._out = out
        self.start()

    def run(self) -> None:
        try:
            for piece in self._pieces:
                self._out.buffer.write(piece)
                self._out.buffer.flush()
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.failure = error
            self._process.cancel()
            to_nowhere(self._out)
        except HarenaError:
            return  # the command could not be run, or not to its end: its result says so


def _feed(stdin: Any) -> None:
    try:
        while data := os.read(sys.stdin.fileno(), READ_BYTES):
            stdin.write(data).result()
        stdin.close()
    except HarenaError:
        return  # the command has ended and reads no more; its exit code says the rest
