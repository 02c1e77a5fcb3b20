"""What commands about images and blueprints say: sizes, formats of archives, and the log of a build."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.cli import face

_STEPS = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


class ArchiveForm(Enum):
    """What an export writes."""

    OCI = "oci"
    DOCKER = "docker"


NewFile = Annotated[Path, typer.Argument(help="A new file.")]
AsForm = Annotated[ArchiveForm, typer.Option("--form", help="An OCI layout, or what `docker load` reads.")]


def say_exported(name: str, path: Path) -> None:
    """Tell how large the archive is that an export has written."""
    sys.stdout.write(f"{name}: {size(path.stat().st_size)} in {path}\n")


def size(count: int) -> str:
    """Bytes for people."""
    for unit, step in _STEPS:
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} B"


@contextmanager
def build_log() -> Iterator[Callable[[Any], None]]:
    """Steps and what their commands say, on standard error; in a terminal with the present step below."""
    if not sys.stderr.isatty():
        yield _say_event
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stderr)
    with console.status("starting") as status:

        def told(event: Any) -> None:
            described = face.plain(event)
            if described["kind"] == "output":
                console.print(Text.from_ansi(described["text"]), end="")
            elif described["kind"] == "step":
                first = described["text"].split("\n")[0]
                console.print(Text(first, style="bold" if first.startswith("[") else "dim"))
                status.update(Text(first))
            else:
                status.update(described["kind"])

        yield told


def _say_event(event: Any) -> None:
    described = face.plain(event)
    if described["kind"] == "output":
        sys.stderr.write(described["text"])
    elif described["kind"] == "step":
        sys.stderr.write(f"{described['text']}\n")
    else:
        sys.stderr.write(f"{described['kind']}\n")
