"""Snapshots: images with a name of their own, which are made of what a sandbox has written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from harena.core import settings
from harena.core.clock import Clock
from harena.core.errors import LimitExceededError, NotFoundError, ValidationError
from harena.core.records.snapshots import Snapshot, SnapshotsPage
from harena.core.snapshots import ID_PATTERN, checked_name, new_id, snapshot_in
from harena.image_store.kept import KeptImage, KeptSnapshot
from harena.image_store.sealing import SealedLayer
from harena.image_store.store import ImageStore, Work
from harena.image_store.unpacking import number


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The records of snapshots. Blocking; used from any thread."""

    store: ImageStore
    clock: Clock

    def all(self, workspace: str) -> list[KeptSnapshot]:
        """List what has not expired, the oldest first; the others are gone then."""
        left = []
        for one in self.store.snapshots(workspace):
            if self.is_over(one):
                self.store.forget_snapshot(workspace, one.id)
            else:
                left.append(one)
        return sorted(left, key=lambda one: (one.created_at, one.id))

    def is_over(self, kept: KeptSnapshot) -> bool:
        """Its time has come."""
        return kept.expires_at is not None and datetime.fromisoformat(kept.expires_at) <= self.clock.utcnow()

    def page(self, workspace: str, limit: int, cursor: int | None) -> SnapshotsPage:
        """Build one page of the workspace's snapshots; `cursor` counts those before the page."""
        found, begin = self.all(workspace), cursor or 0
        page = [self.record(one) for one in found[begin : begin + limit]]
        return SnapshotsPage(snapshots=page, next_cursor=begin + limit if len(found) > begin + limit else None)

    def find(self, workspace: str, named: str) -> KeptSnapshot:
        """The snapshot of this name or id. Raises NotFoundError."""
        found = None
        if re.fullmatch(ID_PATTERN, named):
            found = self.store.snapshot(workspace, named)
            if found is not None and self.is_over(found):
                self.store.forget_snapshot(workspace, found.id)
                found = None
        else:
            found = next((one for one in self.all(workspace) if one.name == named), None)
        if found is None:
            raise NotFoundError(
                f"this workspace has no snapshot {named!r:.200}: `harena snapshot ls` lists them",
                reason="SNAPSHOT_NOT_FOUND",
            )
        return found

    def room(self, workspace: str, name: str | None) -> int:
        """How many bytes the workspace's snapshots may take beside those that there are. Raises ValidationError (the
        name is taken), LimitExceededError (there is no room)."""
        return self._room(self.all(workspace), name)

    def _room(self, there: Sequence[KeptSnapshot], name: str | None) -> int:
        if name is not None and any(one.name == checked_name(name) for one in there):
            raise ValidationError(
                f"there is a snapshot called {name}: remove it first (`harena snapshot rm {name}`), or choose another "
                "name",
                reason="SNAPSHOT_NAME",
            )
        budget = number(settings.SNAPSHOT_BYTES)
        left = budget - sum({one.layer: one.size_bytes for one in there}.values())
        if left <= 0:
            raise _no_room(budget, 0)
        return left

    def keep(
        self,
        workspace: str,
        image: KeptImage,
        sealed: SealedLayer,
        base: str,
        meant: str,
        sandbox: str,
        name: str | None,
        ttl_seconds: int | None,
        work: Work,
        *,
        begun_as: str,
    ) -> Snapshot:
        """Remember a snapshot whose image is here. `base`: the digest of the image or snapshot that the sandbox is one
        of, which it has named as `begun_as`. `meant`: the image that it says, where it lies on no snapshot. Raises as
        `room`."""
        with self.store.alone():  # nobody else takes the name or the room
            layer = self.store.layer(sealed.digest)
            size = 0 if layer is None else layer.disk_bytes
            there = self.all(workspace)
            is_there = any(one.layer == sealed.digest for one in there)
            if self._room(there, name) < size and not is_there:
                raise _no_room(number(settings.SNAPSHOT_BYTES), size)
            parent = _parent(there, base, begun_as)
            now = self.clock.utcnow()
            kept = KeptSnapshot(
                id=new_id(),
                name=name,
                digest=image.digest,
                layer=sealed.digest,
                parent=None if parent is None else parent.id,
                image=meant if parent is None else parent.image,
                sandbox=sandbox,
                files=sealed.files,
                size_bytes=size,
                left_out=dict(sealed.left_out),
                created_at=now.isoformat(),
                expires_at=None if ttl_seconds is None else (now + timedelta(seconds=ttl_seconds)).isoformat(),
            )
            self.store.keep_snapshot(workspace, kept, work)
        return self.record(kept)

    def record(self, kept: KeptSnapshot) -> Snapshot:
        """The record that is answered."""
        image = self.store.image(kept.digest)
        return Snapshot(
            id=kept.id,
            name=kept.name,
            parent=kept.parent,
            image=kept.image,
            digest=f"sha256:{kept.digest}",
            sandbox=kept.sandbox,
            layers=0 if image is None else len(image.layers),
            files=kept.files,
            size_bytes=kept.size_bytes,
            left_out=kept.left_out,
            created_at=kept.created_at,
            expires_at=kept.expires_at,
            in_use=self.store.is_held(kept.digest),
        )


def _parent(there: Sequence[KeptSnapshot], base: str, meant: str) -> KeptSnapshot | None:
    same = [one for one in there if one.digest == base]
    named = snapshot_in(meant)
    return next((one for one in same if named in (one.id, one.name)), same[-1] if same else None)


def _no_room(budget: int, size: int) -> LimitExceededError:
    needed = f", and this one takes {size}" if size else ""
    return LimitExceededError(
        f"the snapshots of a workspace may take {budget} bytes ({settings.SNAPSHOT_BYTES.name}){needed}: remove some "
        "(`harena snapshot rm`)",
        reason="SNAPSHOT_SPACE",
    )
