"""COPY, ADD and WORKDIR: which files, where they go in the image, and the layer that this makes.

A destination is resolved within the image: through its links, never through this machine's. Nothing here starts a
program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from harena.core.path_patterns import PathPatternError, PathRules, has_wildcards, wildcard
from harena.image_build.faults import DockerfileError, fault, shown
from harena.image_build.image_files import ImageFile, ImageFiles, ImagePathError
from harena.image_build.layer_tars import LayerTar
from harena.image_build.owners import UnknownOwnerError, owner_of
from harena.image_build.planning import CopyStep, FolderStep
from harena.image_build.source_trees import (
    FILE,
    FOLDER,
    LINK,
    MADE_AT,
    MOST_FILES,
    Node,
    SourceTree,
    TarTree,
    digest_of,
    find,
    search_budget,
)
from harena.image_build.unpacking import unpacked_tar
from harena.image_build.work_files import WorkFiles

_IMPLICIT_MODE = 0o755
Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One entry that is copied."""

    parts: Parts
    """below the destination; () = it is the destination itself"""
    node: Node
    tree: SourceTree


@dataclass(frozen=True, slots=True)
class Selection:
    """What a step copies."""

    items: Sequence[Item]
    into_folder: bool
    """the destination is a directory, whatever lies there"""
    archives: Sequence[Path] = ()
    """files that archives of ADD were unpacked to"""

    def digest(self) -> str:
        """Changes with names, kinds, modes, owners, links and contents; not with times. Reads every file. Raises
        OSError."""
        whole = hashlib.sha256()
        for item in self.items:
            node = item.node
            content = digest_of(item.tree, node) if node.kind == FILE else node.link
            owner = [node.user, node.group] if item.tree.keeps_owners else []
            whole.update(json.dumps([item.parts, node.kind, node.mode, owner, content]).encode())
        return whole.hexdigest()


def select(step: CopyStep, tree: SourceTree, where: str, work: WorkFiles) -> Selection:
    """The entries that a step copies. `where`: the tree, for people; `work`: what archives of ADD are unpacked to until
    the step is made. Raises DockerfileError, ValidationError, OSError."""
    try:
        rules = PathRules.of(step.excludes)
    except PathPatternError as error:
        raise _fault(step, f"--exclude: {error}", "Correct the pattern.") from None
    items: list[Item] = []
    archives: list[Path] = []
    into_folder = step.destination.endswith("/")
    for source in step.sources:
        for path, node in _find_sources(step, source, tree, where):
            if step.unpacks and node.kind == FILE and (file := unpacked_tar(tree, node, work)) is not None:
                archives.append(file)
                archive = TarTree.read(file, f"line {step.line}: the archive {path}", keeps_owners=True)
                archive.stop, archive.budget = tree.stop, tree.budget
                items += (Item(parts, one, archive) for parts, one in _below(archive, archive.root(), ()))
                into_folder = True
            elif node.kind == FOLDER:
                above = _parents(step, tree, path, whole=True)
                items += (Item(parts, one, tree) for parts, one in above)
                prefix = above[-1][0] if above else ()
                items += (
                    Item((*prefix, *parts), one, tree)
                    for parts, one in _below(tree, node, ())
                    if not rules.leaves_out("/".join(parts), tree.budget.spend)
                )
                into_folder = True
            elif not rules.leaves_out(path.rpartition("/")[2], tree.budget.spend):
                above = _parents(step, tree, path, whole=False)
                items += (Item(parts, one, tree) for parts, one in above)
                prefix = above[-1][0] if above else ()
                items.append(Item((*prefix, path.rpartition("/")[2]), node, tree))
                into_folder = into_folder or bool(above)
            if len(items) > 4 * MOST_FILES:
                raise _fault(step, f"it copies more than {4 * MOST_FILES} files", "Copy fewer.")
    inline = _InlineTree()
    for one in step.files:
        items.append(Item((one.name,), inline.add(one.name, one.content.encode("utf-8", "surrogateescape")), inline))
    return Selection(items, into_folder or len(step.sources) + len(step.files) > 1, archives)


def check_sources(step: CopyStep, tree: SourceTree) -> None:
    """Raises DockerfileError where the context has not what a step copies."""
    for source in step.sources:
        for _ in _find_sources(step, source, tree, "the context"):
            pass


def write_copy(step: CopyStep, selection: Selection, image: ImageFiles, layer: LayerTar) -> None:
    """Write the layer of a COPY or ADD. Raises DockerfileError, LayerTooLargeError, OSError."""
    owner = _owner(step, step.owner, image)
    writer = _Writer(step, image, layer, owner or (0, 0))
    try:
        target = image.find(step.destination)
    except ImagePathError as error:
        raise _fault(step, str(error), "Choose another destination.") from None
    is_folder = selection.into_folder or target.is_folder
    if is_folder and target.about is not None and not target.is_folder:
        raise _fault(step, f"{shown(step.destination)} is no directory of the image", "Choose another destination.")
    if is_folder:
        writer.folder(target.parts)
    else:
        writer.folder(target.parts[:-1])
    for item in selection.items:
        path = (*target.parts, *item.parts) if is_folder else target.parts
        node = item.node
        writer.entry(path, item, owner or (node.user, node.group), step.mode)


def write_folder(step: FolderStep, image: ImageFiles, layer: LayerTar) -> None:
    """Write the layer of a WORKDIR; it has no entries where the directory is there. Raises as `write_copy`."""
    try:
        target = image.find(step.path)
    except ImagePathError as error:
        raise _fault(step, str(error), "Choose another directory.") from None
    if target.is_folder:
        return
    if target.about is not None:
        raise _fault(step, f"{shown(step.path)} is no directory of the image", "Choose another directory.")
    owner = _owner(step, step.owner, image) or (0, 0)
    _Writer(step, image, layer, owner).folder(target.parts)


class _Writer:
    """Writes entries, each after the folders above it, which keep what the image says of them."""

    def __init__(self, step: CopyStep | FolderStep, image: ImageFiles, layer: LayerTar, owner: tuple[int, int]) -> None:
        self._step = step
        self._image = image
        self._layer = layer
        self._owner = owner
        self._folders: dict[Parts, ImageFile] = {(): image.root()}
        """folders that were written, and what the image has there"""
        self._others: set[Parts] = set()

    def folder(self, parts: Parts) -> None:
        """A directory as the image has it, or a new one."""
        if parts in self._folders:
            return
        self.folder(parts[:-1])
        there = self._there(parts)
        if there.about is not None:
            if not there.is_folder:
                self._refuse(parts)
            about = there.about
            self._layer.add(
                parts,
                FOLDER,
                mode=about.st_mode & 0o7777,
                owner=self._image.owner(about),
                modified=max(0, int(about.st_mtime)),
            )
        else:
            self._layer.add(parts, FOLDER, mode=_IMPLICIT_MODE, owner=self._owner, modified=MADE_AT)
        self._folders[parts] = there

    def entry(self, parts: Parts, item: Item, owner: tuple[int, int], mode: int | None) -> None:
        """One entry that is copied."""
        node = item.node
        if not parts:
            if node.kind != FOLDER:
                self._refuse(parts)
            return
        self.folder(parts[:-1])
        there = self._there(parts)
        if node.kind == FOLDER and (parts in self._others or (there.about is not None and not there.is_folder)):
            self._refuse(parts)
        if node.kind != FOLDER and (there.is_folder or parts in self._folders):
            raise _fault(
                self._step, f"{shown('/' + '/'.join(parts))} is a directory of the image, and the source is none",
                "Choose another destination, or remove the directory in a RUN before.",
            )  # fmt: skip
        if node.kind == FOLDER:
            self._folders[parts] = there
        else:
            self._others.add(parts)
        own = 0o777 if node.kind == LINK else node.mode if mode is None else mode
        self._layer.add(
            parts,
            node.kind,
            mode=own,
            owner=owner,
            modified=node.modified,
            size=node.size if node.kind == FILE else 0,
            link=node.link,
            content=item.tree.content(node) if node.kind == FILE else (),
        )

    def _there(self, parts: Parts) -> ImageFile:
        return self._image.child(self._folders[parts[:-1]], parts[-1])

    def _refuse(self, parts: Parts) -> None:
        raise _fault(
            self._step, f"{shown('/' + '/'.join(parts))} of the image is no directory, and a directory comes there",
            "A link is not replaced by a directory: copy to where it leads.",
        )  # fmt: skip


class _InlineTree:
    """Contents that stand in the Dockerfile."""

    keeps_owners = False

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}
        self.stop: Callable[[], bool] = lambda: False
        self.budget = search_budget()

    def add(self, name: str, content: bytes) -> Node:
        self._contents[name] = content
        return Node(name, FILE, 0o644, len(content))

    def root(self) -> Node:
        """An empty directory: these files are found by their contents alone."""
        return Node("", FOLDER, _IMPLICIT_MODE)

    def child(self, folder: Node, name: str) -> Node | None:
        """Find nothing: the directory is empty."""
        return None

    def children(self, folder: Node) -> Iterator[Node]:
        """List nothing: the directory is empty."""
        return iter(())

    def content(self, node: Node) -> Iterator[bytes]:
        """Give the whole content that the node's name stands for."""
        yield self._contents[node.name]


def _find_sources(step: CopyStep, source: str, tree: SourceTree, where: str) -> Iterator[tuple[str, Node]]:
    """What a source names: paths, and what they lead to."""
    path = "/".join(part for part in source.split("/") if part)
    pivot = "./" if step.keeps_parents and "/./" in source else ""
    if not has_wildcards(path):
        node = find(tree, path)
        if node is None:
            hidden = " (or .dockerignore leaves it out)" if step.from_ is None else ""
            raise _fault(step, f"{shown(source)} is not in {where}{hidden}", "Correct the path.")
        before, between, behind = path.partition("/./")
        yield (f"{before}/./{_normal(behind)}" if pivot and between else _normal(path)), node
        return
    parts = [part for part in path.split("/") if part != "."]
    plain = "/".join(takewhile(lambda part: not has_wildcards(part), parts))
    try:
        expressions = [wildcard(part) for part in parts[len(plain.split("/")) if plain else 0 :]]
    except PathPatternError as error:
        raise _fault(step, str(error), "Correct the pattern.") from None
    above = find(tree, plain)
    matched: list[tuple[Parts, Node]] = []
    if above is not None:
        matched.append((tuple(part for part in _normal(plain).split("/") if part), above))
    for expression in expressions:  # no link is followed between wildcards: what is walked has an end
        following: list[tuple[Parts, Node]] = []
        for names, node in matched:
            for child in tree.children(node) if node.kind == FOLDER else ():
                tree.budget.spend(expression.steps(child.name))
                if expression.matches(child.name):
                    following.append(((*names, child.name), child))
        matched = following
    if not matched:
        raise _fault(step, f"{shown(source)} matches nothing in {where}", "Correct the pattern.")
    for names, node in matched:
        target = find(tree, "/".join(names)) if node.kind == LINK else node
        if target is not None:
            yield "/".join(names), target


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _below(tree: SourceTree, folder: Node, parts: Parts) -> Iterator[tuple[Parts, Node]]:
    """Everything below a directory, each entry after the folder that it lies in."""
    waiting = [(parts, folder)]
    while waiting:
        above, now = waiting.pop()
        for child in tree.children(now):
            tree.budget.spend()
            yield (*above, child.name), child
            if child.kind == FOLDER:
                waiting.append(((*above, child.name), child))


def _parents(step: CopyStep, tree: SourceTree, path: str, *, whole: bool) -> list[tuple[Parts, Node]]:
    """With --parents, the folders above a source, and itself where it is one, below the destination."""
    if not step.keeps_parents:
        return []
    before, pivot, behind = path.partition("/./")
    kept = [part for part in _normal(behind if pivot else path).split("/") if part]
    prefix = [part for part in before.split("/") if part not in ("", ".")] if pivot else []
    found: list[tuple[Parts, Node]] = []
    for depth in range(1, len(kept) + (1 if whole else 0)):
        node = find(tree, "/".join([*prefix, *kept[:depth]]))
        if node is not None and node.kind == FOLDER:
            found.append((tuple(kept[:depth]), node))
    return found


def _owner(step: CopyStep | FolderStep, written: str, image: ImageFiles) -> tuple[int, int] | None:
    if not written:
        return None
    try:
        return owner_of(written, image)
    except UnknownOwnerError as error:
        raise _fault(step, str(error), "Use a number, or make the user in a RUN before.") from None


def _fault(step: CopyStep | FolderStep, why: str, what_to_do: str) -> DockerfileError:
    return fault(step.line, step.text.split(maxsplit=1)[0], why, what_to_do)
