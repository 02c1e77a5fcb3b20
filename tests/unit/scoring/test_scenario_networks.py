"""Scenarios say what their candidates may reach: the forms, who has them, and what a server refuses."""

from __future__ import annotations

import ipaddress
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.models import SandboxSpec
from harena.core.network_policy import NO_NETWORK, OPEN_NETWORK, read_policy
from harena.core.ports import SandboxPort
from harena.jobs.benchmark.job_places import check_networks
from harena.scoring import load_scenarios
from harena.scoring.compact import CompactScenarios
from harena.scoring.scenario import Scenario
from harena.scoring.scorers.program import Bench

PYPI = read_policy({"allow": ["pypi"]})
HUB = {"HUB": {"url": "https://a.org", "secret": "KEY", "rules": [{"path": "/x/**", "methods": ["GET"]}]}}
ROW = {"id": "one", "candidate": "print(1)", "scoring": {"type": "stdio", "cases": [{"stdout": "1\n"}]}}
DIGEST = "97eea5a849a612859ce558ca5bb9d26532292268d50ed4144dcba96ec9e79336"
"""of the row as it was before scenarios could have networks"""


def made(**said: Any) -> Scenario:
    return load_scenarios([{**ROW, **said}]).scenarios[0]


class NoSandboxes:
    """Makes none."""

    def sandbox(self, spec: SandboxSpec) -> AbstractAsyncContextManager[SandboxPort]:
        raise AssertionError


@pytest.mark.parametrize(
    ("said", "agent", "verifier"),
    [
        ({}, None, NO_NETWORK),
        ({"network": "none"}, NO_NETWORK, NO_NETWORK),
        ({"network": "open"}, OPEN_NETWORK, NO_NETWORK),
        ({"network": {"allow": ["pypi"]}}, PYPI, NO_NETWORK),
        ({"network": {"verifier": {"allow": ["pypi"]}}}, NO_NETWORK, PYPI),
        ({"network": {"agent": "open", "verifier": "none"}}, OPEN_NETWORK, NO_NETWORK),
        ({"problem": {"network": "open"}}, OPEN_NETWORK, NO_NETWORK),
        ({"problem": {"network": "open"}, "network": "none"}, NO_NETWORK, NO_NETWORK),
    ],
)
async def test_who_reaches_what(said: dict[str, Any], agent: Any, verifier: Any) -> None:
    """The scenario's own word before its problem's; a plain policy is the candidate's alone."""
    scenario = made(**said)
    assert (scenario.network, scenario.verifier_network) == (agent, verifier)
    for job in (SandboxSpec(blueprint="bp"), SandboxSpec(network=OPEN_NETWORK)):
        bench = Bench(scenario, NoSandboxes(), job, 10)
        assert bench.spec.network == (job.network if agent is None else agent)
        assert bench.base_spec.policy == verifier
        assert bench.trusted_spec.policy == NO_NETWORK
        assert bench.for_part(scenario.scoring).spec.network == bench.spec.network


async def test_gateways_are_the_candidates() -> None:
    """In place of its blueprint's, none too."""
    scenario = made(problem={"gateways": HUB})
    assert scenario.gateways is not None
    assert scenario.gateways[0].rules[0].methods == ("GET",)
    bench = Bench(scenario, NoSandboxes(), SandboxSpec(blueprint="bp"), 10)
    assert (bench.spec.gateways, bench.base_spec.gateways) == (scenario.gateways, ())
    assert Bench(made(gateways={}), NoSandboxes(), SandboxSpec(blueprint="bp"), 10).spec.gateways == ()


def test_a_scenario_that_reaches_something_is_another_one() -> None:
    """Those that say nothing of networks keep the digest that they had."""
    says: list[dict[str, Any]] = [{"network": "none"}, {"network": "open"}, {"network": {"verifier": "open"}}]
    digests = [made(**said).digest for said in ({}, *says, {"gateways": HUB})]
    assert len({*digests}) == 5
    assert digests[0] == DIGEST


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"network": "pypi"}, "network: must be one of 'none' or 'open', not 'pypi'"),
        ({"network": 5}, "network: must be a mapping, not 5"),
        ({"network": {"alow": []}}, "network.alow: unknown field; did you mean `allow`"),
        ({"network": {"allow": ["a b"]}}, "network: network: allow: 'a b' is no entry"),
        ({"network": {"agent": {"allow": [1]}}}, r"network.agent.allow\[0\]: must be text"),
        ({"problem": {"network": {"verifier": {}}}}, "problem.network.verifier.allow: is required"),
        ({"gateways": {"hub": HUB["HUB"]}}, "gateways: gateways: the name 'hub'"),
        ({"gateways": {"HUB": {"url": "https://a.org"}}}, "gateways.HUB.secret: is required"),
    ],
)
def test_what_is_no_network(said: dict[str, Any], told: str) -> None:
    """The place as it was written."""
    with pytest.raises(ValidationError, match=told):
        made(**said)


def test_a_server_refuses_what_leads_nowhere_before_anything_runs() -> None:
    """Of the candidate or of the verifier, in whatever form the scenarios are kept."""
    permitted = [ipaddress.ip_network("10.1.0.0/16")]
    private: dict[str, Any] = {"allow": ["10.2.0.0/16"]}
    for network in (private, {"verifier": private}):
        batch = load_scenarios([ROW, {**ROW, "id": "two", "network": network}]).scenarios
        compact = CompactScenarios(lambda row: load_scenarios([row]).scenarios[0])
        for scenario in batch:
            compact.add(scenario, {})
        for scenarios in (batch, compact):
            check_networks(scenarios, None)
            with pytest.raises(ValidationError, match=r"10\.2\.0\.0/16 in allow has no public address"):
                check_networks(scenarios, permitted)
    check_networks([made(network={"allow": ["10.1.2.3", "pypi"]})], permitted)
