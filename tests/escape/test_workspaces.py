"""Workspaces: what has run code of one is nobody else's, not even an interpreter that waits, nor a user of the host."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest
from escape_world import World

from footprint import children, command_line, processes, spawners
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.runtime.host import linux
from harena.runtime.host.linux import LinuxRuntime

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def template_and_user(sandbox: SandboxPort) -> tuple[int, int]:
    """(its template's process, the host's user that its programs are)."""
    word = secrets.token_hex(16)
    running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "echo up; read line", word), stdin_stream=True))
    assert await running.stdout.next_chunk(0) == b"up\n"
    everything = processes()
    program = next(pid for pid in everything if word in command_line(pid))
    template = everything[everything[program].parent].parent
    user = os.stat(f"/proc/{program}").st_uid
    running.close_stdin()
    await running.wait()
    return template, user


@pytest.mark.parametrize("blueprint", ["none", "built in", "handed out"])
async def test_two_workspaces_never_share_a_template(world: World, blueprint: str) -> None:
    """Also where both use the same blueprint: a template has run its code, and its sandboxes share a user."""
    made = None if blueprint == "none" else Blueprint(id=f"bp_{blueprint}", name="shared", warm=())
    found = []
    for workspace in ("one", "two", "one"):
        sandbox = await world.runtime.create(SandboxSpec(), made, workspace=workspace)
        world.opened.append(sandbox)
        found.append(await template_and_user(sandbox))
    (one, first), (two, second), again = found
    assert one != two
    assert again == (one, first)
    assert first != second or os.geteuid() != 0


async def test_templates_of_many_workspaces_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are used least lately end; a workspace that comes back gets a new one."""
    monkeypatch.setattr(linux, "MOST_IDLE_TEMPLATES", 2)
    monkeypatch.setattr(linux, "IDLE_SECONDS", 0.0)
    before = spawners(os.getpid())
    runtime = LinuxRuntime(home=tmp_path, pool_size=0)
    await runtime.start()
    try:
        held = await runtime.create(SandboxSpec(), workspace="held")
        for number in (1, 2, 3, 4, 5, 1):
            sandbox = await runtime.create(SandboxSpec(), workspace=f"w{number}")
            await sandbox.destroy()
        result = await (await held.exec(ExecRequest(argv=("sh", "-c", "echo here")))).wait()
        assert result.stdout == b"here\n"
        (spawner,) = set(spawners(os.getpid())) - set(before)
        assert len(children(spawner)) <= 4  # the held one's, two that are kept, and one that is just ending
    finally:
        await runtime.close()


class OneLayer:
    """A store with one layer of packages."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def path(self, digest: str) -> Path:
        return self.place


HOLDER = """
import mmap
shared, read_only = mmap.mmap(-1, 3 * 4096), mmap.mmap(-1, 4096, prot=mmap.PROT_READ)
shared[:6] = b"filled"
"""
WRITE = "import holder; print(holder.shared[:6]); holder.shared[:6] = b'secret'; holder.shared[5000:5006] = b'secret'"
READ = "import holder; print(holder.shared[:6], holder.shared[5000:5006], holder.read_only[:1])"


async def test_memory_that_a_warm_module_shares_is_not_shared(tmp_path: Path) -> None:
    """Each sandbox has what the module put there, and nothing that a sandbox before it did."""
    layer = tmp_path / "layer"
    layer.mkdir(mode=0o755)
    (layer / "holder.py").write_text(HOLDER)
    tmp_path.chmod(0o755)
    runtime = LinuxRuntime(home=tmp_path / "home", layers=OneLayer(layer), pool_size=0)
    await runtime.start()
    try:
        blueprint = Blueprint(id="bp_holder", name="holder", warm=("holder",), layer="x")
        said = []
        for program in (WRITE, READ):
            sandbox = await runtime.create(SandboxSpec(), blueprint)
            result = await (await sandbox.exec(ExecRequest(argv=("python3", "-c", program), timeout_seconds=30))).wait()
            assert result.warm, result
            said.append(result.stdout)
            if program is READ:
                await sandbox.destroy()
        assert said == [b"b'filled'\n", b"b'filled' b'\\x00\\x00\\x00\\x00\\x00\\x00' b'\\x00'\n"]
    finally:
        await runtime.close()
