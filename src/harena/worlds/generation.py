"""From a manifest to its network. Pure: the same manifest gives the same network, on every version of Python.

Each domain has a way that always leads from its first user to its administrators: credentials that lie open lead from
one ordinary user to the next, the last of these can escalate on a host where somebody of the help desk has a session,
the help desk on one where an administrator of servers has one, and these on a server where a domain's administrator
has one. The servers' administrators of each domain can move to one host of the next domain, where its first user's
credential lies open. What is drawn beside that makes detours, dead ends and, now and then, a shorter way.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from harena.core.records.worlds import WorldManifest
from harena.worlds.draws import Draws
from harena.worlds.network import Group, Host, Network, Principal

GENERATION = 1
"""changes with what the same manifest gives; digests of worlds change with it"""
ADMINS, SERVER_ADMINS, HELP_DESK, USERS = "Domain Admins", "Server Admins", "Help Desk", "Users"

_MOST_OF_GROUP = 12
"""hosts that one group can move to"""
_MOST_HOPS = 3
"""ordinary users whose credentials lie open on the way to the help desk"""


@dataclass
class _GroupDraft:
    """A group while it is made."""

    name: str
    domain: int
    parents: list[int] = field(default_factory=list)
    access: list[int] = field(default_factory=list)
    admin: list[int] = field(default_factory=list)


class _Making:
    """A network in the making."""

    def __init__(self, manifest: WorldManifest) -> None:
        self.draws = Draws("world", GENERATION, manifest.seed, manifest.preset)
        self.domains = tuple(manifest.domains)
        self.hosts = _shared(manifest.num_hosts, len(self.domains))
        self.users = _shared(manifest.num_users, len(self.domains))
        self.groups: list[_GroupDraft] = []
        self.member_of: list[list[int]] = [[] for _ in range(manifest.num_users)]
        self.sessions: list[tuple[int, int]] = []
        self.lying: list[tuple[int, int]] = []
        self.first_users: list[int] = []
        self.server_admins: list[int] = []
        self.first_hosts: list[int] = []

    def group(self, name: str, domain: int) -> int:
        """A new group's place."""
        self.groups.append(_GroupDraft(f"{name}@{self.domains[domain]}", domain))
        return len(self.groups) - 1

    def join(self, user: int, group: int) -> None:
        """Make a user a member."""
        if group not in self.member_of[user]:
            self.member_of[user].append(group)


def generate(manifest: WorldManifest) -> Network:
    """The network of a manifest."""
    making = _Making(manifest)
    for domain in range(len(making.domains)):
        _add_domain(making, domain)
    for domain in range(1, len(making.domains)):
        _add_trust(making, domain)
    host_names, user_names = (
        _names(making.draws, "host", manifest.num_hosts),
        _names(making.draws, "user", manifest.num_users),
    )
    domain_of_host = [domain for domain, places in enumerate(making.hosts) for _ in places]
    domain_of_user = [domain for domain, places in enumerate(making.users) for _ in places]
    lying, sessions = list(dict.fromkeys(making.lying)), list(dict.fromkeys(making.sessions))
    making.draws.shuffle(lying)
    making.draws.shuffle(sessions)
    return Network(
        domains=making.domains,
        hosts=tuple(Host(name, domain) for name, domain in zip(host_names, domain_of_host, strict=True)),
        principals=tuple(
            Principal(name, domain, tuple(groups))
            for name, domain, groups in zip(user_names, domain_of_user, making.member_of, strict=True)
        ),
        groups=tuple(
            Group(one.name, one.domain, tuple(one.parents), tuple(one.access), tuple(one.admin))
            for one in making.groups
        ),
        sessions=tuple(sessions),
        open_credentials=tuple(lying),
        home=(making.first_users[0], making.first_hosts[0]),
    )


def _shared(number: int, shares: int) -> list[range]:
    """Places from 0 in as many ranges, as alike as can be."""
    ends = [number * share // shares for share in range(shares + 1)]
    return [range(begin, end) for begin, end in itertools.pairwise(ends)]


def _names(draws: Draws, word: str, number: int) -> list[str]:
    """Names that tell nothing: whose place is which is drawn."""
    numbers = list(range(number))
    draws.shuffle(numbers)
    return [f"{word}-{one}" for one in numbers]


def _add_domain(making: _Making, domain: int) -> None:
    draws = making.draws
    hosts, users = list(making.hosts[domain]), list(making.users[domain])
    servers, stations = hosts[: max(1, len(hosts) // 4)], hosts[max(1, len(hosts) // 4) :]
    everybody = making.group(USERS, domain)
    admins, server_admins, help_desk = (making.group(name, domain) for name in (ADMINS, SERVER_ADMINS, HELP_DESK))
    making.groups[admins].parents.append(server_admins)
    making.groups[server_admins].admin += draws.some_of(servers, _MOST_OF_GROUP)
    making.groups[help_desk].admin += draws.some_of(stations, max(2, min(_MOST_OF_GROUP, len(stations) // 3)))
    making.server_admins.append(server_admins)

    way = [users[0], *users[1 : 1 + min(1 + draws.below(_MOST_HOPS), len(users) - 5)]]
    privileged = users[len(way) :]
    ranks = (admins, server_admins, help_desk)
    shares = (max(1, len(users) // 60), max(1, len(users) // 40), max(1, len(users) // 25))
    ranked: dict[int, list[int]] = {}
    for rank, share in zip(ranks, shares, strict=True):
        share = min(share, max(1, len(privileged) - 2))
        ranked[rank], privileged = privileged[:share], privileged[share:]
        for user in ranked[rank]:
            making.join(user, rank)
    for user in users:
        making.join(user, everybody)
    teams = _add_teams(making, domain, stations, len(users))
    for user in (*way, *privileged):
        making.join(user, draws.one_of(teams))
    _add_way(making, way, stations, help_desk)
    _add_sessions(making, ranked, stations, (admins, server_admins, help_desk))
    for user in privileged:
        reachable = _hosts_of(making, user)
        if reachable and draws.happens(50):
            making.sessions.append((user, draws.one_of(reachable)))
        if draws.happens(12):
            making.lying.append((user, draws.one_of(stations)))


def _add_teams(making: _Making, domain: int, stations: list[int], users: int) -> list[int]:
    draws, teams = making.draws, []
    for number in range(max(2, users // 12)):
        team = making.group(f"Team {number + 1}", domain)
        making.groups[team].access += draws.some_of(stations, 2 + draws.below(3))
        if draws.happens(15):
            making.groups[team].admin.append(draws.one_of(stations))
        teams.append(team)
    return teams


def _add_way(making: _Making, way: list[int], stations: list[int], help_desk: int) -> None:
    """From the domain's first user to where the help desk can escalate."""
    draws = making.draws
    making.first_users.append(way[0])
    making.first_hosts.append(draws.one_of(stations))
    for user, following in itertools.pairwise(way):
        making.lying.append((following, draws.one_of(_hosts_of(making, user))))
    team = making.member_of[way[-1]][-1]
    if not making.groups[team].admin:
        making.groups[team].admin.append(draws.one_of(stations))
    member = next(user for user, groups in enumerate(making.member_of) if help_desk in groups)
    making.sessions.append((member, draws.one_of(making.groups[team].admin)))


def _add_sessions(
    making: _Making, ranked: dict[int, list[int]], stations: list[int], ranks: tuple[int, int, int]
) -> None:
    """Sessions of those who may do more than others; one of each rank is where the rank below can escalate."""
    draws = making.draws
    admins, server_admins, help_desk = ranks
    for rank, below in ((server_admins, help_desk), (admins, server_admins)):
        for user in ranked[rank]:
            making.sessions.append((user, draws.one_of(making.groups[below].admin)))
    for user in ranked[help_desk]:
        making.sessions.append((user, draws.one_of(stations)))


def _add_trust(making: _Making, domain: int) -> None:
    """The way from the domain before this one."""
    host = making.draws.one_of(making.hosts[domain][max(1, len(making.hosts[domain]) // 4) :])
    making.groups[making.server_admins[domain - 1]].access.append(host)
    making.lying.append((making.first_users[domain], host))


def _hosts_of(making: _Making, user: int) -> list[int]:
    """Hosts that a user can move to by its own groups."""
    own = (making.groups[group] for group in making.member_of[user])
    return sorted({host for group in own for host in (*group.access, *group.admin)})
