"""The images of one machine, in a directory that several processes share.

    blobs/sha256/DIGEST                 layers as they were transferred, configurations, manifests
    layers/DIFF_ID/{root/, about.json, shape}  unpacked layers, and how each looked then; beside one that was sealed
                                        here, `headers` has what its archive is made of again when somebody asks for it
    images/DIGEST.json                  images that are here whole
    names/WORKSPACE/IMAGE_ID.json       what a workspace means by a reference
    snapshots/WORKSPACE/SNAPSHOT_ID.json  snapshots
    steps/KEY.json                      what a step of a build has made, as an image that may have no name
    used/DIGEST                         locked (shared) by each process in which a sandbox uses the image; its time is
                                        that of the last use
    work/ID/                            what a process is at; it holds a lock on it for as long as it lives
    lock                                held while something is removed

Whatever is there is there whole: it is written in `work` and renamed. A process that is killed leaves its folder in
`work`, which the next start removes, and blobs that had arrived whole, which the next pull takes. Blocking, and used
from any thread; `hold` takes microseconds.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import hashlib
import json
import os
import secrets
import stat
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from harena.core.errors import ImagePullError, NotFoundError
from harena.core.file_trees import remove_tree
from harena.core.home import private_folder, private_opener
from harena.core.records.record import Record
from harena.core.threads import IMAGES
from harena.image_store.kept import KeptImage, KeptLayer, KeptName, KeptSnapshot, KeptStep, Needs
from harena.image_store.known_records import KnownRecords
from harena.image_store.layer_shapes import has_its_shape, note_shape

T = TypeVar("T")
_HEADERS = "headers"
_ABOUT, _ROOT, _NEEDS, _LOCKED, _PULL, _NEW = "about.json", "root", "needs.json", "work-", "pull-", "new-"
_SHAPE = "shape"
_NEW_SECONDS = 3600.0
"""after which a folder that nobody has locked is nobody's: its process was killed before it could"""


class ImageStore:
    """Paths, records and locks."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.blobs = place / "blobs"
        self._layers = place / "layers"
        self._images = place / "images"
        self._names = place / "names"
        self._snapshots = place / "snapshots"
        self._steps = place / "steps"
        self._used = place / "used"
        self._work = place / "work"
        self._records = KnownRecords()
        self._held: dict[str, _LockedFile] = {}
        self._whole: set[str] = set()
        """diff ids of layers that were looked at by this process"""
        self._guard = threading.Lock()

    def open(self, now: float) -> None:
        """Make what is missing, and remove what killed processes have left. `now`: in seconds since 1970. Raises
        OSError."""
        for folder in (
            self.blobs / "sha256",
            self._layers,
            self._images,
            self._names,
            self._snapshots,
            self._steps,
            self._used,
            self._work,
        ):
            private_folder(folder)
        self.remove_left(now)

    def remove_left(self, now: float) -> None:
        """Remove what killed processes have left; no effect where no store is. `now`: as in `open`. Raises OSError."""
        for entry in os.scandir(self._work) if self._work.is_dir() else ():
            if entry.name.startswith(_LOCKED):
                _remove_if_left(Path(entry.path))
            elif entry.name.startswith(_NEW):
                with suppress(OSError):  # it is gone, or used
                    if entry.stat(follow_symlinks=False).st_mtime < now - _NEW_SECONDS:
                        os.rmdir(entry.path)
            elif entry.name.startswith(_PULL):
                with self.pulling(entry.name.removeprefix(_PULL)):
                    pass  # the file goes with the one who has locked it

    # -- paths and records --

    def blob(self, digest: str) -> Path:
        """Where a blob is, or would be."""
        return self.blobs / "sha256" / digest

    def keep_blob(self, work: Work, content: bytes) -> None:
        """Add a small blob, whole or not at all."""
        digest = hashlib.sha256(content).hexdigest()
        new = work.path / f"blob-{digest}"
        new.write_bytes(content)
        new.rename(self.blob(digest))

    def layer_root(self, diff_id: str) -> Path:
        """The directory of an unpacked layer."""
        return self._layers / diff_id / _ROOT

    def layer_headers(self, diff_id: str) -> Path:
        """Where the headers of an unpacked layer are, if the store has them; see `layer_headers`."""
        return self._layers / diff_id / _HEADERS

    def layer(self, diff_id: str) -> KeptLayer | None:
        """An unpacked layer; None = it is not here."""
        return self._records.read(KeptLayer, self._layers / diff_id / _ABOUT)

    def whole_layer(self, diff_id: str) -> KeptLayer | None:
        """An unpacked layer that looks as it was unpacked, at which this process looks once; None = it is not here, or
        was damaged on the disk."""
        about = self.layer(diff_id)
        if about is not None and diff_id not in self._whole:
            folder = self._layers / diff_id
            if not has_its_shape(folder / _SHAPE, folder / _ROOT):
                return None
            self._whole.add(diff_id)
        return about

    def is_looked_at(self, image: KeptImage) -> bool:
        """All layers of the image were found whole by this process. Without a look at the disk."""
        return all(layer.diff_id in self._whole for layer in image.layers)

    def keep_layer(self, made: Path, about: KeptLayer) -> KeptLayer:
        """Move a folder of `work` with a new layer (in `root`) to its place, also where a damaged one is; the one that
        is there where another pull was faster. Raises ImagePullError where sandboxes use a damaged one."""
        _write(made / _ABOUT, about)
        note_shape(made / _SHAPE, made / _ROOT)
        place = self._layers / about.diff_id
        try:
            made.rename(place)
        except OSError:
            with self.alone():
                there = self.whole_layer(about.diff_id)
                if there is not None:
                    with suppress(FileNotFoundError):  # of one that was unpacked, whose archive may go
                        (made / _HEADERS).rename(self.layer_headers(about.diff_id))
                    return there
                self._check_unused(about.diff_id)
                if not (made / _HEADERS).exists():
                    with suppress(FileNotFoundError):
                        (place / _HEADERS).rename(made / _HEADERS)
                with suppress(FileNotFoundError):
                    place.rename(made.with_name(f"gone-{secrets.token_hex(8)}"))  # it goes with the work
                made.rename(place)
        self._whole.add(about.diff_id)
        return about

    def _check_unused(self, diff_id: str) -> None:
        """No sandbox of this machine has the layer. Raises ImagePullError."""
        for image in self.images():
            if any(layer.diff_id == diff_id for layer in image.layers) and self.is_held(image.digest):
                raise ImagePullError(
                    f"the image is broken: layer sha256:{diff_id} has been damaged on the disk, and is unpacked again "
                    f"when no sandbox of this machine uses image sha256:{image.digest} any more",
                    step="images",
                    reason="IMAGE_BROKEN",
                )

    def image(self, digest: str) -> KeptImage | None:
        """An image; None = it is not here."""
        return self._records.read(KeptImage, self._images / f"{digest}.json")

    def images(self) -> list[KeptImage]:
        """All of them."""
        return [
            image for path in self._images.glob("*.json") if (image := self._records.read(KeptImage, path)) is not None
        ]

    def keep_image(self, image: KeptImage, work: Work) -> None:
        """Remember an image whose layers are here."""
        work.write(self._images / f"{image.digest}.json", image)
        self.touch(image.digest)

    def name(self, workspace: str, image_id: str) -> KeptName | None:
        """What a workspace means by a reference; None = nothing."""
        return self._records.read(KeptName, self._names / workspace / f"{image_id}.json")

    def stamp(self, workspace: str, image_id: str, digest: str) -> tuple[int, ...] | None:
        """Differs as soon as the reference means something else, or the image has gone or come anew; None = one of both
        is not here. Two looks at the disk, some microseconds."""
        return _stamp(self._names / workspace / f"{image_id}.json", self._images / f"{digest}.json")

    def names(self, workspace: str) -> dict[str, KeptName]:
        """Ids of a workspace's images, with what they stand for."""
        return {
            path.stem: name
            for path in (self._names / workspace).glob("img_*.json")
            if (name := self._records.read(KeptName, path)) is not None
        }

    def keep_name(self, workspace: str, image_id: str, name: KeptName, work: Work) -> None:
        """Remember what a workspace means by a reference."""
        private_folder(self._names / workspace)
        work.write(self._names / workspace / f"{image_id}.json", name)

    def forget_name(self, workspace: str, image_id: str) -> bool:
        """Whether there was one."""
        return _is_removed(self._names / workspace / f"{image_id}.json")

    def named(self) -> set[str]:
        """Digests of images that a workspace has a name for, or a snapshot of."""
        paths = self._names.glob("*/img_*.json")
        names = {name.digest for path in paths if (name := self._records.read(KeptName, path)) is not None}
        paths = self._snapshots.glob("*/snap_*.json")
        return names | {one.digest for path in paths if (one := self._records.read(KeptSnapshot, path)) is not None}

    def snapshots(self, workspace: str) -> list[KeptSnapshot]:
        """All of a workspace."""
        paths = (self._snapshots / workspace).glob("snap_*.json")
        return [one for path in paths if (one := self._records.read(KeptSnapshot, path)) is not None]

    def snapshot(self, workspace: str, identity: str) -> KeptSnapshot | None:
        """The snapshot with this id; None = there is none."""
        return self._records.read(KeptSnapshot, self._snapshots / workspace / f"{identity}.json")

    def snapshot_stamp(self, workspace: str, identity: str, digest: str) -> tuple[int, ...] | None:
        """Differs as soon as the snapshot or its image has gone or come anew; None = one of both is not here. Two looks
        at the disk, some microseconds."""
        return _stamp(self._snapshots / workspace / f"{identity}.json", self._images / f"{digest}.json")

    def keep_snapshot(self, workspace: str, snapshot: KeptSnapshot, work: Work) -> None:
        """Remember a snapshot whose image is here. It is on the disk then, as is all that was written before `sync`."""
        folder = self._snapshots / workspace
        private_folder(folder)
        work.write(folder / f"{snapshot.id}.json", snapshot, is_synced=True)

    def forget_snapshot(self, workspace: str, identity: str) -> bool:
        """Whether there was one."""
        return _is_removed(self._snapshots / workspace / f"{identity}.json")

    def step(self, key: str) -> str | None:
        """Digest of the image that a step of a build has made; None = it is not known."""
        step = self._records.read(KeptStep, self._steps / f"{key}.json")
        return None if step is None else step.digest

    def keep_step(self, key: str, digest: str, work: Work) -> None:
        """Remember what a step of a build has made."""
        work.write(self._steps / f"{key}.json", KeptStep(digest=digest))

    def steps(self) -> dict[str, str]:
        """Keys of steps, with the digests of their images."""
        paths = self._steps.glob("*.json")
        return {path.stem: step.digest for path in paths if (step := self._records.read(KeptStep, path)) is not None}

    def forget_step(self, key: str) -> None:
        """Forget what a step has made."""
        (self._steps / f"{key}.json").unlink(missing_ok=True)

    def sync(self) -> None:
        """Have the file system write to its disk all that it has not written yet. Raises OSError."""
        descriptor = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finally:
            os.close(descriptor)

    # -- use --

    @contextmanager
    def hold(self, digest: str) -> Iterator[KeptImage]:
        """While it is entered, in this process or another one, the image is not removed. Raises NotFoundError."""
        with self._guard:
            held = self._held.get(digest)
            if held is None:
                held = self._held[digest] = _LockedFile(self._locked_use(digest))
            held.users += 1
        try:
            image = self.image(digest)
            if image is None:
                raise NotFoundError("the image has been removed from this machine", reason="IMAGE_NOT_FOUND")
            self.touch(digest)
            yield image
        finally:
            with self._guard:
                held.users -= 1
                if not held.users:
                    del self._held[digest]
                    os.close(held.descriptor)

    def touch(self, digest: str) -> None:
        """The image is used now."""
        path = self._used / digest
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        os.utime(path)

    def used_at(self, digest: str) -> float:
        """When it was used last, in seconds since 1970."""
        try:
            return (self._used / digest).stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def is_held(self, digest: str) -> bool:
        """A sandbox of this machine uses the image."""
        try:
            descriptor = os.open(self._used / digest, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            return not _lock(descriptor)
        finally:
            os.close(descriptor)

    def _locked_use(self, digest: str) -> int:
        descriptor = os.open(self._used / digest, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # who has it alone has it for as long as one file is removed
        return descriptor

    # -- work --

    @contextmanager
    def work(self) -> Iterator[Work]:
        """A folder within the block, and what lies in it goes with it."""
        made = self._work / f"{_NEW}{secrets.token_hex(16)}"
        private_folder(made)
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _lock(descriptor)
            yield Work(made.rename(made.with_name(_LOCKED + made.name.removeprefix(_NEW))))
        finally:
            remove_layers(made.with_name(_LOCKED + made.name.removeprefix(_NEW)))
            os.close(descriptor)

    def needs(self) -> Iterator[Needs]:
        """What pulls under way need, of all processes."""
        for path in self._work.glob(f"{_LOCKED}*/{_NEEDS}"):
            needs = self._records.read(Needs, path)
            if needs is not None and _is_locked(path.parent):
                yield needs

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else removes anything within the block."""
        descriptor = os.open(self.place / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def pulling(self, digest: str) -> Iterator[bool]:
        """Whether this is the only one on this machine who pulls the image within the block."""
        path = self._work / f"{_PULL}{digest}"
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            mine = _lock(descriptor) and os.fstat(descriptor).st_nlink > 0
            try:
                yield mine
            finally:
                if mine:
                    path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)

    # -- removal, within `alone` --

    def drop_image(self, digest: str) -> bool:
        """Forget an image; not one that is held."""
        descriptor = os.open(self._used / digest, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            if not _lock(descriptor):
                return False
            (self._images / f"{digest}.json").unlink(missing_ok=True)
            return True
        finally:
            os.close(descriptor)

    def all_layers(self) -> dict[str, int]:
        """Unpacked layers, with the disk space that they take."""
        found = {}
        for entry in os.scandir(self._layers):
            about = self.layer(entry.name)
            found[entry.name] = about.disk_bytes if about is not None else 0
        return found

    def all_blobs(self) -> dict[str, tuple[int, float]]:
        """Blobs, with their sizes and the times, in seconds since 1970, at which they arrived."""
        found = {}
        for entry in os.scandir(self.blobs / "sha256"):
            with suppress(FileNotFoundError):
                told = entry.stat(follow_symlinks=False)
                found[entry.name] = (told.st_size, told.st_mtime)
        return found

    def take_layer(self, diff_id: str, work: Work) -> None:
        """Move an unpacked layer to where it goes with the work."""
        with suppress(FileNotFoundError):
            (self._layers / diff_id).rename(work.path / f"gone-{diff_id}")


@dataclass(slots=True)
class _LockedFile:
    descriptor: int
    """has a shared lock"""
    users: int = 0


@dataclass(slots=True)
class Work:
    """A folder of `work`."""

    path: Path
    _written: int = field(default=0)

    def folder(self, name: str) -> Path:
        """An empty folder in it, for one purpose."""
        path = self.path / name
        path.mkdir(mode=0o700)
        return path

    def need(self, needs: Needs) -> None:
        """From now on nobody removes these."""
        self.write(self.path / _NEEDS, needs)

    def write(self, place: Path, record: Record, *, is_synced: bool = False) -> None:
        """Write a record, whole or not at all. `is_synced`: it is on the disk then."""
        self._written += 1
        new = self.path / f"record-{self._written}"
        _write(new, record)
        if is_synced:
            _sync(new)
        new.rename(place)
        if is_synced:
            _sync(place.parent)


@asynccontextmanager
async def in_threads(block: AbstractContextManager[T]) -> AsyncIterator[T]:
    """A block that is entered and left in threads. Raises what entering raises."""
    entering = asyncio.ensure_future(IMAGES.run(block.__enter__))
    try:
        entered = await asyncio.shield(entering)
    except asyncio.CancelledError:
        await asyncio.wait([entering])
        if entering.exception() is None:
            await IMAGES.run(block.__exit__, None, None, None)
        raise
    try:
        yield entered
    finally:
        await IMAGES.run(block.__exit__, None, None, None)


def remove_layers(place: Path) -> None:
    """Remove a folder with unpacked layers below it, whatever the rights of their folders."""
    if os.geteuid() != 0:
        for folder, names, _ in os.walk(place):
            for name in names:
                path = os.path.join(folder, name)
                with suppress(OSError):  # it stays, and what is above it
                    about = os.lstat(path)
                    if stat.S_ISDIR(about.st_mode) and about.st_mode & 0o700 != 0o700:
                        os.chmod(path, 0o700)
    remove_tree(place)


def _write(path: Path, record: Record) -> None:
    with open(path, "x", encoding="utf-8", opener=private_opener) as file:
        json.dump(record.to_dict(), file)


def _stamp(*paths: Path) -> tuple[int, ...] | None:
    found: list[int] = []
    try:
        for path in paths:
            told = os.stat(path)
            found += (told.st_ino, told.st_mtime_ns, told.st_size)
    except OSError:
        return None
    return tuple(found)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_removed(path: Path) -> bool:
    """Remove a record, and say whether there was one."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _lock(descriptor: int) -> bool:
    """Whether nobody else has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_locked(folder: Path) -> bool:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def _remove_if_left(folder: Path) -> None:
    if not _is_locked(folder):
        remove_layers(folder)
