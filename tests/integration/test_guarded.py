"""A guarded command's memory is out of reach of what it starts."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from harena.core.models import ExecOutcome, ExecRequest, SandboxSpec
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


_LISTS = """
import os
shown = [name for name in os.listdir("/proc") if name.isdigit()]
words = [open(f"/proc/{name}/cmdline").read().split("\\0") for name in shown]
print("1" in shown, any("secret" in each for each in words))
"""


async def test_a_guarded_command_can_be_hidden(runtime: LinuxRuntime) -> None:
    """What it starts sees its own processes, and neither the guarded ones nor init. It still ends with its tree."""
    seen = {}
    for hides in (False, True):
        sandbox = await runtime.create(SandboxSpec(hides_processes=hides))
        try:
            await sandbox.write_file("/workspace/list.py", _LISTS.encode())
            argv = ("bash", "-c", "sleep 100 & python list.py; wait", "secret")
            running = await sandbox.exec(ExecRequest(argv=argv, guarded=True, timeout_seconds=2.0))
            beside = await sandbox.exec(ExecRequest(argv=("sleep", "3600"), guarded=True))
            result = await running.wait()
            seen[hides] = (result.stdout.decode().split(), result.outcome)
            beside.kill()
            await beside.wait()
            left = await sandbox.exec(ExecRequest(argv=("pgrep", "-c", "sleep")))
            assert (await left.wait()).stdout.strip() == b"0"
        finally:
            await sandbox.destroy()
    assert seen == {
        False: (["True", "True"], ExecOutcome.TIMEOUT),
        True: (["False", "False"], ExecOutcome.TIMEOUT),
    }
