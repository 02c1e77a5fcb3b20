"""What FakeRuntime has beyond the port; the port itself is tested in tests/conformance."""

from __future__ import annotations

from pathlib import Path

import pytest

from harena.core.errors import PlatformError, SandboxNotRunningError, SandboxUnavailableError
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.records.blueprints import Blueprint
from harena.testing import FakeRuntime


async def test_creations_are_seen() -> None:
    """A test can see what was asked for and what lives."""
    runtime = FakeRuntime()
    spec = SandboxSpec(tags=("a",))
    sandbox = await runtime.create(spec)
    assert runtime.created[0].spec == spec
    assert runtime.sandboxes == {sandbox.id: sandbox}
    await runtime.close()
    assert runtime.sandboxes == {}
    assert not sandbox.files.root.exists()


async def test_failures_on_request() -> None:
    """The next creations fail with what the test wants, one after the other."""
    runtime = FakeRuntime()
    runtime.fail_next_create(PlatformError("one"), PlatformError("two"))
    for text in ("one", "two"):
        with pytest.raises(PlatformError, match=text):
            await runtime.create(SandboxSpec())
    await (await runtime.create(SandboxSpec())).destroy()


async def test_death_on_request() -> None:
    """A sandbox that dies ends its commands as lost, and tells who waits."""
    sandbox = await FakeRuntime().create(SandboxSpec())
    running = await sandbox.exec(ExecRequest(argv=("sleep", "3600")))
    await sandbox.die("power cut", memory=True)
    death = await sandbox.wait_dead()
    assert (death.by_request, death.memory, death.detail) == (False, True, "power cut")
    with pytest.raises(SandboxUnavailableError, match="power cut"):
        await running.wait()
    with pytest.raises(SandboxNotRunningError, match="power cut"):
        await sandbox.exec(ExecRequest(argv=("true",)))
    await sandbox.destroy()


async def test_paths_in_program_text_are_mapped() -> None:
    """Absolute paths of the four folders are mapped in every word, other paths and addresses are left alone."""
    sandbox = await FakeRuntime().create(SandboxSpec())
    await sandbox.write_file("/data/x", b"found")
    text = "cat /data/x; echo '/usr/data' http://host/data/x /database $1"
    running = await sandbox.exec(ExecRequest(argv=("sh", "-c", text, "sh", "/tmpfile")))
    result = await running.wait()
    await sandbox.destroy()
    assert result.stdout == b"found/usr/data http://host/data/x /database /tmpfile\n"


async def test_layer_is_importable(tmp_path: Path) -> None:
    """With `layer_path` the packages of a blueprint can be imported."""
    (tmp_path / "answer.py").write_text("value = 42")
    runtime = FakeRuntime(layer_path={"abc": tmp_path}.__getitem__)
    sandbox = await runtime.create(SandboxSpec(), Blueprint(id="bp_1", name="one", layer="abc"))
    running = await sandbox.exec(ExecRequest(argv=("python", "-c", "import answer; print(answer.value)")))
    result = await running.wait()
    await runtime.close()
    assert result.stdout == b"42\n"
