"""Every runtime that harena ships passes one suite."""

from __future__ import annotations

import pytest

from harena.core.errors import HostUnsupportedError
from harena.core.ports import Runtime
from harena.runtime.linux import LinuxRuntime
from harena.testing import FakeRuntime
from harena.testing.conformance import RuntimeConformance
from harena.testing.fake_exec import fake_mark, marked


class TestFakeRuntime(RuntimeConformance):
    """The fake must behave as the real one does, or tests that use it prove nothing."""

    @classmethod
    def make_runtime(cls) -> Runtime:
        """A fake runtime."""
        return FakeRuntime()

    @classmethod
    async def check_leaks(cls, runtime: Runtime) -> None:
        """No sandbox and no process of one is left."""
        assert isinstance(runtime, FakeRuntime)
        assert runtime.sandboxes == {}
        assert marked(fake_mark()) == []


class TestLinuxRuntime(RuntimeConformance):
    """The real one."""

    @classmethod
    def make_runtime(cls) -> Runtime:
        """With its defaults."""
        return LinuxRuntime()

    @classmethod
    async def check_leaks(cls, runtime: Runtime) -> None:
        """Nothing but what the pool holds ready."""
