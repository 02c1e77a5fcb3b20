"""Blueprints: recipes for sandboxes, kept as one JSON file per version below harena's home.

    blueprints/<name>@<version>.json               the default workspace's
    blueprints/<workspace>/<name>@<version>.json   those of another one
    blueprints/.organizations/<name>/...           those that workspaces have published to it, as links to their files,
                                                   and in `.<name>.owner` whose a name is

The contents of its files lie beside it in `.<id>.files`, see `harena.runtime.host.blueprint_files`. A file is written
beside and linked into place: whole or not there. None is changed, but that a record of earlier versions, which holds
contents, is divided when it is first read. Creating a name again makes the next version; `get(name)` gives the newest
and `get(id)` exactly one. A name belongs to its workspace, and what another workspace has is not found, unless it was
published to the organisation of both. Two blueprints are always there, for all: `default` (nothing installed, every
exec is a real start) and `python-warm` (nothing installed, a bare warm interpreter). Packages are installed when the
blueprint is created, by `harena.runtime.host.layers`; what is installed is shared by its content.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import keyword
import os
import posixpath
import re
import secrets
import sys
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from harena.core.blueprint_digests import blueprint_digest
from harena.core.blueprint_source import BlueprintSource, found_in_thread
from harena.core.checked import checked_text, encodable, quote
from harena.core.clock import Clock
from harena.core.daemons import Daemon
from harena.core.errors import LimitExceededError, NotFoundError, PlatformError, ValidationError
from harena.core.gateways import Gateway
from harena.core.home import harena_home, private_folder, private_opener
from harena.core.images import parse_reference
from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.core.pages import PageRoom, moment_cursor, read_moment_cursor
from harena.core.profiles import Profile
from harena.core.records.blueprints import (
    DEFAULT_BLUEPRINT,
    MOST_LOG_CHARACTERS,
    MOST_RECIPE_CHARACTERS,
    WARM_BLUEPRINT,
    Blueprint,
    BlueprintsPage,
    BlueprintSummary,
)
from harena.core.records.sandboxes import NO_LIMITS_SAID, Limits
from harena.core.registry import VERSION_TAKEN
from harena.core.snapshots import checked_snapshot, snapshot_in
from harena.core.threads import BLUEPRINTS, PACKAGES
from harena.core.workspace import (
    DEFAULT_WORKSPACE,
    OrganizationOf,
    WorkspaceLimits,
    checked_organization,
    checked_workspace,
)
from harena.runtime.host.blueprint_files import ContentCache, StoredFiles

if TYPE_CHECKING:
    from harena.runtime.host.layers import InstalledLayer, LayerStore

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE = re.compile(rf"({_NAME.pattern})@(\d+)\.json")
_ID_PREFIX = "bp_"
_CONTENTS = ".{}.files"
_ORGANIZATIONS = ".organizations"
_OWNER = ".{}.owner"
"""file of an organisation's folder: the workspace that has published this name, which is nobody else's there"""
_HELD_BY_ID = "by_id"
_LOCK = ".lock"
_LEDGER = ".layers.json"
"""file of a workspace's folder: the layers that it has brought to the disk"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_RECORD_BYTES = 1024 * 1024
"""size of a blueprint's record without its files: a program can have no more variables"""
LOADED_BYTES = 64 * 1024 * 1024
"""size of the records that stay in memory, as JSON, over all workspaces"""


def _with_digest(blueprint: Blueprint) -> Blueprint:
    return replace(blueprint, digest=blueprint_digest(blueprint))


BUILT_IN = {
    name: _with_digest(Blueprint(id=f"{_ID_PREFIX}{name}", name=name, warm=warm, created_at=_EPOCH))
    for name, warm in ((DEFAULT_BLUEPRINT, None), (WARM_BLUEPRINT, ()))
}


MOST_TOLD = 50
"""names that are told to whoever asks for one that is not there"""
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Mark:
    """What is kept of each record that was read."""

    stamp: tuple[int, int]
    id: str
    created_at: datetime

    @property
    def place_in_list(self) -> tuple[timedelta, str]:
        """Newest first."""
        return _EPOCH - self.created_at, self.id

    def is_behind(self, moment: datetime, blueprint_id: str) -> bool:
        """It follows this one in a list."""
        return self.place_in_list > (_EPOCH - moment, blueprint_id)


class Blueprints(BlueprintSource):
    """The blueprints in `root` (default: `blueprints` in harena's home) and the built-in ones."""

    def __init__(
        self,
        clock: Clock,
        *,
        layers: LayerStore,
        root: Path | None = None,
        held: Path | None = None,
        python: str = sys.executable,
    ) -> None:
        """`held`: where `hold` has put blueprints that are found before those of any workspace; None = nowhere.
        `python` is the interpreter of the default image, for which packages are installed."""
        self._clock = clock
        self.layers = layers
        """where the packages of blueprints are installed"""
        self.organization_of: OrganizationOf | None = None
        """finds the organisation of a workspace; None = nothing is published"""
        self._root = root or harena_home() / "blueprints"
        self._held = held
        self._python = python
        self._loaded: OrderedDict[Path, tuple[tuple[int, int], int, Blueprint]] = OrderedDict()
        """what was read last, of which file and how long that was: a name that was removed and made anew begins with
        version 1 again"""
        self._loaded_bytes = 0
        self._loading = threading.Lock()
        """held by whoever changes `_loaded`: each workspace has a thread of its own"""
        self._marks: dict[Path, dict[Path, _Mark]] = {}
        """folder of a workspace -> record there -> what lists and look-ups by id need of it"""
        self._places: dict[tuple[Path, str], Path] = {}
        """(folder of a workspace, id) -> the record that had it when it was read last"""
        self._installing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by workspace
        self.contents = ContentCache()
        self._sizes: dict[Path, dict[Path, int]] = {}
        """folder of a workspace -> record there -> its bytes"""

    async def create(
        self,
        workspace: str,
        name: str,
        *,
        image: str = "default",
        profile: Profile = "strict",
        packages: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        warm: Sequence[str] | None = None,
        network: NetworkPolicy = NO_NETWORK,
        gateways: Sequence[Gateway] = (),
        daemons: Sequence[Daemon] = (),
        limits: Limits = NO_LIMITS_SAID,
        recipe: str = "",
        log: str = "",
        room: WorkspaceLimits | None = None,
    ) -> Blueprint:
        """Check, install, record. Raises ValidationError before any work for what is malformed, NotFoundError for an
        image that is not here, LimitExceededError where that is more than `room` (None = nothing is), and as
        `LayerStore.install` does."""
        files, env = dict(files or {}), dict(env or {})
        await _in_thread(workspace, _check, name, image, files, env, warm)
        _check_image(image, packages, warm, profile)
        await _in_thread(workspace, self._check_room, workspace, sum(map(len, files.values())), room)
        made = await self._installed(workspace, packages, room) if packages else None
        layer = self.layers.path(made.digest) if made else None
        await _in_thread(workspace, _check_modules_exist, warm or (), layer, packages)
        blueprint = Blueprint(
            id=f"{_ID_PREFIX}{secrets.token_hex(6)}",
            name=name,
            image=image,
            profile=profile,
            packages=made.packages if made else (),
            requested=tuple(packages),
            files=files,
            env=env,
            warm=None if warm is None else tuple(warm),
            layer=made.digest if made else None,
            network=network,
            gateways=tuple(gateways),
            daemons=tuple(daemons),
            limits=limits,
            recipe=_kept_text(recipe, "recipe", MOST_RECIPE_CHARACTERS),
            log=_kept_text(log, "log", MOST_LOG_CHARACTERS),
            created_at=self._clock.utcnow(),
        )
        blueprint = await _in_thread(workspace, _with_digest, blueprint)
        await _in_thread(workspace, self._record, workspace, blueprint, room)
        return blueprint

    async def _installed(
        self, workspace: str, packages: Sequence[str], limits: WorkspaceLimits | None
    ) -> InstalledLayer:
        """Packages that are on the disk, and counted for the workspace that has brought them there."""
        if limits is None:
            return await PACKAGES.run(self.layers.install, packages, python=self._python)
        async with self._installing.setdefault(workspace, asyncio.Lock()):
            ledger = self._root_of(workspace) / _LEDGER
            brought = await _in_thread(workspace, _read_ledger, ledger)
            left = limits.package_bytes - sum(brought.values())
            made = await PACKAGES.run(self.layers.install, packages, python=self._python, most_bytes=max(0, left))
            if made.bytes:
                try:
                    await _in_thread(workspace, private_folder, ledger.parent)
                    await _in_thread(workspace, _replace, ledger, json.dumps({**brought, made.digest: made.bytes}))
                except OSError as error:
                    message = f"what {workspace} has installed cannot be noted in {ledger}: {error}"
                    raise PlatformError(message, step="write blueprint") from error
            return made

    async def get(self, workspace: str, name_or_id: str) -> Blueprint:
        """The newest version of a name, or the one with this id. Raises NotFoundError."""
        return await found_in_thread(self, workspace, name_or_id)

    async def hold(self, workspace: str, names_or_ids: Iterable[str], folder: Path) -> None:
        """Copy blueprints as they are now, of the workspace or of its organisation, into a folder of whoever uses them
        for long: they are found there (`held`) under the words that they were asked for by, whatever is created,
        withdrawn or deleted meanwhile. Raises NotFoundError, PlatformError."""
        for word in names_or_ids:
            blueprint = await found_in_thread(self, workspace, word)
            if blueprint.name not in BUILT_IN:
                await _in_thread(workspace, self._hold, blueprint, _held_place(folder, word))

    def _hold(self, blueprint: Blueprint, root: Path) -> None:
        try:
            private_folder(root)
            self._write_contents(root, blueprint)
            _replace(_path(root, blueprint.name, 1), _to_json(blueprint))
        except OSError as error:
            message = f"blueprint {blueprint.name} cannot be copied to {root}: {error}"
            raise PlatformError(message, step="write blueprint") from error

    async def delete(self, workspace: str, name_or_id: str) -> list[str]:
        """Forget every version of a name, or the one with this id; installed layers stay. Gives the ids.

        Raises NotFoundError, ValidationError for a built-in blueprint, PlatformError.
        """
        return await _in_thread(workspace, self._delete, workspace, name_or_id)

    async def published(self, workspace: str, name_or_id: str) -> Blueprint | None:
        """A blueprint that was published to the organisation of the workspace; None = there is none. Raises
        PlatformError."""
        if self.organization_of is None:
            return None
        root = self._root_of_organization(await self.organization_of(workspace))
        return await _in_thread(workspace, self._found_in, root, name_or_id)

    async def publish(self, workspace: str, name_or_id: str) -> Blueprint:
        """Show the newest version of a name, or the one with this id, to the workspace's organisation, and to no other
        one any more. Raises NotFoundError, PlatformError, and ValidationError for one that is built in or is made of an
        image, which other workspaces do not have, and where another workspace has published a blueprint of this
        name."""
        blueprint = await _in_thread(workspace, self.find, workspace, name_or_id)
        if blueprint.name in BUILT_IN:
            raise ValidationError(f"blueprint {blueprint.name!r} is built in: everybody has it")
        if not _is_of_default_image(blueprint):
            raise ValidationError(
                f"blueprint {blueprint.name!r} is made of the image {blueprint.image!r}, which belongs to your "
                "workspace alone: only blueprints of the default image can be published"
            )
        assert self.organization_of is not None, "a node knows organisations"
        organization = await self.organization_of(workspace)
        made = await _in_thread(workspace, self._publish, workspace, organization, blueprint.id)
        await _in_thread(workspace, self._take_back, workspace, made.name, {made.id}, but=organization)
        return made

    async def withdraw(self, workspace: str, name_or_id: str) -> Blueprint:
        """Show every version of a name, or the one with this id, to its own workspace alone. Raises NotFoundError,
        PlatformError."""
        return await _in_thread(workspace, self._withdraw, workspace, name_or_id)

    def _publish(self, workspace: str, organization: str, blueprint_id: str) -> Blueprint:
        blueprint = self.find(workspace, blueprint_id)
        own, root = self._root_of(workspace), self._root_of_organization(organization)
        place, name = self._places[own, blueprint.id], blueprint.name
        shown = root / place.name
        with _alone_in(root):
            there = self._ids_of(root, name)
            owner = _owner_of(root, name)
            if there and (owner != workspace if owner is not None else not there <= self._ids_of(own, name)):
                raise ValidationError(
                    f"another workspace of the organisation has published a blueprint {name!r}: publish this one under "
                    "another name",
                    reason=VERSION_TAKEN,
                )
            if shown.exists() and (before := self._mark(shown).id) != blueprint.id:  # of a name that was made anew
                self._remove(shown, before)
            try:
                _replace(root / _OWNER.format(name), workspace)
                for path in (  # a record is there when its contents are
                    *([_contents_of(own, blueprint.id)] if blueprint.files else []),
                    place,
                ):
                    with suppress(FileExistsError):
                        os.link(path, root / path.name)
                if self._mark(place).id == blueprint.id:
                    self._mark(shown)
                    return blueprint
            except (FileNotFoundError, NotFoundError):  # another process has removed it meanwhile
                pass
            except OSError as error:
                message = f"blueprint {name} cannot be published in {root}: {error}"
                raise PlatformError(message, step="write blueprint") from error
            self._remove(shown, blueprint.id)
        raise _removed_just_now(place)

    def _withdraw(self, workspace: str, name_or_id: str) -> Blueprint:
        blueprint = self.find(workspace, name_or_id)
        self._take_back(workspace, blueprint.name, None if name_or_id == blueprint.name else {blueprint.id})
        return blueprint

    def _take_back(self, workspace: str, name: str, ids: Set[str] | None = None, *, but: str | None = None) -> None:
        """Unlink what organisations, `but` this one, have been shown of the workspace's blueprints of a name; `ids`:
        only these."""
        for root in (self._root / _ORGANIZATIONS).glob("*"):
            if root.name == but or all(known != name for known, _ in _versions(root)):
                continue
            with _alone_in(root):
                owner = _owner_of(root, name)
                mine = self._ids_of(self._root_of(workspace), name) if owner is None else frozenset[str]()
                stays = False
                for path, found in [*self._found(root, name)]:
                    if (owner == workspace or found in mine) and (ids is None or found in ids):
                        self._remove(path, found)
                    else:
                        stays = True
                if not stays:
                    (root / _OWNER.format(name)).unlink(missing_ok=True)

    def _ids_of(self, root: Path, name: str) -> set[str]:
        return {blueprint_id for _, blueprint_id in self._found(root, name)}

    def _found(self, root: Path, name: str | None = None) -> Iterator[tuple[Path, str]]:
        """(record, its id) of each version, of one name or of all; without what somebody else removes meanwhile."""
        for known, version in [*_versions(root)]:
            if name in (None, known):
                path = _path(root, known, version)
                with suppress(NotFoundError):
                    yield path, self._mark(path).id

    def _delete(self, workspace: str, name_or_id: str) -> list[str]:
        blueprint = self.find(workspace, name_or_id)
        if blueprint.name in BUILT_IN:
            raise ValidationError(f"blueprint {blueprint.name!r} is built in and cannot be removed")
        root, name = self._root_of(workspace), blueprint.name
        going = {found: path for path, found in self._found(root, name) if name_or_id in (name, found)}
        # first: what is shown of a record that is gone nobody could withdraw
        self._take_back(workspace, name, {*going})
        for blueprint_id, path in going.items():
            self._remove(path, blueprint_id)
        self._take_back(workspace, name, {*going})  # another process may have published it in between
        return [*going]

    def _remove(self, path: Path, blueprint_id: str) -> None:
        root, contents = path.parent, _contents_of(path.parent, blueprint_id)
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
        self._sizes.get(root, {}).pop(path, None)

    async def page(
        self,
        workspace: str,
        *,
        name: str | None = None,
        organization: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> BlueprintsPage:
        """The newest version of each name, or every version of one, newest first, the built-in ones last; with
        `organization` those that were published to the workspace's: those behind the cursor, `limit` at most, and fewer
        where they have more than PAGE_BYTES. No content of a file is read. Raises ValidationError."""
        before = None if cursor is None else read_moment_cursor(cursor)
        root, built_in = self._root_of(workspace), [*BUILT_IN.values()]
        if organization:
            assert self.organization_of is not None, "a node knows organisations"
            root, built_in = self._root_of_organization(await self.organization_of(workspace)), []
        return await _in_thread(workspace, self._page, root, built_in, name, before, limit)

    def _page(
        self,
        root: Path,
        always: Sequence[Blueprint],
        asked: str | None,
        before: tuple[datetime, str] | None,
        limit: int,
    ) -> BlueprintsPage:
        versions = sorted(_versions(root))
        listed = [*dict(versions).items()] if asked is None else [one for one in versions if one[0] == asked]
        found: list[tuple[_Mark, Path | Blueprint]] = []
        for place in (_path(root, name, version) for name, version in listed):
            with suppress(NotFoundError):  # somebody else has removed it just now
                found.append((self._mark(place), place))
        found += [
            (_Mark((0, 0), built_in.id, _EPOCH), built_in) for built_in in always if asked in (None, built_in.name)
        ]
        found.sort(key=lambda entry: entry[0].place_in_list)
        behind = [entry for entry in found if before is None or entry[0].is_behind(*before)]
        page: list[BlueprintSummary] = []
        room, looked_at = PageRoom(), 0
        for _, entry in behind[:limit]:
            with suppress(NotFoundError):
                summary = _summary(self._load(entry) if isinstance(entry, Path) else entry)
                if not room.takes(len(json.dumps(asdict(summary), default=str))):
                    break
                page.append(summary)
            looked_at += 1
        self._forget_others(root, {_path(root, name, version) for name, version in versions})
        if looked_at == len(behind):
            return BlueprintsPage(page, None)
        last = behind[looked_at - 1][0]
        return BlueprintsPage(page, moment_cursor(last.created_at, last.id))

    def _mark(self, path: Path) -> _Mark:
        mark = self._marks.get(path.parent, {}).get(path)
        try:
            if mark is not None and mark.stamp == _stamp(path):
                return mark
        except OSError as error:
            raise _removed_just_now(path) from error
        found = self._load(path)
        # another thread that lists this folder may have dropped it, or have seen it go: what was read says it all
        marks = self._marks.setdefault(path.parent, {})
        if (mark := marks.get(path)) is None or mark.id != found.id:
            mark = marks[path] = _mark_of(path, found)
        return mark

    def _forget_others(self, root: Path, there: set[Path]) -> None:
        """Drop what is known of records that another process has removed."""
        marks = self._marks.get(root, {})
        for path in {*marks} - there:
            if (mark := marks.pop(path, None)) is not None:
                self._places.pop((root, mark.id), None)

    def built_in(self, name_or_id: str) -> Blueprint | None:
        """A blueprint that every workspace has, by its name or id."""
        found = BUILT_IN.get(name_or_id.removeprefix(_ID_PREFIX))
        return found if found is not None and name_or_id in (found.name, found.id) else None

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        """Find a blueprint, in the present thread: a file is read once, later calls look at the directory's names."""
        if (built_in := self.built_in(name_or_id)) is not None:
            return built_in
        if self._held is not None:
            for place in {_held_place(self._held, name_or_id), self._held}:
                if (held := self._found_in(place, name_or_id)) is not None:
                    return held
        root = self._root_of(workspace)
        if (found := self._found_in(root, name_or_id)) is not None:
            return found
        names = sorted({name for name, _ in _versions(root)} | set(BUILT_IN))
        there_are = ", ".join(names[:MOST_TOLD]) + (", ..." if len(names) > MOST_TOLD else "")
        example = name_or_id if _NAME.fullmatch(name_or_id) and not name_or_id.startswith(_ID_PREFIX) else "NAME"
        raise NotFoundError(
            f"no blueprint {name_or_id!r}; there are: {there_are}. Create one with "
            f"`harena blueprint create {example} --packages PACKAGE ... --warm MODULE ...`, or build one of a "
            "file with `harena blueprint build FILE`"
        )

    def _found_in(self, root: Path, name_or_id: str) -> Blueprint | None:
        place = self._places.get((root, name_or_id))
        if place is not None:
            with suppress(NotFoundError):  # removed since
                if (blueprint := self._load(place)).id == name_or_id:
                    return blueprint
        if name_or_id.startswith(_ID_PREFIX):
            for path, found in self._found(root):
                if found == name_or_id:
                    with suppress(NotFoundError):
                        self._places[root, found] = path
                        return self._load(path)
            return None
        for version in sorted((version for name, version in _versions(root) if name == name_or_id), reverse=True):
            with suppress(NotFoundError):
                return self._load(_path(root, name_or_id, version))
        return None

    def _root_of_organization(self, organization: str) -> Path:
        # no workspace's name begins with a dot
        return self._root / _ORGANIZATIONS / checked_organization(organization)

    def _root_of(self, workspace: str) -> Path:
        # no file of the default workspace has a workspace's name: there is an @ in each of them
        return self._root if workspace == DEFAULT_WORKSPACE else self._root / checked_workspace(workspace)

    def _load(self, path: Path) -> Blueprint:
        stamp, _, blueprint = self._loaded.get(path, (None, 0, None))
        try:
            now = _stamp(path)
        except OSError as error:
            raise _removed_just_now(path) from error
        if blueprint is None or stamp != now:
            try:
                text = path.read_text()
                blueprint = self._from_json(path.parent, text)
                if blueprint.files and not isinstance(blueprint.files, StoredFiles):
                    text = _to_json(blueprint)
                    self._write_contents(path.parent, blueprint)
                    _replace(path, text)
                    now, blueprint = _stamp(path), self._from_json(path.parent, text)
            except (OSError, ValueError, KeyError, TypeError) as error:
                message = f"blueprint file {path} cannot be read ({error}): remove it, then create the blueprint again"
                raise PlatformError(message, step="read blueprint") from error
            self._keep_loaded(path, now, len(text), blueprint)
        else:
            with self._loading:
                if path in self._loaded:
                    self._loaded.move_to_end(path)
        return blueprint

    def _keep_loaded(self, path: Path, stamp: tuple[int, int], size: int, blueprint: Blueprint) -> None:
        self._places[path.parent, blueprint.id] = path
        self._marks.setdefault(path.parent, {})[path] = _Mark(stamp, blueprint.id, blueprint.created_at or _EPOCH)
        with self._loading:
            self._unload(path)
            self._loaded[path] = (stamp, size, blueprint)
            self._loaded_bytes += size
            while self._loaded_bytes > LOADED_BYTES and len(self._loaded) > 1:
                self._unload(next(iter(self._loaded)))

    def _unload(self, path: Path) -> None:
        _, size, _ = self._loaded.pop(path, (None, 0, None))
        self._loaded_bytes -= size

    def _from_json(self, root: Path, text: str) -> Blueprint:
        read = json.loads(text)
        sizes = read.pop("file_sizes", None)
        blueprint = Blueprint.from_dict(read)
        if sizes:  # else its files are in the record, if it has some
            files = StoredFiles(_contents_of(root, blueprint.id), sizes, self.contents)
            blueprint = replace(blueprint, files=files)
        return blueprint if blueprint.digest else _with_digest(blueprint)  # an earlier version's record has none

    def _write_contents(self, root: Path, blueprint: Blueprint) -> None:
        if blueprint.files:
            with open(_contents_of(root, blueprint.id), "wb", opener=private_opener) as file:
                file.writelines(blueprint.files.values())

    def _check_room(self, workspace: str, more: int, limits: WorkspaceLimits | None) -> None:
        """One more record, of so many bytes. Raises LimitExceededError."""
        if limits is None:
            return
        root = self._root_of(workspace)
        known = self._sizes.get(root, {})
        self._sizes[root] = sizes = {}
        versions = [_path(root, name, version) for name, version in _versions(root)]
        for path in (*versions, *root.glob(_CONTENTS.format("*"))):
            with suppress(OSError):  # removed just now
                sizes[path] = known.get(path) or path.stat().st_size
        told = None
        if len(versions) >= limits.blueprints:
            told = f"{len(versions)} versions of blueprints and may have {limits.blueprints} (blueprints)"
        elif sum(sizes.values()) + more > limits.blueprint_bytes:
            told = f"{sum(sizes.values())} bytes of blueprints and may have {limits.blueprint_bytes} (blueprint_bytes)"
        if told is not None:
            raise LimitExceededError(
                f"this workspace has {told}: delete blueprints that nobody needs any more", reason="BLUEPRINTS"
            )

    def _record(self, workspace: str, blueprint: Blueprint, limits: WorkspaceLimits | None) -> None:
        """Write the next version; a link cannot replace a file, so that two writers get two versions."""
        root = self._root_of(workspace)
        written = _to_json(blueprint)
        more = len(written) + blueprint.file_bytes
        if len(written) > MOST_RECORD_BYTES:
            raise ValidationError(
                f"blueprint {blueprint.name}: without its files it has {len(written)} bytes, and may have "
                f"{MOST_RECORD_BYTES}: put long values of variables into a file"
            )
        self._check_room(workspace, more, limits)  # the workspace has one thread: nothing else is written meanwhile
        draft = root / f".{blueprint.id}.draft"
        try:
            private_folder(root)
            self._write_contents(root, blueprint)
            with open(draft, "w", opener=private_opener) as file:
                file.write(written)
            stamp = _stamp(draft)
            version = max((number for name, number in _versions(root) if name == blueprint.name), default=0) + 1
            while True:
                try:
                    os.link(draft, _path(root, blueprint.name, version))
                    break
                except FileExistsError:
                    version += 1
        except OSError as error:
            _contents_of(root, blueprint.id).unlink(missing_ok=True)
            message = f"blueprint {blueprint.name} cannot be recorded in {root}: {error}"
            raise PlatformError(message, step="write blueprint") from error
        finally:
            draft.unlink(missing_ok=True)
        place = _path(root, blueprint.name, version)
        self._keep_loaded(place, stamp, len(written), self._from_json(root, written))


def _held_place(folder: Path, name_or_id: str) -> Path:
    """A version that was asked for by its id is not what its name means."""
    return folder / _HELD_BY_ID if name_or_id.startswith(_ID_PREFIX) else folder


@contextmanager
def _alone_in(root: Path) -> Iterator[None]:
    """Nobody else, of this process or another one, changes what an organisation is shown. Raises PlatformError."""
    try:
        private_folder(root)
        lock = os.open(root / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise PlatformError(f"{root} cannot be locked: {error}", step="write blueprint") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _owner_of(root: Path, name: str) -> str | None:
    """The workspace that has published a name; None = it is not noted."""
    try:
        return (root / _OWNER.format(name)).read_text()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PlatformError(f"{root / _OWNER.format(name)} cannot be read: {error}", step="read blueprint") from error


def _is_of_default_image(blueprint: Blueprint) -> bool:
    from harena.runtime.host.image import is_default

    return is_default(blueprint.image)


def _in_thread(workspace: str, function: Callable[P, T], /, *given: P.args, **named: P.kwargs) -> Awaitable[T]:
    return BLUEPRINTS.run_for(workspace, partial(function, *given, **named))


def _kept_text(text: str, field: str, most: int) -> str:
    if not isinstance(text, str) or len(text) > most:
        raise ValidationError(f"{field}: must be a text of at most {most} characters")
    return encodable(text, field)


def _removed_just_now(path: Path) -> NotFoundError:
    return NotFoundError(f"blueprint {path.name.partition('@')[0]!r} was removed just now")


def _check_image(image: str, packages: Sequence[str], warm: Sequence[str] | None, profile: Profile) -> None:
    """Whether the image can be had is told when the first sandbox is made: it may be pulled until then."""
    from harena.runtime.host.image import is_default

    if is_default(image):
        if profile == "machine":
            raise ValidationError(
                "profile: only blueprints of an image can be `machine`; name an image, or leave the profile out"
            )
        return
    snapshot = snapshot_in(image)
    if snapshot is None:
        parse_reference(image)
    else:
        checked_snapshot(snapshot)
    if packages:
        raise ValidationError(
            f"blueprint of image {image!r}: packages are installed beside the default image's interpreter only; leave "
            "them out, and use an image that has them"
        )
    if warm is not None:
        raise ValidationError(
            f"blueprint of image {image!r}: only programs of the default image's interpreter can be kept warm; leave "
            "`warm` out"
        )


def _check(
    name: str, image: str, files: Mapping[str, object], env: Mapping[str, object], warm: Sequence[str] | None
) -> None:
    """Everything that can be wrong before anything is done."""
    from harena.runtime.host.image import is_default

    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.startswith(_ID_PREFIX):
        raise ValidationError(
            f"blueprint name {name!r}: use 1 to 64 letters, digits, dots, dashes and underscores, "
            f"a letter or digit first, and not {_ID_PREFIX!r} at the start, which marks ids"
        )
    if name in BUILT_IN:
        raise ValidationError(f"blueprint {name!r} is built in and cannot be made anew: choose another name")
    has_read_only_places = is_default(checked_text(image, "image"))
    for path, content in files.items():
        if not path.startswith("/") or "\0" in path or path.endswith("/"):
            raise ValidationError(f"blueprint file {path!r}: give the absolute path of a file inside the sandbox")
        encodable(path, "blueprint file")
        if not isinstance(content, bytes):
            raise ValidationError(f"blueprint file {path!r}: give its content as bytes, not {type(content).__name__}")
        if has_read_only_places:
            _check_writable(path)
    for key, value in env.items():
        if not key or "=" in key or "\0" in key or not isinstance(value, str) or "\0" in value:
            raise ValidationError(f"blueprint environment variable {key!r}: names without '=', and text as values")
        encodable(key, "blueprint environment variable")
        encodable(value, f"blueprint environment variable {key}")
    if isinstance(warm, str):
        raise ValidationError(f"warm must be a list of module names, not the string {warm!r}")
    for module in warm or ():
        if not all(part.isidentifier() and not keyword.iskeyword(part) for part in module.split(".")):
            raise ValidationError(f"warm module {module!r} is not the name of a module, like 'numpy' or 'os.path'")


def hand_out(root: Path, workspaces: Iterable[str]) -> None:
    """Give each of these workspaces the blueprints that the default one has now: earlier versions knew no others. What
    is there stays. Raises PlatformError."""
    try:
        for workspace in set(workspaces) - {DEFAULT_WORKSPACE}:
            theirs = root / checked_workspace(workspace)
            records = [_path(root, name, version) for name, version in _versions(root)]
            if records:
                private_folder(theirs)
            for path in (*root.glob(_CONTENTS.format("*")), *records):  # a record is there when its contents are
                with suppress(FileExistsError):
                    os.link(path, theirs / path.name)
    except OSError as error:
        raise PlatformError(f"blueprints in {root} cannot be linked: {error}", step="write blueprint") from error


def _versions(root: Path) -> Iterator[tuple[str, int]]:
    try:
        names = os.listdir(root)
    except FileNotFoundError:
        return
    for name in names:
        if match := _FILE.fullmatch(name):
            yield match[1], int(match[2])


def _path(root: Path, name: str, version: int) -> Path:
    return root / f"{name}@{version:06d}.json"


def _stamp(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_ino, state.st_mtime_ns


def _check_writable(path: str) -> None:
    """A blueprint's files are written when a sandbox starts, by a process that has no more rights than its programs."""
    from harena.runtime.guest.launch import WRITABLE_PLACES

    if not any(posixpath.normpath(path).startswith(f"{place}/") for place in WRITABLE_PLACES):
        raise ValidationError(
            f"blueprint file {quote(path)}: a sandbox can be written to below {', '.join(sorted(WRITABLE_PLACES))} "
            "only; put the file there"
        )


def _check_modules_exist(warm: Sequence[str], packages: Path | None, requested: Sequence[str]) -> None:
    for module in warm:
        top = module.partition(".")[0]
        if not (top in sys.stdlib_module_names or (packages and _holds(packages, top)) or find_spec(top)):
            asked = ", ".join(requested) or "none"
            raise ValidationError(
                f"warm module {module!r} is neither in the standard library nor in the packages that were asked for "
                f"({asked}): add the package that has it"
            )


def _holds(packages: Path, module: str) -> bool:
    return (packages / module).is_dir() or any(
        (packages / f"{module}{suffix}").is_file() for suffix in (".py", *EXTENSION_SUFFIXES)
    )


def _to_json(blueprint: Blueprint) -> str:
    written = replace(blueprint, files={}).to_dict()
    del written["files"]
    written["file_sizes"] = blueprint.file_sizes
    return json.dumps(written, indent=1)


def _read_ledger(path: Path) -> dict[str, int]:
    """digest of a layer -> bytes. Raises PlatformError."""
    try:
        read: dict[str, int] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise PlatformError(f"{path} cannot be read: {error}", step="read blueprint") from error
    return read


def _replace(path: Path, text: str) -> None:
    draft = path.with_name(f".{secrets.token_hex(6)}.draft")
    with open(draft, "w", opener=private_opener) as file:
        file.write(text)
    draft.replace(path)


def _mark_of(path: Path, blueprint: Blueprint) -> _Mark:
    try:
        return _Mark(_stamp(path), blueprint.id, blueprint.created_at or _EPOCH)
    except OSError as error:
        raise _removed_just_now(path) from error


def _contents_of(root: Path, blueprint_id: str) -> Path:
    return root / _CONTENTS.format(blueprint_id)


def _summary(blueprint: Blueprint) -> BlueprintSummary:
    return BlueprintSummary(
        id=blueprint.id,
        name=blueprint.name,
        image=blueprint.image,
        profile=blueprint.profile,
        packages=blueprint.packages,
        requested=blueprint.requested,
        warm=blueprint.warm,
        layer=blueprint.layer,
        created_at=blueprint.created_at,
        files=len(blueprint.files),
        file_bytes=blueprint.file_bytes,
        digest=blueprint.digest,
    )
