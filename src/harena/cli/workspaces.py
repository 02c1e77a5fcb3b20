"""`harena workspaces`: what the workspaces of this host's server may use."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from harena.cli.report import Format, ListFormat, write_list
from harena.core.errors import PlatformError
from harena.core.home import harena_home
from harena.core.workspace import LIMITS, checked_workspace, parse_limits

app = typer.Typer(no_args_is_help=True, help="Workspaces of `harena serve` on this host, and what they may use.")


@app.command("ls")
def list_workspaces(form: ListFormat = Format.TABLE) -> None:
    """One line per workspace that has a key, a job or a limit of its own: its name, and those limits."""
    found = _with_workspaces(lambda workspaces: workspaces.list())
    if form is not Format.TABLE:
        write_list(form, [{"name": name, "limits": dict(limits)} for name, limits in found], "workspaces", (), ())
        return
    for name, limits in found:
        sys.stdout.write("  ".join([name, *(f"{limit}={value:g}" for limit, value in limits.items())]) + "\n")


@app.command("set")
def set_limits(
    workspace: Annotated[str, typer.Argument(help="Its name.")],
    limits: Annotated[
        list[str],
        typer.Argument(metavar="NAME=NUMBER...", help=f"Of {', '.join(LIMITS)}; NAME=default for the server's."),
    ],
) -> None:
    """Set what a workspace may use; a running server follows within seconds. Limits that are not named stay."""
    checked_workspace(workspace)
    wanted = parse_limits(limits, LIMITS)
    _with_workspaces(lambda workspaces: workspaces.set_limits(workspace, wanted))


def _with_workspaces(work: Callable[[Any], Awaitable[Any]]) -> Any:
    try:
        from harena.server.keys_at_home import with_workspaces
    except ModuleNotFoundError as error:
        message = f"a server needs {error.name}, which is not installed: pip install 'harena[server]'"
        raise PlatformError(message, step="workspaces") from error
    return asyncio.run(with_workspaces(harena_home(), work))
