"""Blueprints that workspaces have published to their organisation, as links to the files of their records.

An organisation's folder says of each name which workspace has published it: the name is nobody else's there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.home import private_folder
from harena.core.records.blueprints import Blueprint
from harena.core.registry import VERSION_TAKEN
from harena.core.workspace import checked_organization
from harena.runtime.host.blueprint_records import (
    BlueprintRecords,
    contents_of,
    removed_just_now,
    replace_file,
)

_ORGANIZATIONS = ".organizations"
_OWNER = ".{}.owner"
"""file of an organisation's folder: the workspace that has published this name, which is nobody else's there"""
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class PublishedBlueprints:
    """Blocking; used in the thread of the workspace that asks."""

    root: Path
    records: BlueprintRecords
    root_of: Callable[[str], Path]
    """the folder of a workspace"""

    def root_of_organization(self, organization: str) -> Path:
        """The folder with what an organisation is shown."""
        # no workspace's name begins with a dot
        return self.root / _ORGANIZATIONS / checked_organization(organization)

    def publish(self, workspace: str, organization: str, blueprint: Blueprint) -> Blueprint:
        """Show a blueprint of the workspace to an organisation. Raises ValidationError, NotFoundError,
        PlatformError."""
        own, root = self.root_of(workspace), self.root_of_organization(organization)
        place, name = self.records.place(own, blueprint.id), blueprint.name
        shown = root / place.name
        with _alone_in(root):
            there = self.records.ids_of(root, name)
            owner = _owner_of(root, name)
            if there and (owner != workspace if owner is not None else not there <= self.records.ids_of(own, name)):
                raise ValidationError(
                    f"another workspace of the organisation has published a blueprint {name!r}: publish this one under "
                    "another name",
                    reason=VERSION_TAKEN,
                )
            if shown.exists() and (before := self.records.mark(shown).id) != blueprint.id:
                # of a name that was made anew
                self.records.remove(shown, before)
            try:
                replace_file(root / _OWNER.format(name), workspace)
                for path in (  # a record is there when its contents are
                    *([contents_of(own, blueprint.id)] if blueprint.files else []),
                    place,
                ):
                    with suppress(FileExistsError):
                        os.link(path, root / path.name)
                if self.records.mark(place).id == blueprint.id:
                    self.records.mark(shown)
                    return blueprint
            except (FileNotFoundError, NotFoundError):  # another process has removed it meanwhile
                pass
            except OSError as error:
                message = f"blueprint {name} cannot be published in {root}: {error}"
                raise PlatformError(message, step="write blueprint") from error
            self.records.remove(shown, blueprint.id)
        raise removed_just_now(place)

    def take_back(self, workspace: str, name: str, ids: Set[str] | None = None, *, but: str | None = None) -> None:
        """Unlink what organisations, `but` this one, have been shown of the workspace's blueprints of a name; `ids`:
        only these."""
        for root in (self.root / _ORGANIZATIONS).glob("*"):
            if root.name == but or name not in self.records.listing(root).versions:
                continue
            with _alone_in(root):
                owner = _owner_of(root, name)
                mine = self.records.ids_of(self.root_of(workspace), name) if owner is None else frozenset[str]()
                stays = False
                for path, found in [*self.records.found(root, name)]:
                    if (owner == workspace or found in mine) and (ids is None or found in ids):
                        self.records.remove(path, found)
                    else:
                        stays = True
                if not stays:
                    (root / _OWNER.format(name)).unlink(missing_ok=True)


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
