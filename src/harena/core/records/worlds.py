"""Worlds, abstract games on a graph, and jobs that make trajectories in them, as they are asked for and answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self

from harena.core.records.record import Record
from harena.core.worlds import (
    MOST_DOMAINS,
    MOST_GOALS,
    MOST_WORLDS_PAGE,
    SCRIPTED,
    PlayMode,
    RowForm,
    Strategy,
    WorldPreset,
    manifest_fields,
    order_fields,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldManifest(Record):
    """What a world is made of. The same manifest is always the same world."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"domains": MOST_DOMAINS}

    name: str
    """chosen by who made it"""
    preset: WorldPreset
    """what the numbers are where nothing else was said: small, medium, large or enterprise"""
    seed: int
    """what everything that is drawn is drawn from"""
    num_users: int
    """number of principals"""
    num_hosts: int
    """number of hosts"""
    domains: list[str]
    """names of its domains; an episode begins in the first"""

    def __post_init__(self) -> None:
        manifest_fields(self.to_dict())

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> Self:
        """A manifest of the fields that were given; the preset says the others. Raises ValidationError, which names
        each field that is wrong."""
        return cls(**manifest_fields(given))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryOrder(Record):
    """An order says which trajectories of a world are made. The same order of one world always gives the same ones."""

    goal: str
    """group whose member the player is to become; without a domain, the first domain's"""
    count: int
    """number of episodes, from 1 to 100"""
    strategy: Strategy
    """who plays: random, greedy, recon-first or smart-random"""
    max_steps: int
    """steps of an episode at the most, from 1 to 1000"""
    seed: int
    """what the players' choices are drawn from"""
    threads: int
    """episodes that are played at the same time, from 1 to 16; they are the same with any number"""
    only_successful: bool
    """episodes that do not reach the goal are left out"""
    form: RowForm
    """how the rows are written: atif (trajectories), messages (conversations with calls of tools) or text
    (conversations with one line for each action)"""
    mode: PlayMode = SCRIPTED
    """who plays: the strategy (scripted), or a model (agent)"""
    agent_model: str | None = None
    """model that plays, as training jobs name models; null = none does"""
    capability: str | None = None
    """capability whose prompt the model is given, NAME@VERSION; null = none"""

    @property
    def player(self) -> str:
        """Who plays: a strategy, or the word for a model."""
        return self.strategy if self.mode == SCRIPTED else self.mode

    def __post_init__(self) -> None:
        order_fields(self.to_dict())

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> Self:
        """An order of the fields that were given. Raises ValidationError, which names each field that is wrong."""
        return cls(**order_fields(given))


class WorldJobState(StrEnum):
    """How far a world's job is."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """The job has ended."""
        return self not in (WorldJobState.QUEUED, WorldJobState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldGoal(Record):
    """A group of a world that a player can come to be in."""

    name: str
    """the group's name, with its domain"""
    steps: int
    """steps of a shortest way"""
    optimal_return: float
    """highest return of an episode: 1 for the goal, less 0.001 for each step"""


@dataclass(frozen=True, slots=True, kw_only=True)
class World(Record):
    """A world that the workspace keeps."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"goals": MOST_GOALS}

    id: str
    """names the world; so does its manifest's name, where no newer one has the same"""
    manifest: WorldManifest
    """what the world is made of"""
    digest: str
    """sha256 of its network, in hexadecimal digits: equal worlds have equal digests"""
    groups: int
    """number of groups"""
    edges: int
    """number of access edges: from a group to a host or to a group above it, and from a principal to a group"""
    sessions: int
    """number of sessions, each of which leaves a guarded credential on a host"""
    open_credentials: int
    """number of credentials that lie open on a host"""
    goals: list[WorldGoal]
    """every group that can be reached, the nearest first"""
    created_at: str
    """when it was created"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldsPage(Record):
    """One page of worlds, the newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"worlds": MOST_WORLDS_PAGE}

    worlds: list[World]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldMap(Record):
    """A picture of a world."""

    world: str
    """id of the world"""
    text: str
    """the picture in lines, for a terminal"""
    svg: str
    """the picture as SVG"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldJob(Record):
    """Trajectories of a world, in the making or made. They are published as a data set."""

    id: str
    """names the job"""
    world: str
    """id of the world"""
    manifest: WorldManifest
    """the world's, as it was when the job was created"""
    order: TrajectoryOrder
    """which trajectories are made"""
    dataset: str
    """data set that they are published as, NAME@VERSION; it is there once the job has completed"""
    state: WorldJobState
    """queued, running, completed, failed or cancelled"""
    played: int
    """episodes that were played"""
    reached: int
    """episodes that reached the goal"""
    rows: int
    """episodes that are rows of the data set"""
    error: str | None
    """why it failed; null = it did not"""
    created_at: str
    """when it was created"""
    ended_at: str | None
    """when it ended; null = it has not"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldJobsPage(Record):
    """One page of the jobs of worlds, the newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"world_jobs": MOST_WORLDS_PAGE}

    world_jobs: list[WorldJob]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""
