"""The graph that a game is played on: hosts, principals, groups, access edges, sessions and credentials.

Everything is an entry of a tuple and is named by its place there. What a game asks often (where a principal may go,
what a host shows) is worked out once, when the network is made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Host:
    """A place where a principal can be."""

    name: str
    domain: int


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts. What it may do, it may do by its groups."""

    name: str
    domain: int
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Who may do the same: its members, and those of groups that have it as a parent."""

    name: str
    domain: int
    parents: tuple[int, ...]
    """groups that its members are members of, too"""
    access: tuple[int, ...]
    """hosts that its members can move to"""
    admin: tuple[int, ...]
    """hosts that its members can move to and escalate on"""


@dataclass(frozen=True, slots=True)
class Credential:
    """What makes whoever has it at hand a principal."""

    name: str
    principal: int
    host: int
    """where it lies"""
    guarded: bool
    """it comes of a session, and only who has escalated on the host sees it"""


@dataclass(frozen=True)
class Network:
    """A whole graph. It never changes."""

    domains: tuple[str, ...]
    hosts: tuple[Host, ...]
    principals: tuple[Principal, ...]
    groups: tuple[Group, ...]
    sessions: tuple[tuple[int, int], ...]
    """(principal, host)"""
    open_credentials: tuple[tuple[int, int], ...]
    """(principal, host) of what lies there for everybody to see"""
    home: tuple[int, int]
    """(principal, host) of every episode's beginning"""
    credentials: tuple[Credential, ...] = field(init=False)

    def __post_init__(self) -> None:
        lying = [(*entry, False) for entry in self.open_credentials] + [(*entry, True) for entry in self.sessions]
        made = (Credential(f"key-{place}", who, host, guarded) for place, (who, host, guarded) in enumerate(lying))
        object.__setattr__(self, "credentials", tuple(made))

    @cached_property
    def memberships(self) -> tuple[frozenset[int], ...]:
        """Groups of each principal, those above its own included."""
        above = [self._closed((place,)) for place in range(len(self.groups))]
        return tuple(frozenset().union(*(above[group] for group in one.groups)) for one in self.principals)

    @cached_property
    def admin(self) -> tuple[frozenset[int], ...]:
        """Hosts that each principal can escalate on."""
        return tuple(
            frozenset(host for group in groups for host in self.groups[group].admin) for groups in self.memberships
        )

    @cached_property
    def targets(self) -> tuple[tuple[int, ...], ...]:
        """Hosts that each principal can move to, sorted."""
        return tuple(
            tuple(sorted(admin.union(*(self.groups[group].access for group in groups))))
            for groups, admin in zip(self.memberships, self.admin, strict=True)
        )

    @cached_property
    def can_move(self) -> tuple[frozenset[int], ...]:
        """`targets` as sets."""
        return tuple(map(frozenset, self.targets))

    @cached_property
    def shown(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """For each host the credentials that everybody sees there, and those that one sees who has escalated."""
        seen: list[tuple[list[int], list[int]]] = [([], []) for _ in self.hosts]
        for place, one in enumerate(self.credentials):
            seen[one.host][1].append(place)
            if not one.guarded:
                seen[one.host][0].append(place)
        return tuple((tuple(plain), tuple(everything)) for plain, everything in seen)

    @cached_property
    def place_of_host(self) -> dict[str, int]:
        """Name of a host -> its place."""
        return {host.name: place for place, host in enumerate(self.hosts)}

    @cached_property
    def place_of_credential(self) -> dict[str, int]:
        """Name of a credential -> its place."""
        return {one.name: place for place, one in enumerate(self.credentials)}

    @cached_property
    def digest(self) -> str:
        """sha256 of everything that is said of the network, in hexadecimal digits."""
        told = {
            "domains": self.domains,
            "hosts": [[host.name, host.domain] for host in self.hosts],
            "principals": [[one.name, one.domain, one.groups] for one in self.principals],
            "groups": [[one.name, one.domain, one.parents, one.access, one.admin] for one in self.groups],
            "sessions": self.sessions,
            "open_credentials": self.open_credentials,
            "home": self.home,
        }
        return hashlib.sha256(json.dumps(told, separators=(",", ":"), sort_keys=True).encode()).hexdigest()

    def members(self, group: int) -> frozenset[int]:
        """Principals in a group, by whatever way."""
        return frozenset(place for place, groups in enumerate(self.memberships) if group in groups)

    @property
    def edges(self) -> int:
        """Number of access edges: from a group to a host, from a group to a parent, from a principal to a group."""
        of_groups = sum(len({*one.access, *one.admin}) + len(one.parents) for one in self.groups)
        return of_groups + sum(len(one.groups) for one in self.principals)

    def _closed(self, groups: Iterable[int]) -> frozenset[int]:
        found, waiting = set[int](), list(groups)
        while waiting:
            if (group := waiting.pop()) not in found:
                found.add(group)
                waiting += self.groups[group].parents
        return frozenset(found)
