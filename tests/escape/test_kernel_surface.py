"""The kernel: every way to more privilege, another namespace, a device or a forgotten entry point is closed."""

from __future__ import annotations

import platform

import pytest
from escape_world import World
from programs_kernel import FORBIDDEN, PROGRAMS, REFUSED

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="system-call numbers and machine code of x86-64"),
]


@pytest.mark.parametrize("name", FORBIDDEN)
async def test_forbidden_call(world: World, name: str) -> None:
    """The filter refuses the call, whatever its arguments."""
    await world.attempt(REFUSED, f"{name}={FORBIDDEN[name]}")


@pytest.mark.parametrize("name", PROGRAMS)
async def test_kernel_surface(world: World, name: str) -> None:
    """What an attacker would really ask of the kernel is refused."""
    await world.attempt(PROGRAMS[name])
