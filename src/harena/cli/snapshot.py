"""`harena snapshot`: files of sandboxes as they were at one time."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harena.cli import face
from harena.cli.image_words import ArchiveForm, AsForm, NewFile, say_exported, size
from harena.cli.report import Format, ListFormat, write_list

app = typer.Typer(no_args_is_help=True, help="Snapshots: the files of sandboxes as they were at one time.")


@app.command("ls")
def list_snapshots(form: ListFormat = Format.TABLE) -> None:
    """List the snapshots, the oldest first."""
    found = face.plain(face.load().snapshots.list())
    rows = [
        (one["name"] or "-", one["id"], one["image"], one["parent"] or "-", size(one["size_bytes"]),
         one["created_at"][:19], (one["expires_at"] or "-")[:19], "yes" if one["in_use"] else "-")
        for one in found
    ]  # fmt: skip
    titles = ("name", "id", "image", "parent", "size", "created (UTC)", "expires", "in use")
    write_list(form, found, "snapshots", titles, rows)


@app.command()
def tree() -> None:
    """Show which snapshot was made from which."""
    snapshots = face.load().snapshots
    for before, one in snapshots.lines_of_tree(snapshots.list()):
        told = "" if one is None else f"{one.name or one.id}  {size(one.size_bytes)}  {one.created_at[:19]}"
        sys.stdout.write(f"{before}{told}\n")


@app.command("export")
def export_archive(
    snapshot: Annotated[str, typer.Argument(help="Name or id.")],
    path: NewFile,
    form: AsForm = ArchiveForm.OCI,
) -> None:
    """Write a snapshot into a file, as an image."""
    face.load().snapshots.export_archive(snapshot, path, form=form.value)
    say_exported(snapshot, path)


@app.command("rm")
def remove(snapshots: Annotated[list[str], typer.Argument(metavar="SNAPSHOT...", help="Name or id.")]) -> None:
    """Remove snapshots; a layer goes when no sandbox and no other snapshot needs it."""
    for snapshot in snapshots:
        face.load().snapshots.delete(snapshot)
        sys.stdout.write(f"{snapshot}: removed\n")
