"""The fixtures of the conformance suites."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from harena.core.models import ExecRequest, ExecResult, SandboxSpec
from harena.core.ports import Runtime, SandboxPort


class ConformanceBase:
    """One runtime per class, one sandbox per test."""

    @classmethod
    def make_runtime(cls) -> Runtime:
        """The runtime under test, not yet started."""
        raise NotImplementedError(f"{cls.__name__} must override make_runtime() or the `runtime` fixture")

    @classmethod
    async def check_leaks(cls, runtime: Runtime) -> None:
        """Called after each test, when its sandbox has been destroyed: fail if anything of it is left."""

    @pytest_asyncio.fixture(scope="class", loop_scope="class")
    @classmethod
    async def runtime(cls) -> AsyncIterator[Runtime]:
        """A started runtime, closed at the end of the class (twice, which must be fine)."""
        runtime = cls.make_runtime()
        await runtime.start()
        yield runtime
        await runtime.close()
        await runtime.close()

    @pytest_asyncio.fixture(loop_scope="class")
    async def sandbox(self, runtime: Runtime) -> AsyncIterator[SandboxPort]:
        """A fresh sandbox."""
        sandbox = await runtime.create(SandboxSpec())
        yield sandbox
        await sandbox.destroy()
        await self.check_leaks(runtime)


async def run(sandbox: SandboxPort, *argv: str, **request: Any) -> ExecResult:
    """Run a command to its end."""
    running = await sandbox.exec(ExecRequest(argv=argv, **request))
    return await running.wait()


async def run_python(sandbox: SandboxPort, code: str, *arguments: str, **request: Any) -> ExecResult:
    """Run program text with the sandbox's python."""
    return await run(sandbox, "python3", "-c", code, *arguments, **request)


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    """A stream of these parts."""
    for part in parts:
        yield part


async def gather_bytes(stream: AsyncIterator[bytes]) -> bytes:
    """The whole stream."""
    return b"".join([part async for part in stream])
