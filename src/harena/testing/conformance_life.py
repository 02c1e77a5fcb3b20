"""Conformance: creating and ending sandboxes."""

from __future__ import annotations

import asyncio

import pytest

from harena.core.errors import NotFoundError, SandboxNotRunningError, SandboxTerminatedError
from harena.core.models import ExecRequest, SandboxOrigin, SandboxSpec
from harena.core.ports import Runtime, SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.testing.conformance_base import run, run_python
from harena.testing.conformance_exec import DAEMON

ENDED = (SandboxTerminatedError, SandboxNotRunningError)


class LifeConformance:
    """From `create` to `wait_dead`."""

    async def test_unknown_image(self, runtime: Runtime) -> None:
        """An image that does not exist is NotFoundError and is named."""
        with pytest.raises(NotFoundError, match="no-such-image"):
            await runtime.create(SandboxSpec(image="no-such-image:9"))

    async def test_specified_files_and_environment(self, runtime: Runtime) -> None:
        """Files, environment and directory of the spec are there before the first command."""
        spec = SandboxSpec(env={"COLOUR": "red"}, files={"/data/in/x": b"given"}, cwd="/data", tags=("t",))
        sandbox = await runtime.create(spec)
        result = await run(sandbox, "sh", "-c", "cat in/x; echo $COLOUR")
        await sandbox.destroy()
        assert result.stdout == b"givenred\n"

    async def test_blueprint_gives_files_and_environment(self, runtime: Runtime) -> None:
        """A blueprint's files and environment are there, and the spec's own win."""
        blueprint = Blueprint(
            id="bp_conformance",
            name="conformance",
            env={"A": "blueprint", "B": "blueprint"},
            files={"/data/a": b"blueprint", "/data/b": b"blueprint"},
        )
        spec = SandboxSpec(blueprint="conformance", env={"B": "spec"}, files={"/data/b": b"spec"})
        sandbox = await runtime.create(spec, blueprint)
        result = await run(sandbox, "sh", "-c", "echo $A $B $(cat a) $(cat b)", cwd="/data")
        await sandbox.destroy()
        assert result.stdout == b"blueprint spec blueprint spec\n"

    async def test_default_output_limit(self, runtime: Runtime) -> None:
        """Without a limit of its own an exec has the sandbox's."""
        sandbox = await runtime.create(SandboxSpec(limits=Limits(output_bytes=10)))
        result = await run(sandbox, "printf", "123456789012")
        await sandbox.destroy()
        assert (result.stdout, result.stdout_truncated) == (b"1234567890", True)

    async def test_sandboxes_share_nothing(self, runtime: Runtime) -> None:
        """Sandboxes have ids of their own, and what one writes another does not see."""
        first, second = await asyncio.gather(*(runtime.create(SandboxSpec()) for _ in range(2)))
        await first.write_file("/tmp/mine", b"x")
        seen = await second.list_dir("/tmp")
        await asyncio.gather(first.destroy(), second.destroy())
        assert first.id != second.id
        assert seen == []

    async def test_enforcement_is_told(self, sandbox: SandboxPort) -> None:
        """A sandbox says how its limits are kept."""
        assert sandbox.enforcement
        assert all(isinstance(text, str) and text for text in sandbox.enforcement.values())

    async def test_origin_is_told(self, runtime: Runtime) -> None:
        """A sandbox says what it was made of."""
        sandbox = await runtime.create(SandboxSpec())
        assert sandbox.origin == SandboxOrigin(blueprint_digest=sandbox.origin.blueprint_digest)
        await sandbox.destroy()

    async def test_many_at_once(self, runtime: Runtime) -> None:
        """Sandboxes can be created, used and destroyed concurrently."""

        async def life(number: int) -> bytes:
            sandbox = await runtime.create(SandboxSpec())
            result = await run(sandbox, "echo", str(number))
            await sandbox.destroy()
            return result.stdout

        assert await asyncio.gather(*map(life, range(12))) == [b"%d\n" % number for number in range(12)]

    async def test_destroy_twice(self, sandbox: SandboxPort) -> None:
        """destroy may be called again, also at the same time."""
        await asyncio.gather(sandbox.destroy(), sandbox.destroy())
        await sandbox.destroy()

    async def test_use_after_destroy(self, sandbox: SandboxPort) -> None:
        """A destroyed sandbox refuses commands and files with a clear error."""
        await sandbox.destroy()
        with pytest.raises(ENDED):
            await sandbox.exec(ExecRequest(argv=("true",)))
        with pytest.raises(ENDED):
            await sandbox.write_file("/tmp/x", b"")
        with pytest.raises(ENDED):
            await sandbox.read_file("/tmp/x", max_bytes=1 << 20)

    async def test_destroy_ends_running_commands(self, sandbox: SandboxPort) -> None:
        """A command that runs when its sandbox is stopped raises SandboxTerminatedError, for each who waits."""
        running = await sandbox.exec(ExecRequest(argv=("sleep", "3600")))
        waiting = asyncio.ensure_future(running.wait())
        await asyncio.sleep(0)
        await sandbox.destroy()
        with pytest.raises(SandboxTerminatedError):
            await waiting
        with pytest.raises(SandboxTerminatedError):
            await running.wait()
        running.kill()
        assert running.stdout.closed

    async def test_result_outlives_the_sandbox(self, sandbox: SandboxPort) -> None:
        """The result of a command that had ended can still be read after the sandbox's end."""
        running = await sandbox.exec(ExecRequest(argv=("echo", "x")))
        before = await running.wait()
        await sandbox.destroy()
        assert await running.wait() == before

    async def test_wait_dead(self, sandbox: SandboxPort) -> None:
        """wait_dead returns for everyone when the sandbox was destroyed, and says that it was by request."""
        early = asyncio.ensure_future(sandbox.wait_dead())
        await asyncio.sleep(0)
        assert not early.done()
        await sandbox.destroy()
        assert (await early).by_request
        assert (await sandbox.wait_dead()).by_request

    async def test_grace_lets_programs_finish(self, sandbox: SandboxPort) -> None:
        """With grace a program gets SIGTERM and the time to answer; destroy does not wait longer than needed."""
        code = (
            "import signal\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}); print('up', flush=True)\n"
            "signal.sigwait({signal.SIGTERM}); print('bye')"
        )
        running = await sandbox.exec(ExecRequest(argv=("python3", "-c", code)))
        assert await running.stdout.next_chunk(0) == b"up\n"
        await asyncio.wait_for(sandbox.destroy(grace_seconds=60), timeout=30)
        assert running.stdout.getvalue() == b"up\nbye\n"

    async def test_grace_ends(self, sandbox: SandboxPort) -> None:
        """A program that ignores SIGTERM is killed when the grace is over."""
        running = await sandbox.exec(ExecRequest(argv=("python3", "-c", DAEMON)))
        assert await running.stdout.next_chunk(0) == b"ready\n"
        await asyncio.wait_for(sandbox.destroy(grace_seconds=0.3), timeout=30)

    async def test_commands_find_a_clean_sandbox(self, sandbox: SandboxPort) -> None:
        """A fresh sandbox has no processes, and empty folders."""
        assert await sandbox.processes() == []
        for folder in ("/tmp", "/workspace", "/data"):
            assert await sandbox.list_dir(folder) == []

    async def test_python_is_there(self, sandbox: SandboxPort) -> None:
        """`python`, `python3` and a shell are on PATH."""
        result = await run(sandbox, "sh", "-c", 'python -c "print(1)" && python3 -c "print(2)"')
        assert result.stdout == b"1\n2\n", result.stderr
        assert (await run_python(sandbox, "import sys; print(sys.version_info[:2] >= (3, 8))")).stdout == b"True\n"
