"""A guarded command's memory is out of reach of what it starts."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from harena.core.models import ExecRequest, SandboxSpec
from harena.runtime.host.linux import LinuxRuntime

_READER = """
import os
for name in ("mem", "environ", "maps"):
    try:
        open(f"/proc/{os.getppid()}/{name}", "rb").read(0)
        print(name, "open")
    except PermissionError:
        print(name, "refused")
"""
_CHECKER = (
    f"import subprocess; print(subprocess.run(['python', '-c', {_READER!r}], capture_output=True, text=True).stdout)"
)


@pytest.fixture
async def runtime() -> AsyncIterator[LinuxRuntime]:
    made = LinuxRuntime()
    await made.start()
    yield made
    await made.close()


@pytest.mark.parametrize("argv", [("python", "-c", _CHECKER), ("sh", "-c", f"python -c '{_READER}'; true")])
async def test_a_guarded_command_cannot_be_opened_by_its_child(runtime: LinuxRuntime, argv: tuple[str, ...]) -> None:
    """Unguarded, a child of the same user may open its parent's memory; guarded, the kernel refuses."""
    sandbox = await runtime.create(SandboxSpec())
    try:
        outputs = {}
        for guarded in (False, True):
            running = await sandbox.exec(ExecRequest(argv=argv, guarded=guarded))
            outputs[guarded] = (await running.wait()).stdout.decode().split()
    finally:
        await sandbox.destroy()
    assert outputs[False] == ["mem", "open", "environ", "open", "maps", "open"]
    assert outputs[True] == ["mem", "refused", "environ", "refused", "maps", "refused"]
