"""Watches over files of one sandbox, which init opens and which are looked at from outside."""

from __future__ import annotations

import errno
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from harena.core.errors import PlatformError, SandboxFileError
from harena.runtime.host.box_files import OpenFile
from harena.runtime.host.file_watch import FileWatch
from harena.runtime.host.read_watch import ReadWatch

Open = Callable[[str, int], Awaitable[OpenFile]]
"""opens a path inside, with flags; raises SandboxFileError"""


async def watch_files(
    open_file: Open, let_go: Callable[[OpenFile], None], paths: Sequence[str], folders: Sequence[str]
) -> FileWatch:
    """Open the paths inside the sandbox, and watch what happens to them; those that are not there are left out.
    Raises PlatformError where the kernel has no watch left."""

    async def opened(path: str) -> int:
        try:
            return (await open_file(path, os.O_RDONLY)).take()
        except SandboxFileError as error:
            raise OSError(errno.ENOENT, str(error)) from None

    def closed(descriptor: int) -> None:
        let_go(OpenFile(descriptor))

    watch = FileWatch(opened, closed)
    try:
        for path, flags in [*((path, 0) for path in paths), *((path, os.O_DIRECTORY) for path in folders)]:
            with suppress(SandboxFileError):  # it is not there
                descriptor = (await open_file(path, os.O_RDONLY | flags)).take()
                try:
                    watch.add(path, descriptor, is_folder=bool(flags))
                finally:
                    closed(descriptor)
    except BaseException as error:
        watch.close()
        if isinstance(error, OSError):  # nobody may take a file for untouched because it was not watched
            raise _unwatched(error) from error
        raise
    return watch


async def watch_reads(
    open_file: Open, let_go: Callable[[OpenFile], None], paths: Sequence[str], folders: Sequence[str]
) -> ReadWatch:
    """Open the paths inside the sandbox, and watch whether they are read; those that are not there are left out.
    Raises PlatformError where the kernel has no watch left."""
    try:
        watch = ReadWatch()
    except OSError as error:
        raise _unwatched(error) from error
    try:
        for path in paths:
            with suppress(SandboxFileError):  # it is not there
                file = await open_file(path, os.O_RDONLY)
                try:
                    folder = await open_file(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
                except BaseException:
                    let_go(file)
                    raise
                watch.add(path, file.take(), folder.take())
        for path in folders:
            with suppress(SandboxFileError):
                descriptor = (await open_file(path, os.O_RDONLY | os.O_DIRECTORY)).take()
                try:
                    watch.add_folder(descriptor)
                finally:
                    let_go(OpenFile(descriptor))
        await watch.begin()
    except BaseException as error:
        watch.close()
        if isinstance(error, OSError):
            raise _unwatched(error) from error
        raise
    return watch


def _unwatched(error: OSError) -> PlatformError:
    return PlatformError(
        f"files of a sandbox cannot be watched: {os.strerror(error.errno or 0)} (the host's "
        "fs.inotify.max_user_watches and max_user_instances bound it)",
        step="watch files",
    )
