"""The kernel: every way to more privilege, another namespace, a device or a forgotten entry point is closed."""

from __future__ import annotations

import platform

import programs_machine
import pytest
from escape_world import MACHINE, World
from programs_kernel import FORBIDDEN, HONEST, OWN_ROOT, PROGRAMS, REFUSED

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="system-call numbers and machine code of x86-64"),
]


async def test_forbidden_calls(world: World) -> None:
    """The filter refuses each of these calls, whatever its arguments; the output names those that it lets through."""
    allowed = programs_machine.ALLOWED if world.kind == "machine" else ()
    forbidden = [f"{name}={number}" for name, number in FORBIDDEN.items() if name not in allowed]
    await world.attempt(REFUSED, *forbidden)


@pytest.mark.parametrize("name", PROGRAMS)
async def test_kernel_surface(world: World, name: str) -> None:
    """What an attacker would really ask of the kernel is refused."""
    if world.kind in ("image", "machine") and name == "write below /usr and /":
        for _ in range(2):
            await world.attempt(OWN_ROOT)
        return
    if world.kind == "machine" and name in programs_machine.INSTEAD:
        await world.attempt(programs_machine.INSTEAD[name])
        return
    await world.attempt(PROGRAMS[name], *(["image"] if world.kind in ("image", "machine") else []))


async def test_honest_programs_are_not_refused(world: World) -> None:
    """What ordinary programs do with priorities, locks, devices and /proc works as before these were walled off."""
    await world.attempt(HONEST)


@pytest.mark.parametrize("shared_world", [MACHINE], indirect=True, scope="module")
@pytest.mark.parametrize("name", programs_machine.PROGRAMS)
async def test_rights_of_a_machine(world: World, name: str) -> None:
    """With the capabilities and users of the profile `machine` nothing is reached that is not the sandbox's own."""
    await world.attempt(programs_machine.PROGRAMS[name])
