"""The network: a loopback of its own, and nothing behind it."""

from __future__ import annotations

import pytest
from escape_world import World
from programs_network import COOKIE, COUNTERS, ENDED, HOLD, MARK, POOLS, PROGRAMS, WAITING

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("name", PROGRAMS)
async def test_network(world: World, name: str) -> None:
    """Nobody outside can be reached."""
    host = world.host
    ports, names = (host["port"], host["neighbour_port"]), (host["abstract"].lstrip("\0"), host["neighbour_abstract"])
    words = (*ports, *names, host["socket"])
    await world.attempt(PROGRAMS[name], *map(str, words))


async def test_nothing_is_left_in_a_network_namespace(world: World) -> None:
    """A sandbox cannot leave word for the next one in the counters of a network namespace."""
    first = await world.sandbox()
    marked = await world.attack(first, MARK)
    assert b"4321" in marked.stdout, marked
    await first.destroy()
    for _ in range(24):
        sandbox = await world.sandbox()
        result = await world.attack(sandbox, COUNTERS)
        assert result.stdout.startswith(b"["), result
        assert b"4321" not in result.stdout, "ESCAPED: a number that an earlier sandbox left"
        await sandbox.destroy()
    await world.unharmed()


async def test_no_pool_of_the_whole_host_is_filled(world: World) -> None:
    """Error queues, corks, programs and flow labels are charged to no cgroup, or counted for the whole host."""
    await world.attempt(POOLS)


async def test_few_connections_wait_at_a_listener(world: World) -> None:
    """What they have received is charged to no cgroup; a program that asks for a longer queue gets the same."""
    await world.attempt(WAITING)


async def test_few_connections_that_have_ended_are_remembered(world: World) -> None:
    """They are charged to no cgroup, and lie in a table of the whole host."""
    await world.attempt(ENDED)


async def test_a_network_namespace_is_never_used_twice(world: World) -> None:
    """Whatever a namespace holds, nothing of it can cross: each sandbox has one that nobody had before."""
    cookies: list[bytes] = []
    for _ in range(30):
        sandbox = await world.sandbox()
        result = await world.attack(sandbox, COOKIE)
        of_unix, of_inet = result.stdout.split()
        assert of_unix == of_inet != b"0", result
        cookies.append(of_unix)
        await sandbox.destroy()
    assert len(set(cookies)) == len(cookies), "a network namespace was given to a second sandbox"


async def test_a_port_that_is_still_held(world: World) -> None:
    """Sockets that an ended sandbox had in flight do not hold ports of the next one."""
    take = 'import socket; socket.create_server(("127.0.0.1", 7777)); done()'
    for _ in range(10):
        sandbox = await world.sandbox()
        assert (await world.attack(sandbox, HOLD)).stdout == b"done\n"
        await sandbox.destroy()
        after = await world.sandbox()
        result = await world.attack(after, take)
        assert result.stdout == b"done\n", result.stderr
        await after.destroy()
