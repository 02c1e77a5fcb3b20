"""`harena image`: what sandboxes can have as their root."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harena.cli import face
from harena.cli.blueprint import pairs
from harena.cli.image_words import ArchiveForm, AsForm, NewFile, build_log, say_exported, size
from harena.cli.report import Format, ListFormat, write_list
from harena.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(no_args_is_help=True, help="Images: pulled once, kept and unpacked on the machine of the node.")
_DAY = 86_400


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


@app.command()
def build(
    context: Annotated[Path, typer.Argument(help="A directory: what COPY takes files from.")],
    tag: Annotated[
        list[str] | None, typer.Option("-t", "--tag", metavar="NAME", help="A name; several may follow.")
    ] = (None),
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="The Dockerfile; CONTEXT/Dockerfile if none.")
    ] = None,
    build_arg: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A value for an ARG; several may follow.")
    ] = None,
    target: Annotated[str, typer.Option(help="The stage that is built; the last one if none.")] = "",
    secret: Annotated[
        list[str] | None,
        typer.Option(metavar="ID=FILE", help="A file for RUN --mount=type=secret; several may follow."),
    ] = None,
    no_cache: Annotated[bool, typer.Option(help="Make each step anew.")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for the whole build.")] = 3600.0,
    memory_mb: Annotated[int, typer.Option(min=16, help="Memory of each RUN, its files among it.")] = 2048,
    network: Annotated[
        str,
        typer.Option(
            metavar="none|open|ENTRY,...",
            help="What RUN may reach: hosts, *.hosts, CIDRs, host:port and presets (pypi, npm, apt), with commas.",
        ),
    ] = "none",
) -> None:
    """Build an image from a Dockerfile, without Docker: each RUN works in a sandbox."""
    with build_log() as told:
        made = face.load().images.build(
            context,
            tags=tag or [],
            dockerfile=file,
            build_args=dict(pairs(build_arg, "--build-arg")),
            target=target,
            secrets={name: _secret(path) for name, path in pairs(secret, "--secret")},
            use_cache=not no_cache,
            timeout_seconds=timeout,
            memory_mb=memory_mb,
            network=network,
            on_event=told,
        )
    described = face.plain(made)
    names = ", ".join(described["references"]) or "without a name"
    cached = f"{described['steps_cached']} of {described['steps']} steps were here"
    sys.stdout.write(f"{names}: {described['image']} ({cached})\n")


def _secret(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ValidationError(f"--secret: {path} cannot be read: {error.strerror or error}") from None


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
    path: NewFile,
    form: AsForm = ArchiveForm.OCI,
) -> None:
    """Write an image into a file."""
    face.load().images.export_archive(image, path, form=form.value)
    say_exported(image, path)


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
                tasks[told["id"]],
                total=told["total_bytes"],
                completed=told["downloaded_bytes"],
                said=_progress_in_words(told),
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
            sys.stderr.write(f"{told['reference']}: {_progress_in_words(told)}\n")


def _progress_in_words(told: Mapping[str, Any]) -> str:
    if told["state"] == "unpacking" and told["layers"]:
        return f"unpacking {told['layers_unpacked']} of {told['layers']} layers"
    return str(told["state"])
