"""`harena workspaces`: what the workspaces of this host's server may use, and the organisation of each."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from harena.cli.report import Format, ListFormat, write_list
from harena.core.errors import PlatformError, ValidationError
from harena.core.home import harena_home
from harena.core.workspace import (
    DEFAULT_ORGANIZATION,
    LIMITS,
    checked_organization,
    checked_workspace,
    parse_limits,
)

app = typer.Typer(no_args_is_help=True, help="Workspaces of `harena serve` on this host, and what they may use.")


@app.command("ls")
def list_workspaces(form: ListFormat = Format.TABLE) -> None:
    """One line per workspace that has a key, a job, a limit or an organisation of its own: its name, and those."""

    async def work(workspaces: Any) -> tuple[Any, dict[str, str]]:
        return await workspaces.list(), await workspaces.organizations()

    found, organizations = _with_workspaces(work)
    if form is not Format.TABLE:
        told = [
            {"name": name, "organization": organizations.get(name, DEFAULT_ORGANIZATION), "limits": dict(limits)}
            for name, limits in found
        ]
        write_list(form, told, "workspaces", (), ())
        return
    for name, limits in found:
        of = [f"organization={organizations[name]}"] if name in organizations else []
        sys.stdout.write("  ".join([name, *of, *(f"{limit}={value:g}" for limit, value in limits.items())]) + "\n")


@app.command("set")
def set_limits(
    workspace: Annotated[str, typer.Argument(help="Its name.")],
    limits: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=NUMBER...", help=f"Of {', '.join(LIMITS)}; NAME=default for the server's."),
    ] = None,
    organization: Annotated[
        str | None,
        typer.Option("--organization", "--org", help="Let it belong to this organisation, whose objects it sees."),
    ] = None,
) -> None:
    """Set what a workspace may use, or its organisation; a running server follows within seconds. What is not named
    stays."""
    checked_workspace(workspace)
    if not limits and organization is None:
        raise ValidationError("nothing to set: give limits as NAME=NUMBER, or --organization NAME")
    wanted = parse_limits(limits or [], LIMITS)
    if organization is not None:
        checked_organization(organization)

    async def work(workspaces: Any) -> None:
        if wanted:
            await workspaces.set_limits(workspace, wanted)
        if organization is not None:
            await workspaces.set_organization(workspace, organization)

    _with_workspaces(work)


def _with_workspaces(work: Callable[[Any], Awaitable[Any]]) -> Any:
    try:
        from harena.server.keys_at_home import with_workspaces
    except ModuleNotFoundError as error:
        message = f"a server needs {error.name}, which is not installed: pip install 'harena[server]'"
        raise PlatformError(message, step="workspaces") from error
    return asyncio.run(with_workspaces(harena_home(), work))
