"""Task directories (Harbor's, terminal-bench's), and the tar archive in which a client sends them to a server.

    archive.tar     NAME/task.toml  NAME/environment/Dockerfile  NAME/tests/test.sh ...    one folder for each task

An archive comes from elsewhere. Names that climb and devices are refused, sizes are counted before anything is written
(those of holes, too), a hard link leads to a file that the archive had before, and a link is made after everything else
and only where it stays within its task: nobody who reads the folders can be led out of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO

from harena.core.errors import ValidationError
from harena.core.file_trees import (
    BLOCK_BYTES,
    MOST_DEPTH,
    MOST_FILES,
    MOST_FOLDERS,
    PIECE_BYTES,
    TOO_LARGE,
    folders_above,
)
from harena.core.tar_reader import TarMember, TarReader, TarStreamError

CONFIGURATIONS = ("task.toml", "task.yaml")
"""what makes a folder a task; of two the first counts"""
ENDING = ".tar"
MOST_ARCHIVE_BYTES = 256 * 1024 * 1024
"""the archive is kept with its job until that has ended"""
_MOST_LINKS = 10_000
_MOST_PART, _MOST_PATH = 255, 3000
"""bytes of a name and of a path: file systems take no longer ones"""


def configuration_of(folder: Path) -> str | None:
    """Name of the file that makes a folder a task; None = it is none."""
    return next((name for name in CONFIGURATIONS if (folder / name).is_file()), None)


def task_folders(folder: Path) -> list[tuple[Path, str]]:
    """The folder itself if it is a task, else the tasks below it, by name; each with its configuration's name."""
    if (own := configuration_of(folder)) is not None:
        return [(folder, own)]
    below = sorted(path for path in folder.iterdir() if path.is_dir())
    return [(path, name) for path in below if (name := configuration_of(path)) is not None]


def archive_of(source: object) -> Path | None:
    """The file of task directories that is given as scenarios; None = they are something else."""
    if isinstance(source, str | os.PathLike) and os.fspath(source).endswith(ENDING) and os.path.isfile(source):
        return Path(source)
    return None


def unpack_tasks(source: IO[bytes], folder: Path, charge: Callable[[int], object]) -> None:
    """Write the tasks of an archive into an empty directory. `charge` is told before each file, link and folder how
    many bytes it may take on a disk, with the folders above it, and raises where it may not. Raises ValidationError,
    which names the entry, and OSError; what was written by then stays."""
    links: list[tuple[PurePosixPath, str]] = []
    led: dict[PurePosixPath, str] = {}
    folders: set[bytes] = set()
    entries = 0
    archive = TarReader(source)
    try:
        for member in archive:
            entries += 1
            if entries > 2 * MOST_FILES:
                raise ValidationError(f"the task directories have more than {2 * MOST_FILES} entries", reason=TOO_LARGE)
            if member.is_folder and not PurePosixPath(member.name).parts:  # "./", as of `tar cf FILE -C FOLDER .`
                continue
            name = _checked_name(member)
            there = len(folders)
            folders.update(folders_above(name / "in it" if member.is_folder else name))
            if len(folders) > MOST_FOLDERS:
                raise ValidationError(f"the task directories have more than {MOST_FOLDERS} folders", reason=TOO_LARGE)
            charge(
                -(-member.size // BLOCK_BYTES) * BLOCK_BYTES
                + BLOCK_BYTES * (len(folders) - there + (not member.is_folder))
            )
            if member.is_hard_link:
                other = _checked_target(member)
                if other not in led:
                    _link(folder, name, other)
                    continue
            if member.is_symlink or member.is_hard_link:  # one of a link that has two names
                led[name] = member.link if member.is_symlink else led[other]
                _check_link(name, led[name])
                links.append((name, led[name]))
                if len(links) > _MOST_LINKS:
                    raise ValidationError(f"the task directories have more than {_MOST_LINKS} links", reason=TOO_LARGE)
                continue
            _write(archive, member, folder, name)
        _check_parents([name for name, _ in links])
        for name, target in links:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(target)
    except (FileExistsError, NotADirectoryError):
        raise ValidationError(f"{str(name)!r:.200} comes twice in the archive, or below a file") from None
    except TarStreamError as error:
        raise ValidationError(f"what was sent as task directories is no whole tar archive: {error}") from None


def _checked_name(member: TarMember) -> PurePosixPath:
    if not (member.is_file or member.is_folder or member.is_symlink or member.is_hard_link or member.is_sparse):
        raise ValidationError(
            f"{member.name!r:.200} of the task directories is neither a file, a directory nor a link: leave it out"
        )
    return _checked_path(member.name)


def _checked_target(member: TarMember) -> PurePosixPath:
    if not member.link:
        raise ValidationError(f"{member.name!r:.200} of the task directories is a hard link to nothing: leave it out")
    return _checked_path(member.link)


def _checked_path(written: str) -> PurePosixPath:
    name = PurePosixPath(written)
    if "\0" in written or name.is_absolute() or ".." in name.parts or not name.parts:
        raise ValidationError(f"{written!r:.200} is a name that could lie outside of the task directories")
    sizes = [len(os.fsencode(part)) for part in name.parts]
    if len(sizes) > MOST_DEPTH or max(sizes) > _MOST_PART or sum(sizes) + len(sizes) > _MOST_PATH:
        raise ValidationError(
            f"{written!r:.200} is a path of more than {MOST_DEPTH} parts, {_MOST_PART} bytes in one or "
            f"{_MOST_PATH} in all: shorten it"
        )
    return name


def _check_parents(links: list[PurePosixPath]) -> None:
    """No link lies below another one: it would be made where that one leads, and climb from there."""
    known = set(links)
    for name in links:
        if (above := next((parent for parent in name.parents if parent in known), None)) is not None:
            raise ValidationError(
                f"{str(name)!r:.200} lies below the link {str(above)!r:.200}: put it where that leads"
            )


def _check_link(name: PurePosixPath, target: str) -> None:
    """A link climbs only at its begin, and not out of its task: then it climbs real folders, never the place that
    another link leads to, and no chain of links leads out either."""
    steps = [step for step in target.split("/") if step not in ("", ".")]
    climbed = next((count for count, step in enumerate(steps) if step != ".."), len(steps))
    if (
        target.startswith("/")
        or "\0" in target
        or not target
        or len(os.fsencode(target)) > _MOST_PATH
        or ".." in steps[climbed:]
        or climbed > len(name.parts) - 2
    ):
        raise ValidationError(
            f"{str(name)!r:.200} is a link to {target!r:.200}, which could lead out of its task: put the file itself "
            "there, or make the link in the Dockerfile"
        )


def _link(folder: Path, name: PurePosixPath, target: PurePosixPath) -> None:
    """A second name of a file that is there; no link lies among these files yet."""
    if not (folder / target).is_file():
        raise ValidationError(
            f"{str(name)!r:.200} is a hard link to {str(target)!r:.200}, which is no file before it in the archive: "
            "put the file itself there"
        )
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).hardlink_to(folder / target)


def _write(archive: TarReader, member: TarMember, folder: Path, name: PurePosixPath) -> None:
    target = folder / name
    if member.is_folder:
        target.mkdir(parents=True, exist_ok=True)
        target.chmod(member.mode & 0o777 | 0o700)  # COPY gives an image the rights as they are
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as out:
        for begin, left in member.parts:
            out.seek(begin)
            while left and (piece := archive.read(min(left, PIECE_BYTES))):
                out.write(piece)
                left -= len(piece)
        while piece := archive.read(PIECE_BYTES):
            out.write(piece)
        out.truncate(member.size)
        os.fchmod(out.fileno(), member.mode & 0o777 | 0o600)
