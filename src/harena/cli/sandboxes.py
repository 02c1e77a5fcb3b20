"""`harena sandbox`: the sandboxes of a server, seen and ended from the command line."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from harena.cli import face
from harena.cli.report import Format, ListFormat, write_list
from harena.core.errors import ValidationError

app = typer.Typer(no_args_is_help=True, help="Sandboxes of a server.")

Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only those that carry this tag; may be repeated.")]


@app.command("ls")
def list_sandboxes(
    tag: Tags = None,
    status: Annotated[list[str] | None, typer.Option(help="Only those with this status; may be repeated.")] = None,
    ended: Annotated[bool, typer.Option("--all", "-a", help="Also those that have ended.")] = False,
    form: ListFormat = Format.TABLE,
) -> None:
    """List the sandboxes, with their tags.

    Sandboxes without a server live in the process that made them, and are not seen from here.
    """
    found = face.plain([one.info for one in _sandboxes(tag, status=status or None, show_terminated=ended)])
    rows = [(one["id"], one["status"], (one["started_at"] or "-")[:19], ", ".join(one["tags"]) or "-") for one in found]
    write_list(form, found, "sandboxes", ("sandbox", "status", "started (UTC)", "tags"), rows)


@app.command("stop")
def stop(
    sandboxes: Annotated[list[str] | None, typer.Argument(metavar="SANDBOX...", help="Ids of sandboxes.")] = None,
    tag: Tags = None,
) -> None:
    """End sandboxes: those that are named, or all that carry the tags.

    Exit code 0 also where one has ended by itself meanwhile; 2 where one is not there.
    """
    if bool(sandboxes) == bool(tag):
        raise ValidationError("name sandboxes, or give --tag for all that carry it: one of the two")
    harena = face.load()
    stopped = [*sandboxes] if sandboxes else [one.sandbox_id for one in _sandboxes(tag)]
    for ref in [harena.Sandbox.delete(one, missing_ok=not sandboxes) for one in stopped]:
        ref.result()
    sys.stdout.writelines(f"{one}: stopped\n" for one in stopped)


def _sandboxes(tags: list[str] | None, **wanted: Any) -> list[Any]:
    found: list[Any] = face.load().Sandbox.list(tags=tags, **wanted).result()
    return found
