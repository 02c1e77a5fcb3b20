"""What training refers to: objects with versions, kept in a workspace. Words and ports.

    kind        what it is                                                        version
    capability  a directory with capability.yaml: the scaffold of a policy        X.Y.Z
    task        a directory with task.yaml: an instruction, and what verifies it  X.Y.Z
    dataset     rows to learn from: a file, or a directory of files               any word
    model       a Hugging Face directory                                          any word
    checkpoint  the same, or an adapter, that training made                       any word

A version never changes: pushing the same again changes nothing, pushing something else under its name is an
error. It can be deleted, while no training job of its workspace that has not ended refers to it. What is kept is a tree
of files, known by its digest (`harena.core.file_trees`). Its own workspace sees it alone, until it is published to the
organisation that this belongs to: then all workspaces of the organisation do. A name means a workspace's own object
where it has one, and else its organisation's.

What other workspaces do with a published version binds its owner to nothing: it is withdrawn, published elsewhere and
deleted at any time, and counts for its owner until then. Jobs of others that were accepted before go on with its files,
which from its deletion to their end count for their own workspaces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from harena.core.errors import ValidationError

if TYPE_CHECKING:
    from harena.core.pages import PageRows

ObjectKind = Literal["capability", "task", "dataset", "model", "checkpoint"]
KINDS: tuple[ObjectKind, ...] = ("capability", "task", "dataset", "model", "checkpoint")
MOST_CHARACTERS = 128
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
VERSION_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$"
SEMANTIC_PATTERN = r"^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})$"
SEMANTIC: tuple[ObjectKind, ...] = ("capability", "task")
"""kinds whose versions are X.Y.Z"""
IN_USE = "IN_USE"
"""reason of an error: jobs that have not ended refer to this version"""
VERSION_TAKEN = "VERSION_TAKEN"
"""reason of an error: this version is published with other content"""
MODELS: tuple[ObjectKind, ObjectKind] = ("model", "checkpoint")
"""kinds that the name of a model can be of"""
Among = Literal["own", "published"]
EVERYWHERE: tuple[Among, Among] = ("own", "published")
"""where an object is looked for: its workspace's own come first"""


def checked_kind(kind: object) -> ObjectKind:
    """Raises ValidationError."""
    for known in KINDS:
        if kind == known:
            return known
    raise ValidationError(f"{kind!r:.80} is no kind of object; there are {', '.join(KINDS)}")


def checked_version(kind: ObjectKind, name: object, version: object) -> tuple[str, str]:
    """(name, version) to publish under. Raises ValidationError that lists what is wrong with either."""
    mistakes = []
    if not isinstance(name, str) or not re.fullmatch(NAME_PATTERN, name):
        mistakes.append(
            f"name: 1 to {MOST_CHARACTERS} letters, digits, '.', '_' and '-', the first a letter or a digit "
            f"(got {name!r:.80})"
        )
    pattern, like = VERSION_PATTERN, f"1 to {MOST_CHARACTERS} letters, digits, '.', '_', '+' and '-'"
    if kind in SEMANTIC:
        pattern, like = SEMANTIC_PATTERN, "three numbers, as 1.0.0"
    if not isinstance(version, str) or not re.fullmatch(pattern, version):
        mistakes.append(f"version: {like} (got {version!r:.80})")
    if mistakes:
        raise ValidationError("\n  ".join([f"this {kind} cannot be published:", *mistakes]))
    return str(name), str(version)


def parse_object_ref(ref: object) -> tuple[str, str | None]:
    """(name, version or None) of `NAME` or `NAME@VERSION`. Raises ValidationError."""
    if isinstance(ref, str):
        name, at, version = ref.partition("@")
        if re.fullmatch(NAME_PATTERN, name) and (not at or re.fullmatch(VERSION_PATTERN, version)):
            return name, version if at else None
    raise ValidationError(f"{ref!r:.200} names no object: write NAME or NAME@VERSION")


def version_order(version: str) -> tuple[tuple[int, ...], str]:
    """Sorts versions X.Y.Z as numbers, before them all others as words."""
    numbers = tuple(map(int, version.split("."))) if re.fullmatch(SEMANTIC_PATTERN, version) else ()
    return numbers, version


StoredDescription = Mapping[str, Any]
"""what was read of an object when it was published, as JSON of its kind's record in `harena.core.records.objects`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewObject:
    """A version of an object as it is published."""

    workspace: str
    kind: ObjectKind
    name: str
    version: str
    digest: str
    """digest of its tree of files"""
    files: int
    bytes: int
    folders: int
    """each counts as a block; 0 for what was published before they were counted"""
    described: StoredDescription
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectVersion(NewObject):
    """A version of an object as it is stored. It never changes."""

    sequence: int
    """its place in lists, newest last"""
    organization: str | None = None
    """the organisation whose workspaces see it; None = its own workspace alone does"""

    @property
    def ref(self) -> str:
        """NAME@VERSION."""
        return f"{self.name}@{self.version}"


class RegistryStorePort(Protocol):
    """The objects' rows in one store. Every method is one transaction; all raise PlatformError. With `published`, what
    is meant is what was published to the organisation of the workspace, by whichever workspace of it."""

    async def add(self, new: NewObject) -> ObjectVersion:
        """The version, which is new; or the one that there is of the same workspace, kind, name and version."""

    async def find(
        self, workspace: str, kind: ObjectKind, name: str, version: str, *, published: bool = False
    ) -> ObjectVersion | None:
        """This version."""

    async def versions(self, workspace: str, kind: ObjectKind, name: str, *, published: bool = False) -> list[str]:
        """All of a name, newest first; what is said of them can be large, and is not read."""

    async def usage(self, workspace: str) -> tuple[int, int]:
        """How many versions of objects it has, and their bytes, each file with a block more; with what is kept for its
        jobs of others that were deleted."""

    async def remove(self, workspace: str, kind: ObjectKind, name: str, version: str) -> tuple[str, ...]:
        """The workspace's training jobs that have not ended and refer to it; it is removed where there are none. Then
        its files are kept for the jobs of others that have not ended and refer to it, each by the workspace whose job
        it is."""

    async def release(self, workspace: str | None = None) -> Sequence[str]:
        """Forget what is kept for jobs that have ended by now, of one workspace or of all, and give the digests."""

    async def publish(self, workspace: str, kind: ObjectKind, name: str, version: str) -> ObjectVersion | None:
        """The workspace's version, which its organisation sees from now on, and no other one. None = the workspace has
        no such version, or another workspace has published some version of this name to the organisation."""

    async def withdraw(self, workspace: str, kind: ObjectKind, name: str, version: str) -> None:
        """From now on its own workspace alone sees it."""

    async def organization(self, workspace: str) -> str:
        """The organisation that the workspace belongs to."""

    async def has_tree(self, digest: str) -> bool:
        """Whether an object of any workspace has these files."""

    async def page(
        self,
        workspace: str,
        *,
        kind: ObjectKind | None,
        name: str | None,
        before: int | None,
        limit: int,
        published: bool = False,
    ) -> PageRows[ObjectVersion]:
        """One page, newest first, those before a sequence only."""
