"""`harena push|publish|withdraw|pull|ls|rm`: capabilities, tasks, data sets, models and checkpoints, which training
refers to."""

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
    for name, verb in _VERBS:
        app.command(name)(verb)


def _push(
    kind: OfKind,
    path: Annotated[Path, typer.Argument(help="A directory; of a data set also a file.")],
    ref: Annotated[
        str | None, typer.Argument(metavar="[NAME@VERSION]", help="A capability and a task say it themselves.")
    ] = None,
    organization: Annotated[
        bool, typer.Option("--organization", "--org", help="Publish it to your organisation, too.")
    ] = False,
) -> None:
    """Keep a data set, model, task or capability for training. A version never changes, and the same content again
    changes nothing."""
    made = face.load().registry.push(kind.value, path, ref, organization=organization)
    files = "1 file" if made.files == 1 else f"{made.files} files"
    sys.stdout.write(f"{kind.value} {made.ref}: {files}, {made.bytes} bytes, sha256 {made.digest[:16]}\n")


def _publish(
    kind: OfKind, ref: Annotated[str, typer.Argument(metavar="NAME@VERSION", help="The version to publish.")]
) -> None:
    """Show a version to all workspaces of your organisation. A key needs the scope publish for it."""
    made = face.load().registry.publish(kind.value, ref)
    sys.stdout.write(f"{kind.value} {made.ref}: published to {made.organization}\n")


def _withdraw(
    kind: OfKind, ref: Annotated[str, typer.Argument(metavar="NAME@VERSION", help="The version to withdraw.")]
) -> None:
    """Show a version to your own workspace alone, from now on, whoever uses it."""
    made = face.load().registry.withdraw(kind.value, ref)
    sys.stdout.write(f"{kind.value} {made.ref}: withdrawn\n")


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
    """Delete a published version. Refused while a training job of your workspace that has not ended refers to it."""
    face.load().registry.delete(kind.value, ref)
    sys.stdout.write(f"{kind.value} {ref}: deleted\n")


def _list(
    kind: Annotated[Kind | None, typer.Argument(help="Only this kind.")] = None,
    name: Annotated[str | None, typer.Option(help="Only versions of this name.")] = None,
    organization: Annotated[
        bool, typer.Option("--organization", "--org", help="What was published to your organisation.")
    ] = False,
    form: ListFormat = Format.TABLE,
) -> None:
    """List what is published for training, newest first."""
    wanted = None if kind is None else kind.value
    found = face.plain(face.load().registry.list(wanted, name=name, organization=organization))
    rows = [
        (entry["kind"], entry["ref"], entry["files"], entry["bytes"], entry["digest"][:16], entry["created_at"][:19])
        for entry in found
    ]
    write_list(form, found, "objects", ("kind", "object", "files", "bytes", "sha256", "published (UTC)"), rows)


_VERBS = (
    ("push", _push),
    ("publish", _publish),
    ("withdraw", _withdraw),
    ("pull", _pull),
    ("ls", _list),
    ("rm", _remove),
)
