"""The records of blueprints in their folders: read once, known by marks, written and removed.

A record is read again when its file is another one. What lists and look-ups need of each stays in memory, and of the
records themselves so many bytes as there may be.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harena.core.blueprint_digests import blueprint_digest
from harena.core.clock import Clock
from harena.core.errors import NotFoundError, PlatformError
from harena.core.home import private_opener
from harena.core.records.blueprints import Blueprint
from harena.runtime.host.blueprint_files import ContentCache, StoredFiles
from harena.runtime.host.blueprint_listings import FolderListings, Listing

ID_PREFIX = "bp_"
CONTENTS = ".{}.files"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOADED_BYTES = 64 * 1024 * 1024
"""size of the records that stay in memory, as JSON, over all workspaces"""


def with_digest(blueprint: Blueprint) -> Blueprint:
    """The blueprint with the digest of what it says."""
    return replace(blueprint, digest=blueprint_digest(blueprint))


@dataclass(frozen=True, slots=True)
class Mark:
    """What is kept of each record that was read."""

    stamp: tuple[int, int]
    id: str
    created_at: datetime

    @property
    def place_in_list(self) -> tuple[timedelta, str]:
        """Newest first."""
        return EPOCH - self.created_at, self.id

    def is_behind(self, moment: datetime, blueprint_id: str) -> bool:
        """It follows this one in a list."""
        return self.place_in_list > (EPOCH - moment, blueprint_id)


class BlueprintRecords:
    """The records of all folders. Used from the threads of workspaces, each of which has a folder of its own."""

    def __init__(self, clock: Clock) -> None:
        """No record has been read yet."""
        self.contents = ContentCache()
        self._listings = FolderListings(clock)
        self._ids: dict[Path, tuple[Listing, dict[str, Path]]] = {}
        """folder of a workspace -> a listing of it, and its records by their ids"""
        self._loaded: OrderedDict[Path, tuple[tuple[int, int], int, Blueprint]] = OrderedDict()
        """what was read last, of which file and how long that was: a name that was removed and made anew begins with
        version 1 again"""
        self._loaded_bytes = 0
        self._loading = threading.Lock()
        """held by whoever changes `_loaded`: each workspace has a thread of its own"""
        self._marks: dict[Path, dict[Path, Mark]] = {}
        """folder of a workspace -> record there -> what lists and look-ups by id need of it"""
        self._places: dict[tuple[Path, str], Path] = {}
        """(folder of a workspace, id) -> the record that had it when it was read last"""
        self.sizes: dict[Path, dict[Path, int]] = {}
        """folder of a workspace -> record there -> its bytes"""

    def place(self, root: Path, blueprint_id: str) -> Path:
        """Where the blueprint with this id was read last."""
        return self._places[root, blueprint_id]

    def load(self, path: Path) -> Blueprint:
        """Read a record, unless it was read before and is still what it was. Raises NotFoundError, PlatformError."""
        stamp, _, blueprint = self._loaded.get(path, (None, 0, None))
        try:
            now = stamp_of(path)
        except OSError as error:
            raise removed_just_now(path) from error
        if blueprint is None or stamp != now:
            try:
                text = path.read_text()
                blueprint = self.from_json(path.parent, text)
                if blueprint.files and not isinstance(blueprint.files, StoredFiles):
                    text = to_json(blueprint)
                    self.write_contents(path.parent, blueprint)
                    replace_file(path, text)
                    now, blueprint = stamp_of(path), self.from_json(path.parent, text)
            except (OSError, ValueError, KeyError, TypeError) as error:
                message = f"blueprint file {path} cannot be read ({error}): remove it, then create the blueprint again"
                raise PlatformError(message, step="read blueprint") from error
            self.keep_loaded(path, now, len(text), blueprint)
        else:
            with self._loading:
                if path in self._loaded:
                    self._loaded.move_to_end(path)
        return blueprint

    def keep_loaded(self, path: Path, stamp: tuple[int, int], size: int, blueprint: Blueprint) -> None:
        """Remember a record that was read or written just now."""
        self._places[path.parent, blueprint.id] = path
        self._marks.setdefault(path.parent, {})[path] = Mark(stamp, blueprint.id, blueprint.created_at or EPOCH)
        with self._loading:
            self._unload(path)
            self._loaded[path] = (stamp, size, blueprint)
            self._loaded_bytes += size
            while self._loaded_bytes > LOADED_BYTES and len(self._loaded) > 1:
                self._unload(next(iter(self._loaded)))

    def _unload(self, path: Path) -> None:
        _, size, _ = self._loaded.pop(path, (None, 0, None))
        self._loaded_bytes -= size

    def mark(self, path: Path) -> Mark:
        """What is kept of a record, which is read where it is another one by now. Raises as `load`."""
        mark = self._marks.get(path.parent, {}).get(path)
        try:
            if mark is not None and mark.stamp == stamp_of(path):
                return mark
        except OSError as error:
            raise removed_just_now(path) from error
        found = self.load(path)
        # another thread that lists this folder may have dropped it, or have seen it go: what was read says it all
        marks = self._marks.setdefault(path.parent, {})
        if (mark := marks.get(path)) is None or mark.id != found.id:
            mark = marks[path] = mark_of(path, found)
        return mark

    def found(self, root: Path, name: str | None = None) -> Iterator[tuple[Path, str]]:
        """(record, its id) of each version, of one name or of all; without what somebody else removes meanwhile."""
        listing = self.listing(root)
        for known, version in listing if name is None else [(name, one) for one in listing.versions.get(name, ())]:
            path = record_path(root, known, version)
            with suppress(NotFoundError):
                yield path, self.mark(path).id

    def listing(self, root: Path) -> Listing:
        """The names and versions that a folder has now. Raises PlatformError."""
        try:
            return self._listings.of(root)
        except OSError as error:
            message = f"the blueprints in {root} cannot be listed: {error}"
            raise PlatformError(message, step="read blueprint") from error

    def found_in(self, root: Path, name_or_id: str) -> Blueprint | None:
        """The newest version of a name in a folder, or the one with this id; None = there is none. Raises
        PlatformError."""
        place = self._places.get((root, name_or_id))
        if place is not None:
            with suppress(NotFoundError):  # removed since
                if (blueprint := self.load(place)).id == name_or_id:
                    return blueprint
        listing = self.listing(root)
        if not name_or_id.startswith(ID_PREFIX):
            for version in reversed(listing.versions.get(name_or_id, ())):
                with suppress(NotFoundError):
                    return self.load(record_path(root, name_or_id, version))
            return None
        known, ids = self._ids.get(root, (None, {}))
        if known is not listing:
            ids = {}
            for path, found in self.found(root):
                ids[found] = path
                if found == name_or_id:
                    break
            else:
                self._ids[root] = listing, ids
        if (place := ids.get(name_or_id)) is not None:
            with suppress(NotFoundError):
                self._places[root, name_or_id] = place
                return self.load(place)
        return None

    def ids_of(self, root: Path, name: str) -> set[str]:
        """The ids of the versions of a name in a folder."""
        return {blueprint_id for _, blueprint_id in self.found(root, name)}

    def forget_others(self, root: Path, there: set[Path]) -> None:
        """Drop what is known of records that another process has removed."""
        marks = self._marks.get(root, {})
        for path in {*marks} - there:
            if (mark := marks.pop(path, None)) is not None:
                self._places.pop((root, mark.id), None)

    def remove(self, path: Path, blueprint_id: str) -> None:
        """Remove a record, then its contents, and forget them. Raises PlatformError."""
        root, contents = path.parent, contents_of(path.parent, blueprint_id)
        try:
            path.unlink(missing_ok=True)
            contents.unlink(missing_ok=True)
        except OSError as error:
            message = f"blueprint {path.name.partition('@')[0]} cannot be removed from {root}: {error}"
            raise PlatformError(message, step="remove blueprint") from error
        with self._loading:
            self._unload(path)
        self._places.pop((root, blueprint_id), None)
        self._marks.get(root, {}).pop(path, None)
        self.contents.forget(contents)
        self.sizes.get(root, {}).pop(path, None)

    def from_json(self, root: Path, text: str) -> Blueprint:
        """The blueprint of a record in this folder; its contents stay where they are."""
        read = json.loads(text)
        sizes = read.pop("file_sizes", None)
        blueprint = Blueprint.from_dict(read)
        if sizes:  # else its files are in the record, if it has some
            files = StoredFiles(contents_of(root, blueprint.id), sizes, self.contents)
            blueprint = replace(blueprint, files=files)
        return blueprint if blueprint.digest else with_digest(blueprint)  # an earlier version's record has none

    def write_contents(self, root: Path, blueprint: Blueprint) -> None:
        """Write the contents of a blueprint's files beside its record. Raises OSError."""
        if blueprint.files:
            with open(contents_of(root, blueprint.id), "wb", opener=private_opener) as file:
                file.writelines(blueprint.files.values())


def record_path(root: Path, name: str, version: int) -> Path:
    """Where a version of a name is recorded."""
    return root / f"{name}@{version:06d}.json"


def contents_of(root: Path, blueprint_id: str) -> Path:
    """Where the contents of a blueprint's files are."""
    return root / CONTENTS.format(blueprint_id)


def stamp_of(path: Path) -> tuple[int, int]:
    """What tells a file from the one that it was. Raises OSError."""
    state = path.stat()
    return state.st_ino, state.st_mtime_ns


def to_json(blueprint: Blueprint) -> str:
    """A blueprint as its record, without contents."""
    written = replace(blueprint, files={}).to_dict()
    del written["files"]
    written["file_sizes"] = blueprint.file_sizes
    return json.dumps(written, indent=1)


def replace_file(path: Path, text: str) -> None:
    """Write a file, whole or not at all. Raises OSError."""
    draft = path.with_name(f".{secrets.token_hex(6)}.draft")
    with open(draft, "w", opener=private_opener) as file:
        file.write(text)
    draft.replace(path)


def mark_of(path: Path, blueprint: Blueprint) -> Mark:
    """The mark of a record that was read just now. Raises NotFoundError."""
    try:
        return Mark(stamp_of(path), blueprint.id, blueprint.created_at or EPOCH)
    except OSError as error:
        raise removed_just_now(path) from error


def removed_just_now(path: Path) -> NotFoundError:
    """The error for a record that has gone since it was seen."""
    return NotFoundError(f"blueprint {path.name.partition('@')[0]!r} was removed just now")
