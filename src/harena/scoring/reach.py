"""What a scenario's sandboxes may reach, as scenarios write it: a network by phases, and gateways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Discriminator, Field, Tag

from harena.core.errors import ValidationError
from harena.core.gateways import MOST_GATEWAYS, Gateway, read_gateways
from harena.core.network_policy import MOST_ENTRIES, NO_NETWORK, NetworkPolicy, read_policy
from harena.scoring.contracts.parts import Strict

_PHASES = frozenset({"agent", "verifier"})


class PhasePolicies(NamedTuple):
    """What the sandboxes of a run's phases may reach."""

    agent: NetworkPolicy | None = None
    """the candidate; None = what its place says"""
    verifier: NetworkPolicy = NO_NETWORK
    """trusted programs in sandboxes apart from the candidate's"""

    @classmethod
    def said(cls, agent: NetworkPolicy, verifier: NetworkPolicy) -> Self:
        """The policies that a task directory says: one that allows nothing to anybody says nothing."""
        return cls(agent, verifier) if agent.is_on or verifier.is_on else cls()


NOTHING_SAID = PhasePolicies()

REACH_TAGS = frozenset({"word", "policy", "phases"})
"""forms of a network, which are no part of what was written"""


class WrittenPolicy(Strict):
    """What is allowed, less what is denied."""

    allow: Annotated[tuple[str, ...], Field(strict=False, max_length=MOST_ENTRIES)]
    """hosts, `*.` hosts, addresses, CIDRs, each perhaps with `:PORT`; presets (`pypi`, `npm`, `apt`); `*`"""
    deny: Annotated[tuple[str, ...], Field(strict=False, max_length=MOST_ENTRIES)] = ()
    proxy_only: bool = False


def _checked(written: str | WrittenPolicy) -> str | WrittenPolicy:
    policy_of(written)
    return written


def policy_of(written: str | WrittenPolicy) -> NetworkPolicy:
    """The policy itself. Raises ValueError."""
    try:
        return read_policy(written if isinstance(written, str) else written.model_dump())
    except ValidationError as error:
        raise ValueError(str(error)) from None


Policy = Annotated[
    Annotated[Literal["none", "open"], Tag("word")] | Annotated[WrittenPolicy, Tag("policy")],
    Discriminator(lambda written: "word" if isinstance(written, str) else "policy"),
    AfterValidator(_checked),
]


class NetworkPhases(Strict):
    """What is reached in each phase of a run."""

    agent: Policy = "none"
    """the candidate's sandboxes"""
    verifier: Policy = "none"
    """sandboxes of trusted programs that are apart from the candidate's"""


def _form(written: Any) -> str:
    if isinstance(written, str):
        return "word"
    if isinstance(written, NetworkPhases) or (isinstance(written, Mapping) and _PHASES & written.keys()):
        return "phases"
    return "policy"


WrittenNetwork = Annotated[
    Annotated[Literal["none", "open"], Tag("word")]
    | Annotated[WrittenPolicy, AfterValidator(_checked), Tag("policy")]
    | Annotated[NetworkPhases, Tag("phases")],
    Discriminator(_form),
]
"""what the candidate alone may reach, or what each phase may"""


class WrittenRule(Strict):
    """Requests that a gateway allows, or denies."""

    path: str
    methods: Annotated[tuple[str, ...], Field(strict=False)] = ("*",)
    deny: bool = False


class WrittenGateway(Strict):
    """A way to one upstream, on which a secret of the workspace takes the place of the sandbox's token."""

    url: str
    """https, without user, query and fragment"""
    secret: str
    """name of the secret"""
    mechanism: Literal["bearer", "basic", "git", "header", "query", "cookie"] = "bearer"
    field: str = ""
    prefix: str = ""
    username: str = ""
    rules: Annotated[tuple[WrittenRule, ...], Field(strict=False)] = ()
    requests_per_minute: int = 600
    request_bytes: int = 256 * 1024 * 1024
    answer_bytes: int = 1024 * 1024 * 1024
    timeout_seconds: float = 300.0


def _checked_gateways(written: dict[str, WrittenGateway]) -> dict[str, WrittenGateway]:
    gateways_of(written)
    return written


def gateways_of(written: Mapping[str, WrittenGateway]) -> tuple[Gateway, ...]:
    """The gateways themselves. Raises ValueError."""
    try:
        return read_gateways({name: one.model_dump() for name, one in written.items()})
    except ValidationError as error:
        raise ValueError(str(error)) from None


WrittenGateways = Annotated[
    dict[str, WrittenGateway], Field(max_length=MOST_GATEWAYS), AfterValidator(_checked_gateways)
]
"""environment variable of the token -> gateway; NAME_URL is the variable of the address"""


def phases_of(written: str | WrittenPolicy | NetworkPhases | None) -> PhasePolicies:
    """The policies themselves; a plain one is the candidate's."""
    if written is None:
        return NOTHING_SAID
    if isinstance(written, NetworkPhases):
        return PhasePolicies(policy_of(written.agent), policy_of(written.verifier))
    return PhasePolicies(policy_of(written))
