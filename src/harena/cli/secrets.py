"""`harena secrets`: credentials that gateways send, and that no program in a sandbox holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harena.cli import face
from harena.cli.report import Format, ListFormat, write_list
from harena.core.errors import PlatformError, ValidationError
from harena.core.secrets import MOST_VALUE_BYTES

app = typer.Typer(no_args_is_help=True, help="Secrets: kept encrypted, sent by gateways, never shown.")

OneSecret = Annotated[str, typer.Argument(metavar="NAME", help="As an environment variable's: GITHUB_TOKEN.")]


@app.command("set")
def set_secret(
    name: OneSecret,
    hosts: Annotated[
        list[str],
        typer.Option("--host", help="What it may be sent to: api.github.com, *.example.com; may be given repeatedly."),
    ],
    file: Annotated[
        Path | None, typer.Option("--file", help="Holds the value; without it, standard input does.")
    ] = None,
) -> None:
    """Keep a secret in place of the one of its name. The value comes from standard input or a file, never from the
    command line, which others can see; one line end behind it is left out."""
    kept = face.load().secrets.set(name, _value(file), hosts=hosts)
    sys.stdout.write(f"{kept.name}: kept for {', '.join(kept.hosts)}\n")


@app.command("ls")
def list_secrets(form: ListFormat = Format.TABLE) -> None:
    """List the secrets by name, without their values."""
    found = face.plain(face.load().secrets.list())
    rows = [(one["name"], " ".join(one["hosts"]), one["updated_at"][:19]) for one in found]
    write_list(form, found, "secrets", ("secret", "hosts", "set (UTC)"), rows)


@app.command("rm")
def remove(names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Secrets to forget.")]) -> None:
    """Forget secrets: sandboxes that are created from now on cannot use them."""
    for name in names:
        face.load().secrets.delete(name)
        sys.stdout.write(f"{name}: removed\n")


def _value(file: Path | None) -> str:
    if file is None:
        if sys.stdin.isatty():
            import getpass

            return getpass.getpass("value: ")
        written = sys.stdin.buffer.read(MOST_VALUE_BYTES + 2)
    else:
        try:
            with file.open("rb") as opened:
                written = opened.read(MOST_VALUE_BYTES + 2)
        except OSError as error:
            raise PlatformError(f"{file} cannot be read: {error.strerror or error}", step="secrets set") from error
    try:
        text = written.decode()
    except UnicodeDecodeError:
        raise ValidationError("the secret's value is no UTF-8 text") from None
    return text.removesuffix("\n").removesuffix("\r")
