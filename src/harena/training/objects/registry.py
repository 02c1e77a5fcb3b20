"""The objects that training refers to: published, found, listed and pulled. Their files lie in this node's data folder,
each tree under its digest; what is said of them is in the store.

    objects/trees/<2 digits>/<digest>/...   never changed, and shared by all that have the same content
    objects/locks/<2 digits>                see `harena.training.objects.tree_locks`
    objects/incoming/<process>/...          what is being received; of a process that was killed, removed by the next
                                            start, or the next push
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import threading
import uuid
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING
from weakref import WeakValueDictionary

from harena.core.clock import Clock
from harena.core.errors import LimitExceededError, NotFoundError, PlatformError, ValidationError
from harena.core.file_trees import MOST_BYTES, TOO_LARGE, Tree, files_of, pack_files, remove_tree, tree_of, unpack
from harena.core.home import private_folder, private_opener
from harena.core.records.objects import Description, StoredObject, StoredObjectsPage, description_of
from harena.core.registry import (
    EVERYWHERE,
    IN_USE,
    SEMANTIC,
    VERSION_TAKEN,
    Among,
    NewObject,
    ObjectKind,
    ObjectVersion,
    RegistryStorePort,
    checked_kind,
    checked_version,
    parse_object_ref,
    version_order,
)
from harena.core.spool import LOCKED, held_folder, let_go, remove_left
from harena.core.threads import NODE, OBJECTS
from harena.core.training_sources import CONTENT_PREFIX
from harena.core.workspace import CheckRoom, LimitsOf
from harena.training.objects.tree_locks import TreeLocks

if TYPE_CHECKING:
    from harena.training.requests.references import ResolvedReferences
    from harena.training.requests.request import RLRequest, SFTRequest
    from harena.training.requests.stored_references import FindJobModel, FindWorld
    from harena.training.requests.stored_scorings import StoredVersions

MAX_PAGE = 500
MOST_USERS_TOLD = 5
LEFT_OVER_SECONDS = 24 * 3600
_log = logging.getLogger("harena.node")


class Registry:
    """The objects of one node's store. Every verb is about one workspace's. Used from one event loop."""

    def __init__(
        self,
        store: Callable[[], Awaitable[RegistryStorePort]],
        folder: Path,
        clock: Clock,
        *,
        most_bytes: int = MOST_BYTES,
        limits_of: LimitsOf | None = None,
        check_room: CheckRoom | None = None,
    ) -> None:
        """`folder` need not be there yet; `most_bytes` of one object. `limits_of`: what a workspace may use; None =
        everything. `check_room` is asked before a version is published; None = there is always room."""
        self._check_room = check_room
        self._store = store
        self._folder = folder
        self._clock = clock
        self._most_bytes = most_bytes
        self._limits_of = limits_of
        self._incoming = folder / "incoming"
        self._locks = TreeLocks(folder / "locks", clock)
        self._adding: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by workspace
        self._arriving = _Arriving()

    async def push(
        self,
        workspace: str,
        kind: ObjectKind,
        name: str,
        version: str,
        tree: AsyncIterable[bytes],
        *,
        digest: str | None = None,
    ) -> StoredObject:
        """Receive an archive and publish it as one version of a name. Raises ValidationError, LimitExceededError where
        it is refused; nothing of it is kept then."""
        checked_version(checked_kind(kind), name, version)
        arrival = _Upload(workspace, self._arriving)
        try:
            async with self._kept_apart(arrival) as incoming:
                await self._receive(arrival, tree, incoming / "tree.tar")
                return await self._publish(arrival, kind, name, version, incoming, digest)
        except OSError as error:
            raise PlatformError(
                f"{self._folder} cannot keep {kind} {name}@{version}: {error.strerror or error}; make room there, or "
                "set HARENA_HOME to a directory that you can write to",
                step="registry",
            ) from error

    @asynccontextmanager
    async def _kept_apart(self, arrival: _Upload) -> AsyncIterator[Path]:
        """A folder within the block that is this process's, for what arrives; it counts until it is removed."""
        making = asyncio.ensure_future(OBJECTS.run(self._folder_of_push))
        try:
            place = await asyncio.shield(making)
        except asyncio.CancelledError:  # the thread goes on
            making.add_done_callback(self._give_up)
            raise
        try:
            yield place
        finally:
            arrival.ended = True
            try:
                arrival.stays = not await OBJECTS.run(_removed, place)
            finally:
                arrival.end()
                await NODE.run_for("", lambda: let_go(self._incoming))

    async def close(self) -> None:
        """The process that reads objects ends, and what is being published or removed is."""
        from harena.training.reading.client import end_host

        await self._locks.close()
        await OBJECTS.run(end_host)

    async def delete(self, workspace: str, kind: ObjectKind, ref: str) -> None:
        """Remove one version, and its files where no other version has the same content. Raises NotFoundError, and
        ValidationError where a training job of the workspace that has not ended uses it, and for one that the
        organisation sees: whoever may write may not take it from others. Jobs of other workspaces keep its files until
        they have ended, and that counts for these."""
        name, version = _one_version(ref)
        store = await self._store()
        row = await store.find(workspace, checked_kind(kind), name, version)
        if row is None:
            raise _missing(kind, ref)
        if row.organization is not None:
            raise ValidationError(
                f"{kind} {ref} is published to the organisation {row.organization}: withdraw it first, with a key that "
                "has the scope `publish`",
                reason=IN_USE,
            )
        if users := await store.remove(workspace, kind, name, version):
            raise _used(kind, ref, users)
        await self._drop_tree(store, row.digest)
        await self.release()

    async def release(self, workspace: str | None = None) -> None:
        """Remove the files of deleted versions that were kept for jobs which have ended by now, of a workspace or of
        all. Raises PlatformError."""
        store = await self._store()
        for digest in await store.release(workspace):
            await self._drop_tree(store, digest)

    async def publish(self, workspace: str, kind: ObjectKind, ref: str) -> StoredObject:
        """Show one version to the workspaces of the organisation, and to no other one any more. Raises NotFoundError,
        and ValidationError where another workspace has published this name there, and for a version that is named by
        its content."""
        name, version = _one_version(ref)
        store = await self._store()
        if await store.find(workspace, checked_kind(kind), name, version) is None:
            raise _missing(kind, ref)
        if version.startswith(CONTENT_PREFIX):  # a job believes that such a name says what it is
            raise ValidationError(
                f"{kind} {ref} was made of a path, for jobs of this workspace: push it under a version of its own, and "
                "publish that"
            )
        made = await store.publish(workspace, kind, name, version)
        if made is None:
            raise ValidationError(
                f"another workspace of the organisation has published the name {name!r} of {kind} {ref}, which means "
                "the same for all: publish it under another name",
                reason=VERSION_TAKEN,
            )
        return object_answer(made)

    async def withdraw(self, workspace: str, kind: ObjectKind, ref: str) -> StoredObject:
        """Show one version to its own workspace alone, from now on: jobs of others that were accepted before go on with
        its files. Raises NotFoundError."""
        name, version = _one_version(ref)
        store = await self._store()
        await store.withdraw(workspace, checked_kind(kind), name, version)
        row = await store.find(workspace, kind, name, version)
        if row is None:
            raise _missing(kind, ref)
        return object_answer(row)

    async def organization(self, workspace: str) -> str:
        """The organisation that a workspace belongs to."""
        return await (await self._store()).organization(workspace)

    async def _drop_tree(self, store: RegistryStorePort, digest: str) -> None:
        """Remove files that no object has any more."""

        async def put_aside() -> Path | None:
            return None if await store.has_tree(digest) else await NODE.run_for("", lambda: self._put_aside(digest))

        if (aside := await self._locks.hold(digest, put_aside)) is not None:
            try:
                await OBJECTS.run(_removed, aside)
            finally:
                await NODE.run_for("", lambda: let_go(self._incoming))

    def _put_aside(self, digest: str) -> Path | None:
        """Where a tree lies now, in this process's folder; None = somebody else has removed it."""
        aside = held_folder(self._incoming) / uuid.uuid4().hex
        try:
            return self.place(digest).rename(aside)
        except OSError:
            let_go(self._incoming)
            return None

    async def get(self, workspace: str, kind: ObjectKind, ref: str) -> StoredObject:
        """Look a version up, the newest where the reference names none. Raises NotFoundError."""
        return object_answer(await self.find(workspace, checked_kind(kind), ref))

    async def list(
        self,
        workspace: str,
        kind: ObjectKind | None = None,
        *,
        name: str | None = None,
        organization: bool = False,
        cursor: int | None = None,
        limit: int = 100,
    ) -> StoredObjectsPage:
        """Read one page of the workspace's objects, or of those that were published to its organisation. Raises
        ValidationError for a limit out of range."""
        if not 1 <= limit <= MAX_PAGE:
            raise ValidationError(f"limit must be from 1 to {MAX_PAGE} (got {limit})")
        wanted = None if kind is None else checked_kind(kind)
        store = await self._store()
        page = await store.page(workspace, kind=wanted, name=name, before=cursor, limit=limit, published=organization)
        return StoredObjectsPage(
            objects=[object_answer(row) for row in page],
            next_cursor=page[-1].sequence if page.more else None,
        )

    async def pull(self, workspace: str, kind: ObjectKind, ref: str) -> AsyncGenerator[bytes, None]:
        """Pack an object's files into an archive, piece by piece. Raises NotFoundError."""
        row = await self.find(workspace, checked_kind(kind), ref)
        files = await OBJECTS.run(files_of, self.place(row.digest))
        pieces = pack_files(files)
        while piece := await OBJECTS.run(_next_pieces, pieces):
            yield piece

    async def find(
        self, workspace: str, kind: ObjectKind, ref: str, *, among: Sequence[Among] = EVERYWHERE
    ) -> ObjectVersion:
        """The stored version that a reference names: the workspace's own, else one that was published to its
        organisation. Raises NotFoundError, ValidationError (it is no reference), PlatformError where its files are
        gone."""
        name, version = parse_object_ref(ref)
        store = await self._store()
        for place in among:
            published = place == "published"
            wanted = version
            if wanted is None:
                versions = await store.versions(workspace, kind, name, published=published)
                newest = max(versions, key=version_order, default=None) if kind in SEMANTIC else None
                wanted = newest or next(iter(versions), None)
            row = None if wanted is None else await store.find(workspace, kind, name, wanted, published=published)
            if row is not None:
                break
        else:
            raise _missing(kind, ref)
        if not await OBJECTS.run(self.place(row.digest).is_dir):
            raise PlatformError(
                f"the files of {kind} {ref} are not in {self._folder}: this node shares its database with another "
                "one, or they were removed; push it again",
                step="registry",
            )
        return row

    async def resolve(
        self,
        workspace: str,
        request: SFTRequest | RLRequest,
        reader: StoredVersions,
        find_world: FindWorld,
        find_job_model: FindJobModel,
    ) -> ResolvedReferences:
        """Everything that a request for training refers to; `reader` looks up what is stored as scenarios, `find_world`
        worlds, `find_job_model` what jobs have learned. Raises NotFoundError or ValidationError with a line for each
        reference that is missing or does not fit."""
        from harena.training.requests.stored_references import References

        return await References(self, workspace, reader, find_world, find_job_model).resolve(request)

    def place(self, digest: str) -> Path:
        """The directory of a tree."""
        return self._folder / "trees" / digest[:2] / digest

    async def _receive(self, arrival: _Upload, tree: AsyncIterable[bytes], target: Path) -> None:
        # what a tar stream has beside the files: a header and padding each, names that are long
        most = self._most_bytes + self._most_bytes // 8 + 64 * 1024 * 1024
        room = await self._room(arrival.workspace)
        with await OBJECTS.run(_opened_privately, target) as out:
            async for piece in tree:
                arrival.charge(len(piece), room)
                if arrival.bytes > most:
                    raise ValidationError(f"the object is larger than {self._most_bytes} bytes", reason=TOO_LARGE)
                await OBJECTS.run(out.write, piece)

    async def _room(self, workspace: str) -> float:
        """Bytes that it may still send. Raises LimitExceededError."""
        if self._limits_of is None:
            return math.inf
        await self.release(workspace)
        limits = await self._limits_of(workspace)
        count, size = await (await self._store()).usage(workspace)
        if count >= limits.objects:
            raise _no_room(f"{limits.objects} objects", "objects")
        if size >= limits.object_bytes:
            raise _no_room(f"{limits.object_bytes} bytes", "object_bytes")
        return limits.object_bytes - size

    async def _publish(
        self, arrival: _Upload, kind: ObjectKind, name: str, version: str, incoming: Path, digest: str | None
    ) -> StoredObject:
        workspace, folder = arrival.workspace, incoming / "tree"
        await self.release(workspace)
        charge = partial(arrival.charge, room=await self._room(workspace))
        made = await OBJECTS.run(self._unpacked, incoming / "tree.tar", folder, charge)
        if digest is not None and digest != made.digest:
            raise ValidationError(
                f"{kind} {name}@{version} did not arrive as it was sent: its digest is {made.digest}, and {digest} was "
                "announced; send it again"
            )
        store = await self._store()
        there = await store.find(workspace, kind, name, version)
        if there is None:
            described = await OBJECTS.run(_described, kind, name, version, folder)
            new = NewObject(
                workspace=workspace,
                kind=kind,
                name=name,
                version=version,
                digest=made.digest,
                files=made.files,
                bytes=made.bytes,
                folders=made.folders,
                described=described.to_dict(),
                created_at=self._clock.utcnow().isoformat(),
            )
            if self._check_room is not None:
                await self._check_room(workspace, len(json.dumps(new.described)))
            async with self._adding.setdefault(workspace, asyncio.Lock()):  # waits for its own threads
                if await self._room(workspace) < made.disk_bytes:
                    raise _no_room("bytes", "object_bytes")

                async def add() -> ObjectVersion:
                    await NODE.run_for("", lambda: self._keep(folder, made.digest))
                    return await store.add(new)  # the other's, where somebody else published it in this moment

                there = await self._locks.hold(made.digest, add)
        elif there.digest == made.digest and not await OBJECTS.run(self.place(made.digest).is_dir):

            async def mend() -> None:
                if await store.has_tree(made.digest):
                    await NODE.run_for("", lambda: self._keep(folder, made.digest))

            await self._locks.hold(made.digest, mend)
        if there.digest != made.digest:
            raise ValidationError(
                f"{kind} {name}@{version} is published with other content (sha256 {there.digest[:16]}, this is "
                f"{made.digest[:16]}), and a version never changes: publish it as another version",
                reason=VERSION_TAKEN,
            )
        return object_answer(there)

    def _unpacked(self, source: Path, folder: Path, charge: Callable[[int], None]) -> Tree:
        with source.open("rb") as stream:
            unpack(stream, folder, most_bytes=self._most_bytes, private=True, charge=charge)
        return tree_of(files_of(folder))

    def _keep(self, folder: Path, digest: str) -> None:
        target = self.place(digest)
        if target.is_dir():
            return
        private_folder(self._folder)
        private_folder(target.parent)
        try:
            folder.rename(target)
        except OSError:
            if not target.is_dir():  # else somebody else was faster, with the same content
                raise

    def _give_up(self, making: asyncio.Future[Path]) -> None:
        """Remove the folder of a push that was given up while it was made."""
        if not making.cancelled() and making.exception() is None:
            with contextlib.suppress(OSError):  # the next start does
                making.result().rmdir()
            let_go(self._incoming)

    def _folder_of_push(self) -> Path:
        private_folder(self._folder)
        private_folder(self._incoming)
        remove_left(self._incoming)
        oldest = self._clock.utcnow().timestamp() - LEFT_OVER_SECONDS
        for entry in self._incoming.iterdir():  # earlier versions had no folders of processes
            with contextlib.suppress(FileNotFoundError):  # its owner was done with it in this moment
                if not entry.name.startswith(LOCKED) and entry.stat().st_mtime < oldest:
                    _removed(entry)
        place = held_folder(self._incoming) / uuid.uuid4().hex
        try:
            private_folder(place)
        except BaseException:
            let_go(self._incoming)
            raise
        return place


class _Arriving:
    """What workspaces send at this moment, and what of it could not be removed afterwards. Used from any thread."""

    def __init__(self) -> None:
        self._bytes: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, workspace: str, size: int) -> int:
        """Count so many bytes more (or, below 0, less) on the disk for a workspace; how many these are now."""
        with self._lock:
            self._bytes[workspace] += size
            total = self._bytes[workspace]
            if not total:
                del self._bytes[workspace]
            return total

    @property
    def workspaces(self) -> Mapping[str, int]:
        """How many bytes of each workspace lie there."""
        with self._lock:
            return dict(self._bytes)


@dataclass(slots=True)
class _Upload:
    """What one push has on the disk: the stream as it came, and the files that are made of it."""

    workspace: str
    arriving: _Arriving
    bytes: int = 0
    stays: bool = False
    """they could not be removed"""
    ended: bool = False
    """nothing more may be written"""

    def charge(self, size: int, room: float) -> None:
        """Admit so many bytes more, which are about to be written. Raises LimitExceededError where all pushes of the
        workspace have more than `room` then."""
        if self.ended:  # a thread that goes on although its push was given up
            raise _no_room("bytes", "object_bytes")
        self.bytes += size
        if self.arriving.add(self.workspace, size) > room:
            raise _no_room("bytes", "object_bytes")

    def end(self) -> None:
        """What could be removed does not count any more."""
        if not self.stays:
            self.arriving.add(self.workspace, -self.bytes)


def _removed(folder: Path) -> bool:
    if removed := remove_tree(folder):
        return removed
    _log.warning("%s cannot be removed: remove it by hand", folder)
    return False


def _missing(kind: str, ref: str) -> NotFoundError:
    return NotFoundError(
        f"no {kind} {ref!r} is published in this workspace, or to its organisation; see `harena ls {kind}`"
    )


def _one_version(ref: str) -> tuple[str, str]:
    """(name, version). Raises ValidationError."""
    name, version = parse_object_ref(ref)
    if version is None:
        raise ValidationError(f"{ref!r} names no version: write {name}@VERSION")
    return name, version


def _used(kind: str, ref: str, users: Sequence[str]) -> ValidationError:
    told = ", ".join(users[:MOST_USERS_TOLD]) + (", ..." if len(users) > MOST_USERS_TOLD else "")
    return ValidationError(
        f"{kind} {ref} is used by {len(users)} training jobs that have not ended ({told}): cancel them first",
        reason=IN_USE,
    )


def _no_room(what: str, limit: str) -> LimitExceededError:
    return LimitExceededError(
        f"this workspace has published all the {what} that it may ({limit}): delete what nobody needs any more "
        "(`harena rm`); what other workspaces have deleted under its training jobs counts until these have ended",
        reason="OBJECTS",
    )


def object_answer(found: ObjectVersion) -> StoredObject:
    """An object as it is answered."""
    return StoredObject.from_dict({**asdict(found), "ref": found.ref})


def _described(kind: ObjectKind, name: str, version: str, folder: Path) -> Description:
    from harena.training.objects import describe

    try:
        return description_of(kind, describe(folder, kind=kind, name=name, version=version))
    except ValidationError as error:  # which may name files of a directory that nobody knows
        message = str(error).replace(f"{folder}/", "").replace(str(folder), f"{name}@{version}")
        raise ValidationError(message, reason=error.reason) from None


def _opened_privately(target: Path) -> IO[bytes]:
    return open(target, "wb", opener=private_opener)


def _next_pieces(pieces: Iterator[bytes]) -> bytes:
    """About a mebibyte of them; b"" at the end."""
    gathered, size = [], 0
    for piece in pieces:
        gathered.append(piece)
        size += len(piece)
        if size >= 1024 * 1024:
            break
    return b"".join(gathered)
