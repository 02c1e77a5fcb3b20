"""Worlds and their jobs as a store keeps them, and the port of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from harena.core.pages import PageRows


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWorld:
    """A world as it is created."""

    id: str
    workspace: str
    name: str
    manifest: Mapping[str, Any]
    """JSON of a `WorldManifest`"""
    facts: Mapping[str, Any]
    """digest, numbers and goals of its network, as `World` has them"""
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWorld(NewWorld):
    """A world as it is stored. It never changes."""

    sequence: int
    """its place in lists, newest last"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWorldJob:
    """A job as it is created."""

    id: str
    workspace: str
    world: str
    manifest: Mapping[str, Any]
    """JSON of the world's `WorldManifest`"""
    trajectories: Mapping[str, Any]
    """JSON of a `TrajectoryOrder`"""
    dataset: str
    """NAME@VERSION"""
    state: str
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWorldJob(NewWorldJob):
    """A job as it is stored."""

    sequence: int
    """its place in lists, newest last"""
    played: int
    reached: int
    rows: int
    error: str | None
    ended_at: str | None


class WorldStorePort(Protocol):
    """The worlds of one store. Every method is one transaction; all raise PlatformError."""

    async def add_world(self, new: NewWorld, *, most: int) -> bool:
        """Keep a world; false = the workspace has `most` others."""

    async def find_world(self, workspace: str, name_or_id: str) -> StoredWorld | None:
        """The world with this id, or the newest of this name."""

    async def worlds(
        self, workspace: str, *, name: str | None, before: int | None, limit: int
    ) -> PageRows[StoredWorld]:
        """One page of worlds, newest first."""

    async def remove_world(self, workspace: str, world: str) -> None:
        """Forget a world, by its id."""

    async def add_job(self, new: NewWorldJob, *, most_open: int, open_states: Sequence[str]) -> bool:
        """Keep a job; false = the workspace has `most_open` others in these states."""

    async def find_job(self, workspace: str, job: str) -> StoredWorldJob | None:
        """The job with this id."""

    async def jobs(
        self, workspace: str, *, world: str | None, before: int | None, limit: int
    ) -> PageRows[StoredWorldJob]:
        """One page of jobs (of one world), newest first."""

    async def jobs_in(self, states: Sequence[str]) -> list[StoredWorldJob]:
        """Every job in one of these states, of all workspaces, the oldest first."""

    async def write_job(self, job: str, changes: Mapping[str, Any], *, while_in: Sequence[str]) -> bool:
        """Change columns of a job while it is in one of these states; whether it was."""

    async def remove_job(self, workspace: str, job: str, *, while_in: Sequence[str]) -> bool:
        """Forget a job while it is in one of these states; whether it was."""
