"""`harena image`: what sandboxes can have as their root."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harena.cli import face
from harena.cli.report import Format, ListFormat, write_list

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(no_args_is_help=True, help="Images: pulled once, kept and unpacked on the machine of the node.")
_DAY = 86_400
_STEPS = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


class ArchiveForm(Enum):
    """What an export writes."""

    OCI = "oci"
    DOCKER = "docker"


OneImage = Annotated[str, typer.Argument(metavar="IMAGE", help="Reference, id or digest.")]
Reference = Annotated[str, typer.Argument(help="As python:3.12 or registry.example/env@sha256:...")]
SomeReferences = Annotated[list[str], typer.Argument(metavar="REFERENCE...", help="As python:3.12")]


@app.command()
def pull(references: SomeReferences) -> None:
    """Pull images; a tag that is here is resolved again."""
    with _progress() as changed:
        images = [face.load().images.pull(reference, on_progress=changed) for reference in references]
    for image in images:
        _say(image)


@app.command()
def prefetch(references: SomeReferences) -> None:
    """Pull the images that are not here, several at one time; those that are here stay as they are."""
    with _progress() as changed:
        images = face.load().images.prefetch(references, on_progress=changed)
    for image in images:
        _say(image)


@app.command("ls")
def list_images(form: ListFormat = Format.TABLE) -> None:
    """List the images, by their references."""
    found = face.plain(face.load().images.list())
    rows = [
        (image["reference"], image["digest"][7:19], image["layers"], size(image["size_bytes"]),
         size(image["unpacked_bytes"]), image["last_used_at"][:19], "yes" if image["in_use"] else "-")
        for image in found
    ]  # fmt: skip
    titles = ("image", "digest", "layers", "size", "unpacked", "last used (UTC)", "in use")
    write_list(form, found, "images", titles, rows)


@app.command("rm")
def remove(images: Annotated[list[str], typer.Argument(metavar="IMAGE...", help="Reference, id or digest.")]) -> None:
    """Forget images; their layers go when no sandbox and no other image needs them."""
    for image in images:
        face.load().images.delete(image)
        sys.stdout.write(f"{image}: removed\n")


@app.command()
def gc(
    unused_days: Annotated[
        float | None, typer.Option(min=0, help="Remove also images that were not used for so many days.")
    ] = None,
) -> None:
    """Remove what no image needs, and what is over the node's budget."""
    seconds = None if unused_days is None else int(unused_days * _DAY)
    made = face.load().images.collect(unused_seconds=seconds)
    sys.stdout.write(f"removed {made.images} images and {made.layers} layers: {size(made.freed_bytes)}\n")


@app.command("import")
def import_archive(
    path: Annotated[Path, typer.Argument(help="A tar archive, or a directory with an OCI layout.")],
    reference: Reference,
) -> None:
    """Make an image of an OCI layout, of what `docker save` writes, or of a root file system's tar archive."""
    _say(face.load().images.import_archive(reference, path))


@app.command("export")
def export_archive(
    image: OneImage,
    path: Annotated[Path, typer.Argument(help="A new file.")],
    form: Annotated[ArchiveForm, typer.Option("--form", help="An OCI layout, or what `docker load` reads.")] = (
        ArchiveForm.OCI
    ),
) -> None:
    """Write an image into a file."""
    face.load().images.export_archive(image, path, form=form.value)
    sys.stdout.write(f"{image}: {size(path.stat().st_size)} in {path}\n")


def size(count: int) -> str:
    """Bytes for people."""
    for unit, step in _STEPS:
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} B"


def _say(image: Any) -> None:
    told = face.plain(image)
    layers = "1 layer" if told["layers"] == 1 else f"{told['layers']} layers"
    unpacked = f"{size(told['size_bytes'])}, {size(told['unpacked_bytes'])} unpacked"
    sys.stdout.write(f"{told['reference']}: {layers}, {unpacked}, {told['digest']}\n")


@contextmanager
def _progress() -> Iterator[Callable[[Any], None]]:
    """Bars in a terminal, a line for each state anywhere else; on standard error."""
    if not sys.stderr.isatty():
        yield _Lines().changed
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TextColumn("{task.fields[said]}"))
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def changed(pull: Any) -> None:
            told = face.plain(pull)
            if told["id"] not in tasks:
                tasks[told["id"]] = bars.add_task(told["reference"], total=None, said="")
            bars.update(
                tasks[told["id"]], total=told["total_bytes"], completed=told["downloaded_bytes"], said=_said(told)
            )

        yield changed


class _Lines:
    """One line for each state of each pull."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def changed(self, pull: Any) -> None:
        """Say it where the state is another."""
        told = face.plain(pull)
        if self._last.get(told["id"]) != told["state"]:
            self._last[told["id"]] = told["state"]
            sys.stderr.write(f"{told['reference']}: {_said(told)}\n")


def _said(told: Mapping[str, Any]) -> str:
    if told["state"] == "unpacking" and told["layers"]:
        return f"unpacking {told['layers_unpacked']} of {told['layers']} layers"
    return str(told["state"])
