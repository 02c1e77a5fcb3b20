"""Sight: nothing of the host, of init, of the template or of a neighbour can be seen."""

from __future__ import annotations

import pytest
from escape_world import World
from programs_sight import PROGRAMS, SECRET

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("name", PROGRAMS)
async def test_sight(world: World, name: str) -> None:
    """A program sees its own sandbox and nothing else."""
    arguments = {
        "the host's files by name": (world.host["file"], world.host["socket"]),
        "the host's and the neighbour's processes": (str(world.host["pid"]),),
    }
    await world.attempt(SECRET + PROGRAMS[name], *arguments.get(name, ()))


async def test_secrets_of_an_earlier_life(world: World) -> None:
    """What a sandbox held when it ended is nowhere in the ones that come after it."""
    word = "host-secret-" + "ab" * 16
    leave = f"open('/tmp/x', 'w').write({word!r} * 100); open('/dev/shm/y', 'w').write({word!r} * 100); done()"
    for _ in range(3):
        sandbox = await world.sandbox()
        await world.attack(sandbox, leave, env={"WORD": word})
        await sandbox.destroy()
        await world.attempt(SECRET + PROGRAMS["its own memory"])
        await world.attempt(SECRET + PROGRAMS["every file outside /usr and /proc"])
