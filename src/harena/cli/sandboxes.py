"""`harena sandbox`: the sandboxes of a server: list them, run a command in one, read outputs, copy files, end it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from harena.address import server_address
from harena.cli import face
from harena.cli.blueprint import pairs
from harena.cli.report import Format, ListFormat, write_list
from harena.cli.sandbox import run_in
from harena.core.checked import checked_seconds
from harena.core.errors import ValidationError
from harena.core.printable import printable, printable_lines

app = typer.Typer(
    no_args_is_help=True, help="Sandboxes of a server: list, run a command, read outputs, copy files, end."
)

SandboxArgument = Annotated[str, typer.Argument(metavar="SANDBOX", help="Id of the sandbox.")]
WORDS_OF_ITS_OWN = {"allow_interspersed_args": False}
PIECE_BYTES = 256 * 1024


@app.command("ls")
def list_sandboxes(
    form: ListFormat = Format.TABLE,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag; may be repeated.")] = None,
    status: Annotated[
        list[str] | None, typer.Option(help="Only in this status, as 'running'; may be repeated.")
    ] = None,
    ended: Annotated[bool, typer.Option("--all", "-a", help="Also those that have ended.")] = False,
) -> None:
    """List the sandboxes of your workspace.

    harena sandbox ls --format json
    """
    _check_server()
    found = face.load().Sandbox.list(tags=tags, status=status or None, show_terminated=ended).result()
    entries = [face.plain(sandbox.info) for sandbox in found]
    rows = [
        (
            entry["id"],
            entry["status"],
            entry["blueprint"] or entry["image"],
            " ".join(entry["tags"]),
            str(entry["created_at"])[:19],
            entry["status_reason"] or "",
        )
        for entry in entries
    ]
    header = ("id", "status", "image", "tags", "created (UTC)", "reason")
    none = "`harena.Sandbox.run()` makes one where HARENA_BASE_URL names this server; --all lists ended ones, too"
    write_list(form, entries, "sandboxes", header, rows, none=none)


@app.command("exec", context_settings=WORDS_OF_ITS_OWN)
def exec_in(
    sandbox: SandboxArgument,
    command: Annotated[list[str], typer.Argument(metavar="CMD", help="The command and its arguments.")],
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Environment; may be repeated.")] = None,
    cwd: Annotated[str | None, typer.Option(help="Working directory inside.")] = None,
    user: Annotated[str | None, typer.Option(help="USER or USER:GROUP of the image to run it as.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds; then everything that it started is killed.")] = None,
    stdin: Annotated[bool, typer.Option("--stdin", "-i", help="Pass standard input on.")] = False,
) -> None:
    """Run a command in a sandbox that is there, and print its output. Options come before the sandbox.

    harena sandbox exec ID python3 -c 'print(1)'

    Exit code: that of the command. 124: it passed its time-out. 128 + N: signal N ended it, as in a shell.
    """
    _check_server()
    if timeout is not None:
        checked_seconds(timeout, "--timeout")
    code = run_in(
        _found(sandbox), command, env=dict(pairs(env, "--env")), cwd=cwd, user=user, timeout=timeout, stdin=stdin
    )
    raise typer.Exit(code)


@app.command()
def logs(
    sandbox: SandboxArgument,
    form: ListFormat = Format.TABLE,
) -> None:
    """Print the ends of what a sandbox's newest commands printed, as its server keeps them, also when it has ended.

    harena sandbox logs ID
    """
    _check_server()
    found = _found(sandbox).outputs().result()
    if form is not Format.TABLE:
        write_list(form, [face.plain(one) for one in found], "commands", (), ())
        return
    if not found:
        sys.stderr.write(f"{printable(sandbox)}: no command has run in it, or it was so long ago that none is kept\n")
    for one in found:
        sys.stdout.write(f"$ {printable(one.command)}\n")
        for text, size in ((one.stdout, one.stdout_bytes), (one.stderr, one.stderr_bytes)):
            if size > len(text.encode()):
                sys.stdout.write(f"... (the last {len(text.encode())} of {size} bytes)\n")
            sys.stdout.writelines(f"{line}\n" for line in printable_lines(text).splitlines())
        if one.ended_at is None:
            sys.stdout.write("[it runs]\n")
        elif one.outcome != "exited" or one.returncode:
            code = "" if one.returncode is None else f" {one.returncode}"
            sys.stdout.write(f"[{one.outcome or 'its client went before it had ended'}{code}]\n")


@app.command()
def cp(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A path here, or SANDBOX:PATH.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A path here, or SANDBOX:PATH.")],
) -> None:
    """Copy a file or a directory into a sandbox, or out of one. A directory's content goes into the directory TO.

    harena sandbox cp notes.txt ID:/workspace/        harena sandbox cp ID:/workspace/out ./out
    """
    _check_server()
    inside = [_inside(source), _inside(target)]
    if (inside[0] is None) == (inside[1] is None):
        raise ValidationError("cp: name one of the two as SANDBOX:PATH, and the other as a path here")
    if inside[1] is not None:
        sandbox, path = inside[1]
        _copy_in(_found(sandbox), Path(source), path)
    elif inside[0] is not None:
        sandbox, path = inside[0]
        _copy_out(_found(sandbox), path, Path(target))


@app.command()
def rm(
    sandboxes: Annotated[list[str], typer.Argument(metavar="SANDBOX...", help="Ids of sandboxes.")],
    missing_ok: Annotated[bool, typer.Option("--missing-ok", help="One that is not there is no mistake.")] = False,
) -> None:
    """End sandboxes, with everything that runs in them."""
    _check_server()
    for sandbox in sandboxes:
        face.load().Sandbox.delete(sandbox, missing_ok=missing_ok).result()
        sys.stdout.write(f"{printable(sandbox)}: ended\n")


@app.command()
def stop(
    sandboxes: Annotated[list[str] | None, typer.Argument(metavar="SANDBOX...", help="Ids of sandboxes.")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="All with this tag; may be repeated.")] = None,
) -> None:
    """End sandboxes: those that are named, or all that carry the tags.

    Exit code 0 also where one has ended by itself meanwhile; 2 where one is not there.
    """
    if bool(sandboxes) == bool(tags):
        raise ValidationError("name sandboxes, or give --tag for all that carry it: one of the two")
    _check_server()
    sandbox = face.load().Sandbox
    stopped = [*sandboxes] if sandboxes else [one.sandbox_id for one in sandbox.list(tags=tags).result()]
    for ref in [sandbox.delete(one, missing_ok=not sandboxes) for one in stopped]:
        ref.result()
    sys.stdout.writelines(f"{printable(one)}: stopped\n" for one in stopped)


def _check_server() -> None:
    """Sandboxes of this process have ended before its next command."""
    if server_address() is None:
        raise ValidationError(
            "sandboxes that outlive a command are a server's: start `harena serve`, and set HARENA_BASE_URL to its "
            "address; `harena exec CMD` runs one command in a sandbox of its own"
        )


def _found(sandbox: str) -> Any:
    return face.load().Sandbox.from_id(sandbox).result()


def _inside(place: str) -> tuple[str, str] | None:
    """(sandbox, path) of SANDBOX:PATH; None = it is a path of this machine, as all are that begin with / or a dot."""
    sandbox, colon, path = place.partition(":")
    if not colon or not sandbox or "/" in sandbox or sandbox.startswith("."):
        return None
    return sandbox, path or "/workspace"


def _copy_in(sandbox: Any, source: Path, path: str) -> None:
    if source.is_dir():
        sandbox.upload_dir(source, path).result()
        return
    if path.endswith("/"):
        path += source.name
    try:
        file = source.open("rb")
    except OSError as error:
        raise ValidationError(f"cp: {source} cannot be read: {error.strerror or error}") from None
    with file:
        sandbox.write_file_streaming(path, iter(lambda: file.read(PIECE_BYTES), b"")).result()


def _copy_out(sandbox: Any, path: str, target: Path) -> None:
    if sandbox.stat(path).result().kind == "directory":
        sandbox.download_dir(path, target).result()
        return
    if target.is_dir():
        target /= PurePosixPath(path).name
    pieces: Iterator[bytes] = iter(sandbox.read_file_streaming(path))
    first = next(pieces, b"")  # a file that is not there is told before one is made here
    try:
        with target.open("wb") as file:
            file.write(first)
            file.writelines(pieces)
    except OSError as error:
        raise ValidationError(f"cp: {target} cannot be written: {error.strerror or error}") from None
