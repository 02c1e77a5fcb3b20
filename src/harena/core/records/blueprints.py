"""Blueprints: recipes for sandboxes, and what lists tell of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from harena.core.daemons import MOST_DAEMONS, Daemon
from harena.core.gateways import Gateway, GatewayTerms, gateways_to_json, read_gateways
from harena.core.network_policy import NO_NETWORK, NetworkPolicy, read_policy
from harena.core.profiles import Profile
from harena.core.records.network import NetworkRules
from harena.core.records.record import Record, Translation
from harena.core.records.sandboxes import NO_LIMITS_SAID, Limits

DEFAULT_BLUEPRINT = "default"
"""name of the bare image with the host's own interpreter; exists without being created"""
WARM_BLUEPRINT = "python-warm"
"""name of the blueprint whose interpreter is kept warm; exists without being created"""
_MOST_ON_A_PAGE = 1000
_MOST_WORDS = 100_000
"""entries of lists that users or their packages fill, as the OpenAPI document says"""


_Network = Annotated[
    NetworkPolicy, Translation(read_policy, NetworkPolicy.to_json, Literal["none", "open"] | NetworkRules)
]
_Gateways = Annotated[tuple[Gateway, ...], Translation(read_gateways, gateways_to_json, Mapping[str, GatewayTerms])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Package(Record):
    """One installed wheel, pinned."""

    name: str
    """its normalised name"""
    version: str
    """its version as the wheel says it"""
    sha256: str
    """hash of the wheel's file"""


MOST_RECIPE_CHARACTERS, MOST_LOG_CHARACTERS = 128 * 1024, 64 * 1024
"""what is kept with a blueprint of the file that it was made of, and of what its build has said"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint(Record):
    """A recipe for sandboxes: packages, files, environment and what to keep warm."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {
        **dict.fromkeys(("packages", "requested", "warm"), _MOST_WORDS),
        "daemons": MOST_DAEMONS,
    }

    id: str
    """names this version"""
    name: str
    """names its newest version"""
    image: str = "default"
    """name of the image that its sandboxes have"""
    profile: Profile = "strict"
    """what programs may do inside"""
    packages: tuple[Package, ...] = ()
    """every wheel that is installed, dependencies included"""
    requested: tuple[str, ...] = ()
    """the requirements as they were asked for"""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """absolute path -> content"""
    env: Mapping[str, str] = field(default_factory=dict)
    """the environment of its sandboxes' programs"""
    warm: tuple[str, ...] | None = None
    """modules imported once in the template; null = every exec is a real start; empty = a bare warm one"""
    layer: str | None = None
    """digest of the layer that holds the packages; null = no packages"""
    created_at: datetime | None = None
    """when it was made; null = it is built in"""
    network: _Network = NO_NETWORK
    """what its sandboxes may reach, where they do not say that themselves"""
    gateways: _Gateways = ()
    """gateways of its sandboxes, where they do not say that themselves"""
    daemons: tuple[Daemon, ...] = ()
    """programs that each sandbox starts before any other, in this order"""
    limits: Limits = NO_LIMITS_SAID
    """limits of its sandboxes; one that is as by default says nothing, and a sandbox that asks for another has that"""
    recipe: str = ""
    """what its file said, as JSON; empty = it was made of none"""
    log: str = ""
    """the end of what the build of its image has said; empty = none was built for it"""
    digest: str = ""
    """sha256 over all that decides what its sandboxes are; empty = its server does not tell"""

    @property
    def file_sizes(self) -> dict[str, int]:
        """Path of each file -> its bytes; a node reads no content for it."""
        sizes: Mapping[str, int] | None = getattr(self.files, "sizes", None)
        return {path: len(content) for path, content in self.files.items()} if sizes is None else dict(sizes)

    @property
    def file_bytes(self) -> int:
        """Bytes of all its files together."""
        return sum(self.file_sizes.values())


@dataclass(frozen=True, slots=True)
class BlueprintSummary(Record):
    """What a list tells of a blueprint: neither the contents of its files nor its environment."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = dict.fromkeys(("packages", "requested", "warm"), _MOST_WORDS)

    id: str
    """names this version"""
    name: str
    """names its newest version"""
    image: str
    """name of the image that its sandboxes have"""
    packages: tuple[Package, ...]
    """every wheel that is installed, dependencies included"""
    requested: tuple[str, ...]
    """the requirements as they were asked for"""
    warm: tuple[str, ...] | None
    """modules imported once in the template; null = every exec is a real start"""
    layer: str | None
    """digest of the layer that holds the packages; null = no packages"""
    created_at: datetime | None
    """when it was made; null = it is built in"""
    files: int
    """number of its files"""
    file_bytes: int
    """bytes of all of them"""
    profile: Profile = "strict"
    """what programs may do inside"""
    digest: str = ""
    """sha256 over all that decides what its sandboxes are; empty = its server does not tell"""


@dataclass(frozen=True, slots=True)
class BlueprintsPage(Record):
    """The newest version of each name, newest first, or the versions of one name."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"blueprints": _MOST_ON_A_PAGE}

    blueprints: Sequence[BlueprintSummary]
    """up to as many as were asked for"""
    next_cursor: str | None
    """what the next page is asked for with; null = this is the last one"""
