"""What a node can do with the objects that training refers to."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.parameters import MOST_WORD, Bounds, Cursor, Id, Limit, OptionalWord
from harena.core.registry import NAME_PATTERN, VERSION_PATTERN, ObjectKind

if TYPE_CHECKING:
    from harena.core.records.objects import StoredObject, StoredObjectsPage


class RegistryOperations(Protocol):
    """The part of `Operations` that is about objects. An object is answered as

    {ref: "NAME@VERSION", kind, name, version, digest, files, bytes, described, created_at, organization}; `described`
    as in `harena.training.objects`.
    """

    async def push_object(
        self,
        kind: ObjectKind,
        name: Annotated[str, Bounds(pattern=NAME_PATTERN, max_length=MOST_WORD)],
        version: Annotated[str, Bounds(pattern=VERSION_PATTERN, max_length=MOST_WORD)],
        tree: AsyncIterable[bytes],
        *,
        digest: Annotated[str | None, Bounds(pattern="^[0-9a-f]{64}$", max_length=64)] = None,
    ) -> StoredObject:
        """Publish the tree in a tar stream; with `digest` only if that is the tree's. The same content gives the object
        that there is, other content is refused (409).

        Raises ValidationError, with the reason VERSION_TAKEN where the version is published with other content. All is
        checked before anything is kept."""

    async def get_object(self, kind: ObjectKind, ref: Id) -> StoredObject:
        """A version of your workspace, else one that was published to its organisation; and what was read of it.

        Raises NotFoundError. A bare NAME is the newest version (of X.Y.Z the highest)."""

    async def list_objects(
        self,
        kind: ObjectKind | None = None,
        *,
        name: OptionalWord = None,
        organization: bool = False,
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> StoredObjectsPage:
        """Every version, newest first, as {objects, next_cursor}; with `organization` those that were published to the
        organisation, by any workspace of it."""

    async def publish_object(self, kind: ObjectKind, ref: Id) -> StoredObject:
        """Show a version of your workspace to all workspaces of its organisation, and to no other one any more. One
        that was made of a path is refused, and one whose name another workspace has published there (409).

        Raises NotFoundError, and ValidationError with the reason VERSION_TAKEN where another workspace has published
        this name there (a model's and a checkpoint's are one)."""

    async def withdraw_object(self, kind: ObjectKind, ref: Id) -> StoredObject:
        """Show a version to its own workspace alone, from now on. Training jobs of others that were accepted before go
        on with its files.

        Raises NotFoundError."""

    async def delete_object(self, kind: ObjectKind, ref: Id) -> None:
        """Delete a version; 409 while a training job of your workspace that has not ended refers to it, or the
        organisation sees it.

        Raises NotFoundError, and ValidationError with the reason IN_USE, which lists the jobs. Its files are deleted,
        too, where nobody else has published the same; for jobs of other workspaces that were accepted with it they stay
        until these have ended, and count for those workspaces."""

    def pull_object(self, kind: ObjectKind, ref: Id) -> AsyncIterator[bytes]:
        """Its files as a tar stream.

        Raises NotFoundError before the first piece."""
