"""Gives scoring its sandboxes, straight from a runtime."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from harena.core.models import SandboxSpec
from harena.core.ports import Runtime, SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.testing.fake_runtime import FakeRuntime


class SandboxSource:
    """Fresh sandboxes of one runtime; without one, of a fake runtime."""

    def __init__(self, runtime: Runtime | None = None, blueprint: Blueprint | None = None) -> None:
        self.runtime: Runtime = FakeRuntime() if runtime is None else runtime
        self.blueprint = blueprint
        self.is_fake = isinstance(self.runtime, FakeRuntime)
        self.made = 0
        """how many sandboxes were asked for"""

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        """A sandbox of this spec, destroyed afterwards."""
        self.made += 1
        sandbox = await self.runtime.create(spec, self.blueprint)
        try:
            yield sandbox
        finally:
            await sandbox.destroy()
