"""Sandboxes with a network reach what their policy names, and those without one have not even a listener."""

from __future__ import annotations

import pytest
from escape_world import NAMED, World
from programs_egress import ELSEWHERE, NOTHING_LISTENS, OWN_PLACES

from harena.core.errors import SandboxValidationError
from harena.core.network_policy import read_policy
from harena.runtime.kernel import privileges

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE = {"allow": [f"{NAMED}:8443", "pypi"]}


async def attacked(world: World, network: object, program: str, *arguments: str) -> None:
    sandbox = await world.sandbox(network)
    result = await world.attack(sandbox, program, *arguments)
    assert b"ESCAPED" not in result.stdout, result.stdout.decode(errors="replace")
    assert result.stdout.endswith(b"done\n"), (result.outcome, result.returncode, result.stdout, result.stderr)
    await sandbox.destroy()
    await world.unharmed()


async def test_a_sandbox_without_a_network_has_no_listener(world: World) -> None:
    """Also where others of its runtime have some."""
    other = await world.sandbox(ONE)
    await world.attempt(NOTHING_LISTENS)
    with pytest.raises(SandboxValidationError, match="without a network"):
        await (await world.sandbox()).set_network(read_policy("open"))
    await other.destroy()


POLICIES = {
    "one": ONE,
    "nothing": {"allow": []},
    "open": {"allow": ["*"], "deny": ["1.1.1.1"]},
    "denied": {"allow": ["*.test"], "deny": [NAMED]},
}


@pytest.mark.parametrize("name", POLICIES)
async def test_a_sandbox_with_a_policy_reaches_nothing_else(world: World, name: str) -> None:
    """Not the node's loopback or another sandbox's, by whatever name or form; no private address, and no metadata."""
    ports = str(world.host["port"]), str(world.host["neighbour_port"])
    await attacked(world, POLICIES[name], ELSEWHERE, *ports, NAMED, name)


async def test_a_sandbox_with_a_network_has_no_right_or_socket_more(world: World) -> None:
    """Its launch had the listeners and a capability; its programs have neither, and cannot take a listener's place."""
    rights = sum(1 << number for number in privileges.OF_MACHINES) if world.kind == "machine" else 0
    await attacked(world, ONE, OWN_PLACES, str(rights))
