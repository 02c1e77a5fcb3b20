"""`harena keys`: who may use this host's server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from harena.cli import face
from harena.cli.report import Format, ListFormat, write_list
from harena.core.clock import SystemClock
from harena.core.errors import PlatformError
from harena.core.home import harena_home

app = typer.Typer(no_args_is_help=True, help="API keys of `harena serve` on this host.")


@app.command()
def create(
    name: Annotated[str, typer.Option(help="What or whom it is for.")],
    workspace: Annotated[str, typer.Option(help="Sandboxes and jobs of other workspaces do not exist for it.")] = (
        "default"
    ),
    scopes: Annotated[str, typer.Option(help="read, write, admin, publish: some of them, with commas.")] = "read,write",
) -> None:
    """Make a key and print it. It cannot be shown again: only a hash is kept."""
    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    token, _ = _with_keys(lambda keys: keys.create(name=name, workspace=workspace, scopes=wanted))
    sys.stdout.write(f"{token}\n")


@app.command("list")
def list_keys(form: ListFormat = Format.TABLE) -> None:
    """One line per key: id, workspace, scopes, name, and whether it was revoked."""
    found = _with_keys(lambda keys: keys.list())
    if form is not Format.TABLE:
        write_list(form, [face.plain(key) for key in found], "keys", (), ())
        return
    for key in found:
        revoked = f"  revoked {key.revoked_at}" if key.revoked_at else ""
        sys.stdout.write(f"{key.id}  {key.workspace}  {','.join(key.scopes)}  {key.name}{revoked}\n")


@app.command()
def revoke(key_id: Annotated[str, typer.Argument(metavar="ID", help="As `harena keys list` shows it.")]) -> None:
    """Refuse a key from now on; a running server follows within seconds."""
    _with_keys(lambda keys: keys.revoke(key_id))


def _with_keys(work: Callable[[Any], Awaitable[Any]]) -> Any:
    try:
        from harena.server.keys_at_home import with_keys
    except ModuleNotFoundError as error:
        message = f"a server needs {error.name}, which is not installed: pip install 'harena[server]'"
        raise PlatformError(message, step="keys") from error
    return asyncio.run(with_keys(harena_home(), SystemClock(), work))
