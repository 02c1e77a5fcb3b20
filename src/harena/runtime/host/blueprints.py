"""Blueprints: recipes for sandboxes, kept as one JSON file per version below harena's home.

    blueprints/<name>@<version>.json               the default workspace's
    blueprints/<workspace>/<name>@<version>.json   those of another one
    blueprints/.organizations/<name>/...           those that workspaces have published to it, as links to their files,
                                                   and in `.<name>.owner` whose a name is

The contents of its files lie beside it in `.<id>.files`, see `blueprint_files`. A file is written beside and linked
into place: whole or not there. None is changed, but that a record of earlier versions, which holds contents, is
divided when it is first read (`blueprint_records`). Creating a name again makes the next version; `get(name)` gives
the newest and `get(id)` exactly one. A name belongs to its workspace, and what another workspace has is not found,
unless it was published to the organisation of both (`published_blueprints`). Two blueprints are always there, for
all: `default` (nothing installed, every exec is a real start) and `python-warm` (nothing installed, a bare warm
interpreter). Packages are installed when the blueprint is created, by `harena.runtime.host.layers`; what is installed
is shared by its content.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from harena.core.blueprint_source import BlueprintSource, found_in_thread
from harena.core.clock import Clock
from harena.core.daemons import Daemon
from harena.core.errors import LimitExceededError, NotFoundError, PlatformError, ValidationError
from harena.core.gateways import Gateway
from harena.core.home import harena_home, private_folder, private_opener
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
from harena.core.threads import BLUEPRINTS, PACKAGES
from harena.core.workspace import DEFAULT_WORKSPACE, OrganizationOf, WorkspaceLimits, checked_workspace
from harena.runtime.host.blueprint_checks import check_blueprint, check_image, check_modules_exist, kept_text
from harena.runtime.host.blueprint_listings import NAME, listed
from harena.runtime.host.blueprint_records import (
    CONTENTS,
    EPOCH,
    ID_PREFIX,
    BlueprintRecords,
    Mark,
    contents_of,
    record_path,
    replace_file,
    stamp_of,
    to_json,
    with_digest,
)
from harena.runtime.host.published_blueprints import PublishedBlueprints

if TYPE_CHECKING:
    from harena.runtime.host.layers import InstalledLayer, LayerStore

_HELD_BY_ID = "by_id"
_LEDGER = ".layers.json"
"""file of a workspace's folder: the layers that it has brought to the disk"""
MOST_RECORD_BYTES = 1024 * 1024
"""size of a blueprint's record without its files: a program can have no more variables"""


BUILT_IN = {
    name: with_digest(Blueprint(id=f"{ID_PREFIX}{name}", name=name, warm=warm, created_at=EPOCH))
    for name, warm in ((DEFAULT_BLUEPRINT, None), (WARM_BLUEPRINT, ()))
}


MOST_TOLD = 50
"""names that are told to whoever asks for one that is not there"""
P = ParamSpec("P")
T = TypeVar("T")


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
        self._installing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by workspace
        self.records = BlueprintRecords(clock)
        """what is in the folders of all workspaces"""
        self._shown = PublishedBlueprints(self._root, self.records, self._root_of)

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
        await _in_thread(
            workspace,
            check_blueprint,
            name,
            image,
            files,
            env,
            warm,
            is_built_in=isinstance(name, str) and name in BUILT_IN,
        )
        check_image(image, packages, warm, profile)
        await _in_thread(workspace, self._check_room, workspace, sum(map(len, files.values())), room)
        made = await self._installed(workspace, packages, room) if packages else None
        layer = self.layers.path(made.digest) if made else None
        await _in_thread(workspace, check_modules_exist, warm or (), layer, packages)
        blueprint = Blueprint(
            id=f"{ID_PREFIX}{secrets.token_hex(6)}",
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
            recipe=kept_text(recipe, "recipe", MOST_RECIPE_CHARACTERS),
            log=kept_text(log, "log", MOST_LOG_CHARACTERS),
            created_at=self._clock.utcnow(),
        )
        blueprint = await _in_thread(workspace, with_digest, blueprint)
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
                    await _in_thread(workspace, replace_file, ledger, json.dumps({**brought, made.digest: made.bytes}))
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
            self.records.write_contents(root, blueprint)
            replace_file(record_path(root, blueprint.name, 1), to_json(blueprint))
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
        root = self._shown.root_of_organization(await self.organization_of(workspace))
        return await _in_thread(workspace, self.records.found_in, root, name_or_id)

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
        await _in_thread(workspace, self._shown.take_back, workspace, made.name, {made.id}, but=organization)
        return made

    async def withdraw(self, workspace: str, name_or_id: str) -> Blueprint:
        """Show every version of a name, or the one with this id, to its own workspace alone. Raises NotFoundError,
        PlatformError."""
        return await _in_thread(workspace, self._withdraw, workspace, name_or_id)

    def _publish(self, workspace: str, organization: str, blueprint_id: str) -> Blueprint:
        return self._shown.publish(workspace, organization, self.find(workspace, blueprint_id))

    def _withdraw(self, workspace: str, name_or_id: str) -> Blueprint:
        blueprint = self.find(workspace, name_or_id)
        self._shown.take_back(workspace, blueprint.name, None if name_or_id == blueprint.name else {blueprint.id})
        return blueprint

    def _delete(self, workspace: str, name_or_id: str) -> list[str]:
        blueprint = self.find(workspace, name_or_id)
        if blueprint.name in BUILT_IN:
            raise ValidationError(f"blueprint {blueprint.name!r} is built in and cannot be removed")
        root, name = self._root_of(workspace), blueprint.name
        going = {found: path for path, found in self.records.found(root, name) if name_or_id in (name, found)}
        # first: what is shown of a record that is gone nobody could withdraw
        self._shown.take_back(workspace, name, {*going})
        for blueprint_id, path in going.items():
            self.records.remove(path, blueprint_id)
        self._shown.take_back(workspace, name, {*going})  # another process may have published it in between
        return [*going]

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
            root, built_in = self._shown.root_of_organization(await self.organization_of(workspace)), []
        return await _in_thread(workspace, self._page, root, built_in, name, before, limit)

    def _page(
        self,
        root: Path,
        always: Sequence[Blueprint],
        asked: str | None,
        before: tuple[datetime, str] | None,
        limit: int,
    ) -> BlueprintsPage:
        versions = self.records.listing(root)
        chosen = [*dict(versions).items()] if asked is None else [one for one in versions if one[0] == asked]
        found: list[tuple[Mark, Path | Blueprint]] = []
        for place in (record_path(root, name, version) for name, version in chosen):
            with suppress(NotFoundError):  # somebody else has removed it just now
                found.append((self.records.mark(place), place))
        found += [(Mark((0, 0), built_in.id, EPOCH), built_in) for built_in in always if asked in (None, built_in.name)]
        found.sort(key=lambda entry: entry[0].place_in_list)
        behind = [entry for entry in found if before is None or entry[0].is_behind(*before)]
        page: list[BlueprintSummary] = []
        room, looked_at = PageRoom(), 0
        for _, entry in behind[:limit]:
            with suppress(NotFoundError):
                summary = _summary(self.records.load(entry) if isinstance(entry, Path) else entry)
                if not room.takes(len(json.dumps(asdict(summary), default=str))):
                    break
                page.append(summary)
            looked_at += 1
        self.records.forget_others(root, {record_path(root, name, version) for name, version in versions})
        if looked_at == len(behind):
            return BlueprintsPage(page, None)
        last = behind[looked_at - 1][0]
        return BlueprintsPage(page, moment_cursor(last.created_at, last.id))

    def built_in(self, name_or_id: str) -> Blueprint | None:
        """A blueprint that every workspace has, by its name or id."""
        found = BUILT_IN.get(name_or_id.removeprefix(ID_PREFIX))
        return found if found is not None and name_or_id in (found.name, found.id) else None

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        """Find a blueprint, in the present thread: a file is read once, and a folder after each change; other calls
        look whether these are what they were."""
        if (built_in := self.built_in(name_or_id)) is not None:
            return built_in
        if self._held is not None:
            for place in {_held_place(self._held, name_or_id), self._held}:
                if (held := self.records.found_in(place, name_or_id)) is not None:
                    return held
        root = self._root_of(workspace)
        if (found := self.records.found_in(root, name_or_id)) is not None:
            return found
        known = self.records.listing(root).versions
        names = sorted({*islice(known, MOST_TOLD), *BUILT_IN})[:MOST_TOLD]
        there_are = ", ".join(names) + (", ..." if len(known) + len(BUILT_IN) > MOST_TOLD else "")
        example = name_or_id if NAME.fullmatch(name_or_id) and not name_or_id.startswith(ID_PREFIX) else "NAME"
        raise NotFoundError(
            f"no blueprint {name_or_id!r}; there are: {there_are}. Create one with "
            f"`harena blueprint create {example} --packages PACKAGE ... --warm MODULE ...`, or build one of a "
            "file with `harena blueprint build FILE`"
        )

    def _root_of(self, workspace: str) -> Path:
        # no file of the default workspace has a workspace's name: there is an @ in each of them
        return self._root if workspace == DEFAULT_WORKSPACE else self._root / checked_workspace(workspace)

    def _check_room(self, workspace: str, more: int, limits: WorkspaceLimits | None) -> None:
        """One more record, of so many bytes. Raises LimitExceededError."""
        if limits is None:
            return
        root = self._root_of(workspace)
        known = self.records.sizes.get(root, {})
        self.records.sizes[root] = sizes = {}
        versions = [record_path(root, name, version) for name, version in self.records.listing(root)]
        for path in (*versions, *root.glob(CONTENTS.format("*"))):
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
        written = to_json(blueprint)
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
            self.records.write_contents(root, blueprint)
            with open(draft, "w", opener=private_opener) as file:
                file.write(written)
            stamp = stamp_of(draft)
            version = max(self.records.listing(root).versions.get(blueprint.name, ()), default=0) + 1
            while True:
                try:
                    os.link(draft, record_path(root, blueprint.name, version))
                    break
                except FileExistsError:
                    version += 1
        except OSError as error:
            contents_of(root, blueprint.id).unlink(missing_ok=True)
            message = f"blueprint {blueprint.name} cannot be recorded in {root}: {error}"
            raise PlatformError(message, step="write blueprint") from error
        finally:
            draft.unlink(missing_ok=True)
        place = record_path(root, blueprint.name, version)
        self.records.keep_loaded(place, stamp, len(written), self.records.from_json(root, written))


def _held_place(folder: Path, name_or_id: str) -> Path:
    """A version that was asked for by its id is not what its name means."""
    return folder / _HELD_BY_ID if name_or_id.startswith(ID_PREFIX) else folder


def _is_of_default_image(blueprint: Blueprint) -> bool:
    from harena.runtime.host.image import is_default

    return is_default(blueprint.image)


def _in_thread(workspace: str, function: Callable[P, T], /, *given: P.args, **named: P.kwargs) -> Awaitable[T]:
    return BLUEPRINTS.run_for(workspace, partial(function, *given, **named))


def hand_out(root: Path, workspaces: Iterable[str]) -> None:
    """Give each of these workspaces the blueprints that the default one has now: earlier versions knew no others. What
    is there stays. Raises PlatformError."""
    try:
        for workspace in set(workspaces) - {DEFAULT_WORKSPACE}:
            theirs = root / checked_workspace(workspace)
            there = listed(root) if root.exists() else ()
            records = [record_path(root, name, version) for name, version in there]
            if records:
                private_folder(theirs)
            for path in (*root.glob(CONTENTS.format("*")), *records):  # a record is there when its contents are
                with suppress(FileExistsError):
                    os.link(path, theirs / path.name)
    except OSError as error:
        raise PlatformError(f"blueprints in {root} cannot be linked: {error}", step="write blueprint") from error


def _read_ledger(path: Path) -> dict[str, int]:
    """digest of a layer -> bytes. Raises PlatformError."""
    try:
        read: dict[str, int] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise PlatformError(f"{path} cannot be read: {error}", step="read blueprint") from error
    return read


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
