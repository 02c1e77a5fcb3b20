"""How an unpacked layer looked when it was unpacked, so that one that was damaged since is found without a look into
its files.

A shape is a digest of the names, kinds, rights, owners, sizes and times below a folder: some microseconds a file. It
stands in a file beside the layer, with the user who looked: who is not root sees nothing of some folders. A layer
without that file was unpacked by an earlier version, and counts as whole as it is found first.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path
from stat import S_ISDIR


def shape_of(root: Path) -> str:
    """The shape of a layer, in hexadecimal digits. Raises OSError where its folder is not there. Blocking."""
    digest = hashlib.sha256()
    top = os.fsencode(root)
    digest.update(_told(b"", os.lstat(top)))
    folders = [b""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(top, folder)) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:  # who looks may not, or the path is longer than the kernel takes
            digest.update(b"%s\0closed %d\0" % (folder, error.errno or 0))
            continue
        for entry in found:
            about = entry.stat(follow_symlinks=False)
            path = os.path.join(folder, entry.name)
            digest.update(_told(path, about))
            if S_ISDIR(about.st_mode):
                folders.append(path)
    return digest.hexdigest()


def note_shape(file: Path, root: Path) -> None:
    """Write the shape of a layer to a file, whole or not at all. Raises OSError. Blocking."""
    new = file.with_name(f"{file.name}-{secrets.token_hex(8)}")
    new.write_text(f"{os.geteuid()} {shape_of(root)}")
    new.rename(file)


def has_its_shape(file: Path, root: Path) -> bool:
    """The layer looks as the file says; where there is none, it is written. Blocking."""
    try:
        if not file.exists():
            note_shape(file, root)
            return True
        user, _, shape = file.read_text(errors="replace").partition(" ")
        if user.isdecimal() and int(user) != os.geteuid():
            return root.is_dir()  # another user has looked, and may have seen more or less of the same
        return shape == shape_of(root)
    except OSError:
        return False


def _told(path: bytes, about: os.stat_result) -> bytes:
    size = 0 if S_ISDIR(about.st_mode) else about.st_size  # that of a folder is its file system's
    numbers = (about.st_mode, about.st_uid, about.st_gid, about.st_rdev, size, about.st_mtime_ns)
    return b"%s\0%o %d %d %d %d %d\0" % (path, *numbers)
