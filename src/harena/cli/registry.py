"""`harena push|pull|ls|rm`: capabilities, tasks, data sets, models and checkpoints, which training refers to."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from harena.cli import face
from harena.cli.report import Format, ListFormat, write_list


class Kind(Enum):
    """The kind of a registry object."""

    CAPABILITY = "capability"
    TASK = "task"
    DATASET = "dataset"
    MODEL = "model"
    CHECKPOINT = "checkpoint"


OfKind = Annotated[Kind, typer.Argument(help="capability, task, dataset, model or checkpoint.")]


def add_verbs(app: typer.Typer) -> None:
    """To `harena`."""
    for name, verb in (("push", _push), ("pull", _pull), ("ls", _list), ("rm", _remove)):
        app.command(name)(verb)


def _push(
    kind: OfKind,
    path: Annotated[Path, typer.Argument(help="A directory; of a data set also a file.")],
    ref: Annotated[
        str | None, typer.Argument(metavar="[NAME@VERSION]", help="A capability and a task say it themselves.")
    ] = None,
) -> None:
    """Publish a data set, model, task or capability for training. A version never changes, and the same content again
    changes nothing."""
    made = face.load().registry.push(kind.value, path, ref)
    files = "1 file" if made.files == 1 else f"{made.files} files"
    sys.stdout.write(f"{kind.value} {made.ref}: {files}, {made.bytes} bytes, sha256 {made.digest[:16]}\n")


def _pull(
    kind: OfKind,
    ref: Annotated[str, typer.Argument(metavar="NAME[@VERSION]", help="A bare NAME is the newest version.")],
    path: Annotated[Path | None, typer.Argument(help="A new directory; without it one of the object's name.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a directory that is there.")] = False,
) -> None:
    """Write the files of a published version into a directory."""
    target = Path(ref.partition("@")[0]) if path is None else path
    found = face.load().registry.pull(kind.value, ref, target, overwrite=overwrite)
    sys.stdout.write(f"{kind.value} {found.ref}: {found.bytes} bytes in {target}\n")


def _remove(
    kind: OfKind, ref: Annotated[str, typer.Argument(metavar="NAME@VERSION", help="The version to delete.")]
) -> None:
    """Delete a published version. Refused while a training job that has not ended refers to it."""
    face.load().registry.delete(kind.value, ref)
    sys.stdout.write(f"{kind.value} {ref}: deleted\n")


def _list(
    kind: Annotated[Kind | None, typer.Argument(help="Only this kind.")] = None,
    name: Annotated[str | None, typer.Option(help="Only versions of this name.")] = None,
    form: ListFormat = Format.TABLE,
) -> None:
    """List what is published for training, newest first."""
    found = face.plain(face.load().registry.list(None if kind is None else kind.value, name=name))
    rows = [
        (entry["kind"], entry["ref"], entry["files"], entry["bytes"], entry["digest"][:16], entry["created_at"][:19])
        for entry in found
    ]
    write_list(form, found, "objects", ("kind", "object", "files", "bytes", "sha256", "published (UTC)"), rows)
