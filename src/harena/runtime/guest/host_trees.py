"""What a template shows of the host's files: through overlay file systems, where the kernel lets it mount them.

A mount alone would show the host's own inodes, and to an inode belong locks, notices of inotify, named pipes, sockets
and what `fsync` and `syncfs` write to disk: a sandbox would share these with the host and with every other sandbox. An
overlay without an upper layer has inodes of its own, one set for each template; only the pages of the files' content
stay shared. A tree that cannot be a layer (see the doctor) is mounted as it is.

The trusted side opens trees, since a template's user may not reach them; the template attaches them. Devices are made
anew, where the trusted side may do that.
"""

from __future__ import annotations

import os
import re
import stat

from harena.runtime.kernel import mounts, proc_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Planned = tuple[str, str, bool, bool]
    """source, target, read only (what can be written to is shown as it is), is a file"""

LAYERS = "/layers"
_ROOT = "/tmp"
EMPTY_LAYER = ""
"""target of an empty directory, the first tree of a plan: an overlay needs a second layer, best of the same device"""
NOTHING = ""
"""source of an empty directory that is the template's own"""
_SCRATCH = _ROOT + "/.trees"
_EMPTY = _SCRATCH + "/empty"
_OF_OVERLAYS = mounts.RDONLY | mounts.NOSUID | mounts.NODEV
_SPECIAL = frozenset(":,\\")
"""letters with a meaning in the options of an overlay"""
_OTHERS_MAY_SEARCH = 0o001


class Tree:
    """A tree of the host that was opened. `parts` are (name in it, target); the name is "" for all of it."""

    def __init__(
        self,
        descriptor: int,
        parts: list[tuple[str, str]],
        *,
        as_it_is: bool = False,
        is_device: bool = False,
        is_layer: bool = False,
    ) -> None:
        self.descriptor = descriptor
        """descriptor of a mount that is attached nowhere yet; -1 for a new empty directory"""
        self.parts = parts
        self.as_it_is = as_it_is
        """a file, or a directory that can be written to: no layer of an overlay"""
        self.is_device = is_device
        self.is_layer = is_layer
        """an image's: sandboxes see it through overlays of their own, and the template looks into it only"""


def opened(planned: Sequence[Planned], *, privileged: bool) -> list[Tree]:
    """The trees of a plan. `privileged`: the caller is not the template, and has rights that it lacks. Raises
    OSError."""
    trees: list[Tree] = []
    devices = [tree for tree in planned if tree[0].startswith("/dev/")]
    made = _own_devices(devices) if privileged and devices else None
    try:
        for tree in planned:
            if made is None or tree not in devices:
                trees.append(_open(tree, privileged))
    except OSError:
        close(trees if made is None else [*trees, made])
        raise
    return trees if made is None else [*trees, made]


def opened_layers(places: Sequence[str], owners: int) -> list[Tree]:
    """An image's unpacked layers, to be mounted at `/layers/0` (the uppermost) and so on. `owners`: see
    `mounts.clone_tree`. Raises OSError."""
    trees: list[Tree] = []
    try:
        for number, place in enumerate(places):
            descriptor = mounts.clone_tree(place, owners=owners)
            trees.append(Tree(descriptor, [("", f"{LAYERS}/{number}")], is_layer=True))
    except OSError:
        close(trees)
        raise
    return trees


def close(trees: Sequence[Tree]) -> None:
    """Let go of what was opened."""
    for tree in trees:
        if tree.descriptor >= 0:
            os.close(tree.descriptor)


def _open(tree: Planned, privileged: bool) -> Tree:
    source, target, read_only, is_file = tree
    if source == NOTHING:
        return Tree(-1, [("", target)])
    is_device = source.startswith("/dev/")
    if is_file and read_only and not is_device:  # a file cannot be a layer, but the directory that it lies in can
        directory, name = os.path.split(source)
        try:
            if not privileged or os.stat(directory).st_mode & _OTHERS_MAY_SEARCH:
                return Tree(mounts.clone_tree(directory), [(name, target)])
        except OSError:
            pass  # the file alone may be within reach
    descriptor = mounts.clone_tree(source, read_only=read_only, devices=is_device)
    return Tree(descriptor, [("", target)], as_it_is=is_file or not read_only, is_device=is_device)


def _own_devices(planned: Sequence[Planned]) -> Tree | None:
    """Devices with inodes that are not the host's; None where none may be made (a container without CAP_MKNOD)."""
    try:
        made = mounts.new_tmpfs()
    except OSError:
        return None
    parts: list[tuple[str, str]] = []
    try:
        for source, target, _, _ in planned:
            name = os.path.basename(source)
            about = os.stat(source)
            os.mknod(name, about.st_mode, about.st_rdev, dir_fd=made)
            os.chmod(name, about.st_mode & 0o777, dir_fd=made)
            parts.append((name, target))
    except OSError:
        os.close(made)
        return None
    return Tree(made, parts, is_device=True)


def attach(trees: Sequence[Tree]) -> bool:
    """In the template: mount the trees below /tmp, the new root, in their order. False if some of them show the host's
    own inodes. Raises OSError."""
    os.mkdir(_SCRATCH)
    mounts.mount(b"trees", os.fsencode(_SCRATCH), b"tmpfs", mounts.NOSUID | mounts.NODEV, b"mode=755,size=1m")
    os.mkdir(_EMPTY)
    attachment = _Attachment()
    for number, tree in enumerate(trees):
        attachment.add(tree, f"{_SCRATCH}/{number}")
    mounts.unmount(os.fsencode(_SCRATCH))
    os.rmdir(_SCRATCH)
    return not attachment.shares_inodes


class _Attachment:
    """Mounts trees, and notes whether each could be a layer of an overlay."""

    def __init__(self) -> None:
        self.shares_inodes = False

    def add(self, tree: Tree, lower: str) -> None:
        """Mount a tree; `lower` is a place where it may be seen meanwhile."""
        target = tree.parts[0][1]
        if tree.descriptor < 0:
            os.mkdir(lower)
            _bind(lower, target, is_file=False)
        elif tree.is_layer:
            _make_place(target, is_file=False)
            mounts.attach_tree(tree.descriptor, os.fsencode(_ROOT + target))
        elif tree.as_it_is:
            self.shares_inodes |= not tree.is_device
            _make_place(target, is_file=stat.S_ISREG(os.fstat(tree.descriptor).st_mode) or tree.is_device)
            mounts.attach_tree(tree.descriptor, os.fsencode(_ROOT + target))
        elif target == EMPTY_LAYER:
            mounts.attach_tree(tree.descriptor, os.fsencode(_EMPTY))
        else:
            os.mkdir(lower)
            mounts.attach_tree(tree.descriptor, os.fsencode(lower))
            if tree.is_device:
                for name, place in tree.parts:
                    _bind(f"{lower}/{name}", place, is_file=True, devices=True)
            else:
                self._add_layer(tree, lower)

    def _add_layer(self, tree: Tree, lower: str) -> None:
        inner = _mounts_below(lower)
        shown = self._overlay_of(lower, lower + ".shown")
        for name, target in tree.parts:
            if name:
                directory = lower if f"{lower}/{name}" in inner else shown
                self.shares_inodes |= directory == lower
                _bind(f"{directory}/{name}", target, is_file=True)
                continue
            _bind(shown, target, is_file=False)
            if shown == lower:
                continue
            for number, point in enumerate(inner):  # an overlay ends where something else is mounted in its layer
                is_file = not os.path.isdir(point)
                self.shares_inodes |= is_file
                source = point if is_file else self._overlay_of(point, f"{lower}.{number}")
                _bind(source, target + point[len(lower) :], is_file=is_file)

    def _overlay_of(self, lower: str, place: str) -> str:
        """Where an overlay of the directory is; the directory itself, if it cannot be a layer."""
        os.mkdir(place)
        # Files and directories shall be of one device, as the host's are: they are if both layers lie on one, or else
        # if the inodes' numbers have room for it (xino).
        for option in (",xino=on", ""):
            try:
                options = f"lowerdir={lower}:{_EMPTY}{option}"
                if not _SPECIAL.intersection(lower):
                    mounts.mount(b"overlay", os.fsencode(place), b"overlay", _OF_OVERLAYS, os.fsencode(options))
                    return place
            except OSError:
                continue
        self.shares_inodes = True
        return lower


def _bind(source: str, target: str, *, is_file: bool, devices: bool = False) -> None:
    _make_place(target, is_file=is_file)
    descriptor = mounts.clone_tree(source, devices=devices)
    try:
        mounts.attach_tree(descriptor, os.fsencode(_ROOT + target))
    finally:
        os.close(descriptor)


def _make_place(target: str, *, is_file: bool) -> None:
    inside = _ROOT + target
    if os.path.lexists(inside):
        return  # in an earlier tree
    if is_file:
        os.makedirs(os.path.dirname(inside), exist_ok=True)
        os.close(os.open(inside, os.O_CREAT | os.O_WRONLY, 0o644))
    else:
        os.makedirs(inside)


def _mounts_below(directory: str) -> list[str]:
    """In the order in which they were mounted."""
    points = [os.fsdecode(line.split(b" ", 5)[4]) for line in proc_files.lines("/proc/self/mountinfo")]
    points = [re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), point) for point in points]
    return [point for point in points if point.startswith(directory + "/")]
