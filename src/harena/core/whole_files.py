"""Output files that are there whole or not at all: checked before the work, written beside their place and renamed."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from harena.core.errors import PlatformError


def output_mistakes(outputs: Mapping[str, Path], *, inputs: Sequence[Path], overwrite: bool) -> list[str]:
    """What keeps each of `outputs` (name of the option -> path) from being written, as sentences that say what to do.

    Whether the folder can be written to is found out by writing to it; nothing stays behind.
    """
    mistakes: list[str] = []
    taken: dict[Path, str] = {}
    for path in inputs:
        with contextlib.suppress(OSError, RuntimeError, ValueError):  # whoever reads it says what is wrong with it
            taken[path.resolve()] = "an input"
    for name, path in outputs.items():
        try:
            place = path.resolve()
            message = (
                f"{path} is {taken[place]} too; name another file"
                if place in taken
                else _mistake(path, place, overwrite)
            )
        except (OSError, RuntimeError, ValueError) as error:  # what no path can be, a loop of links, rights
            mistakes.append(f"{name}: {path} cannot be written: {getattr(error, 'strerror', None) or error}")
            continue
        mistakes += [f"{name}: {message}"] if message else []
        taken[place] = f"the file of {name}"
    return mistakes


def _mistake(path: Path, place: Path, overwrite: bool) -> str:
    if place.is_dir():
        return f"{path} is a folder; name a file"
    if place.exists() and not place.is_file():
        return f"{path} is no regular file, and would be replaced by one; name another"
    if place.exists() and not overwrite:
        return f"{path} exists; name another file, or allow it to be replaced (`overwrite=True`, `--overwrite`)"
    if not place.parent.is_dir():
        return f"{path}: there is no folder {place.parent}; make it first"
    with _open(probe := _beside(place)):
        probe.unlink()
    return ""


@contextlib.contextmanager
def replaced(paths: Sequence[Path]) -> Iterator[list[BinaryIO]]:
    """Files to write; at the end they take their places, in this order. Where that fails, or what is done with them,
    the places are as they were. Raises PlatformError for a disk that does not take them."""
    written: list[tuple[Path, Path]] = []
    try:
        with contextlib.ExitStack() as stack:
            files = []
            for path in paths:
                place = path.resolve()
                written.append((_beside(place), place))
                files.append(stack.enter_context(_open(written[-1][0])))
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        for temporary, place in written:
            temporary.replace(place)
    except OSError as error:
        named = ", ".join(map(str, paths))
        raise PlatformError(
            f"{named} could not be written: {error.strerror or error}", step="write the output"
        ) from error
    finally:
        for temporary, _ in written:
            temporary.unlink(missing_ok=True)


def _beside(place: Path) -> Path:
    return place.with_name(f".{place.name[:100]}.{uuid.uuid4().hex[:12]}.tmp")


def _open(path: Path) -> BinaryIO:
    return path.open("xb")
