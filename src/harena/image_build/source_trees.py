"""Trees that COPY takes files from: the context as it was sent (a tar file that is never unpacked), and images.

Links are followed within a tree only. A tar file comes from elsewhere: names that climb, devices and more files than
may be are refused while it is indexed, before any step.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

from harena.core.errors import ValidationError
from harena.core.path_patterns import PathRules
from harena.core.tar_reader import TarMember, TarReader, TarStreamError
from harena.image_build.image_files import MOST_LINKS, ImageFile, ImageFiles

MOST_FILES = 200_000
"""files, links and directories of a context"""
MOST_DEPTH = 256
MOST_NAME_BYTES = 64 * 1024 * 1024
"""bytes of all names together"""
MOST_PATH_BYTES = 4096
"""bytes of the name of one file, and of where a link leads: the kernel opens no longer ones"""
_MOST_COMPARED = 40_000_000
"""steps of comparing names with patterns: some 20 seconds of processor time"""
_MOST_SEARCHED = 20_000_000
"""names that are looked at, and steps of comparing them, for all that one build copies"""
_NODE_BYTES = 512
"""memory of an entry in an index, without its name"""
_PIECE_BYTES = 1024 * 1024
IGNORE = ".dockerignore"
FILE, FOLDER, LINK = "file", "folder", "link"
MADE_AT = 315_532_800
"""1980-01-01: the time of all files of a context, so that the same content gives the same layer; zip has none before"""


@dataclass(slots=True, eq=False)
class Node:
    """One entry of a tree."""

    name: str
    kind: str
    mode: int
    size: int = 0
    link: str = ""
    user: int = 0
    group: int = 0
    modified: int = MADE_AT
    offset: int = 0
    """where the content begins in a tar file"""
    children: dict[str, Node] = field(default_factory=dict)
    image: ImageFile | None = None
    """what it is in an image"""


class StoppedError(Exception):
    """Nobody waits for the build any more."""


class Budget:
    """Steps that a search may take, all patterns and files together. Used from one thread."""

    def __init__(self, most: int, what: str) -> None:
        """`what`: the search, for people."""
        self._left = most
        self._what = what
        self.stop: Callable[[], bool] = _never
        """whether nobody waits any more"""

    def spend(self, steps: int = 1) -> None:
        """Take so many steps. Raises ValidationError, StoppedError."""
        self._left -= steps
        if self._left < 0:
            raise ValidationError(
                f"{self._what} takes too long: have fewer files or fewer patterns", reason="CONTEXT_TOO_LARGE"
            )
        if self.stop():
            raise StoppedError


def ignoring_budget() -> Budget:
    """A budget for what the rules of one context leave out."""
    return Budget(_MOST_COMPARED, "comparing the context with .dockerignore")


def search_budget() -> Budget:
    """A budget for all that one build looks for."""
    return Budget(_MOST_SEARCHED, "looking for what is copied")


class SourceTree(Protocol):
    """Blocking; used from one thread at a time."""

    keeps_owners: bool
    """files come with their own owners and times"""
    stop: Callable[[], bool]
    """whether nobody waits any more: then reading raises StoppedError"""
    budget: Budget
    """for what is looked for in it"""

    def root(self) -> Node:
        """The directory that all paths begin at."""

    def child(self, folder: Node, name: str) -> Node | None:
        """What a directory has under a name."""

    def children(self, folder: Node) -> Iterator[Node]:
        """What a directory holds, by its names."""

    def content(self, node: Node) -> Iterator[bytes]:
        """What a file holds. Raises OSError."""


def find(tree: SourceTree, path: str) -> Node | None:
    """What lies at a path of a tree, links followed within it; None = nothing."""
    waiting = [part for part in reversed(path.split("/")) if part not in ("", ".")]
    trail = [tree.root()]
    links = 0
    while waiting:
        tree.budget.spend()
        part = waiting.pop()
        if part == "..":
            if len(trail) > 1:
                trail.pop()
            continue
        found = tree.child(trail[-1], part) if trail[-1].kind == FOLDER else None
        if found is None:
            return None
        if found.kind == LINK:
            links += 1
            if links > MOST_LINKS:
                return None
            if found.link.startswith("/"):
                trail = trail[:1]
            waiting += [one for one in reversed(found.link.split("/")) if one not in ("", ".")]
            continue
        trail.append(found)
    return trail[-1]


def digest_of(tree: SourceTree, node: Node) -> str:
    """sha256 of a file's content, in hexadecimal digits. Raises OSError."""
    made = hashlib.sha256()
    for piece in tree.content(node):
        made.update(piece)
    return made.hexdigest()


class TarTree:
    """A tar file as a tree."""

    def __init__(self, file: Path, *, keeps_owners: bool) -> None:
        self.keeps_owners = keeps_owners
        self._file = file
        self._root = Node("", FOLDER, 0o755)
        self._entries = self._names = 0
        self.stop: Callable[[], bool] = _never
        self.budget = search_budget()

    @classmethod
    def read(cls, file: Path, what: str, *, rules: PathRules | None = None, keeps_owners: bool = False) -> Self:
        """Index a tar file; what `rules` leave out is not there. `what`: the file, for people. Raises ValidationError,
        OSError."""
        tree = cls(file, keeps_owners=keeps_owners)
        budget = Budget(_MOST_COMPARED, f"comparing the names of {what} with {IGNORE}")
        with file.open("rb") as stream:
            try:
                for member in TarReader(stream):
                    tree._count(len(member.name) + len(member.link), what)
                    tree._add(member, stream.tell(), what, rules, budget)
            except TarStreamError as error:
                raise ValidationError(f"{what} is no whole tar archive: {error}", reason="CONTEXT") from None
        return tree

    @property
    def memory_bytes(self) -> int:
        """Memory that the index takes at most."""
        return _NODE_BYTES * self._entries + 4 * self._names

    def root(self) -> Node:
        """The archive's top directory."""
        return self._root

    def child(self, folder: Node, name: str) -> Node | None:
        """Find an entry of a directory by its name."""
        return folder.children.get(name)

    def children(self, folder: Node) -> Iterator[Node]:
        """List a directory's entries by name."""
        for name in sorted(folder.children):
            yield folder.children[name]

    def content(self, node: Node) -> Iterator[bytes]:
        """Read a file's bytes out of the archive, piece by piece. Raises StoppedError."""
        with self._file.open("rb") as file:
            file.seek(node.offset)
            left = node.size
            while left and (piece := file.read(min(left, _PIECE_BYTES))):
                left -= len(piece)
                yield piece
                if self.stop():
                    raise StoppedError

    def _count(self, names: int, what: str) -> None:
        """One more entry, or a folder that the name of one implies, with so many bytes of names."""
        self._entries += 1
        self._names += names
        if self._entries > MOST_FILES or self._names > MOST_NAME_BYTES:
            raise ValidationError(
                f"{what} has more than {MOST_FILES} files and directories, or {MOST_NAME_BYTES} bytes of names: "
                "leave some out (.dockerignore)",
                reason="CONTEXT_TOO_LARGE",
            )

    def _add(self, member: TarMember, offset: int, what: str, rules: PathRules | None, budget: Budget) -> None:
        parts = _parts(member.name, what)
        if not parts:
            return
        if not (member.is_file or member.is_folder or member.is_symlink or member.is_hard_link):
            if rules is not None and rules.leaves_out("/".join(parts), budget.spend):
                return
            raise ValidationError(
                f"{what}: {member.name!r:.200} is neither a file, a directory nor a link: leave it out",
                reason="CONTEXT",
            )
        if rules is not None and rules.leaves_out("/".join(parts), budget.spend):
            return
        folder = self._folder(parts[:-1], what)
        name = parts[-1]
        there = folder.children.get(name)
        if member.is_folder and there is not None and there.kind == FOLDER:
            there.mode = member.mode
            return
        node = Node(name, FILE, member.mode, member.size, offset=offset)
        if member.is_folder:
            node.kind = FOLDER
        elif member.is_symlink:
            if not member.link or "\0" in member.link or len(member.link) > MOST_PATH_BYTES:
                raise ValidationError(f"{what}: the link {member.name!r:.200} leads nowhere", reason="CONTEXT")
            node.kind, node.link = LINK, member.link
        elif member.is_hard_link:
            target = self._at(_parts(member.link, what))
            if target is None or target.kind == FOLDER:
                raise ValidationError(
                    f"{what}: {member.name!r:.200} is a hard link to {member.link!r:.200}, which is no file before it",
                    reason="CONTEXT",
                )
            node.kind, node.link, node.mode = target.kind, target.link, target.mode
            node.size, node.offset = target.size, target.offset
        if self.keeps_owners:
            node.user, node.group, node.modified = member.user, member.group, member.modified
        folder.children[name] = node

    def _folder(self, parts: list[str], what: str) -> Node:
        now = self._root
        for part in parts:
            following = now.children.get(part)
            if following is None:
                self._count(0, what)
                following = now.children[part] = Node(part, FOLDER, 0o755)
            elif following.kind != FOLDER:
                raise ValidationError(
                    f"{what}: {'/'.join(parts)!r:.200} leads through what is no directory", reason="CONTEXT"
                )
            now = following
        return now

    def _at(self, parts: list[str]) -> Node | None:
        now: Node | None = self._root
        for part in parts:
            now = now.children.get(part) if now is not None else None
        return now


class ImageTree:
    """An image as a tree."""

    keeps_owners = True

    def __init__(self, files: ImageFiles) -> None:
        self._files = files
        self.stop: Callable[[], bool] = _never
        self.budget = search_budget()

    def root(self) -> Node:
        """The image's top directory."""
        return self._node(self._files.root()) or Node("", FOLDER, 0o755)

    def child(self, folder: Node, name: str) -> Node | None:
        """Find an entry of a directory by its name, in all layers together."""
        return self._node(self._files.child(folder.image, name)) if folder.image is not None else None

    def children(self, folder: Node) -> Iterator[Node]:
        """List a directory's entries, in all layers together. Raises StoppedError."""
        if folder.image is not None:
            for found in self._files.children(folder.image):
                if self.stop():
                    raise StoppedError
                node = self._node(found)
                if node is not None:
                    yield node

    def content(self, node: Node) -> Iterator[bytes]:
        """Read a file's bytes from its layer, piece by piece. Raises StoppedError."""
        assert node.image is not None
        with open(node.image.place, "rb") as file:
            left = node.size
            while left and (piece := file.read(min(left, _PIECE_BYTES))):
                left -= len(piece)
                yield piece
                if self.stop():
                    raise StoppedError

    def _node(self, found: ImageFile) -> Node | None:
        about = found.about
        if about is None:
            return None
        name = found.parts[-1] if found.parts else ""
        user, group = self._files.owner(about)
        node = Node(name, FILE, stat.S_IMODE(about.st_mode), image=found, user=user, group=group)
        node.modified = max(0, int(about.st_mtime))
        if found.is_folder:
            node.kind = FOLDER
        elif found.is_link:
            node.kind, node.link = LINK, os.readlink(found.place)
        elif stat.S_ISREG(about.st_mode):
            node.size = about.st_size
        else:
            return None  # a FIFO: nothing that is copied
        return node


def _never() -> bool:
    return False


def _parts(name: str, what: str) -> list[str]:
    if name.startswith("/") or "\0" in name:
        raise ValidationError(f"{what}: {name!r:.200} is a name that could lie outside of it", reason="CONTEXT")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValidationError(f"{what}: {name!r:.200} is a name that could lie outside of it", reason="CONTEXT")
    if len(name) > MOST_PATH_BYTES or len(parts) > MOST_DEPTH or any(len(part) > 255 for part in parts):
        raise ValidationError(f"{what}: {name!r:.200} lies too deep, or has a part that is too long", reason="CONTEXT")
    return parts
