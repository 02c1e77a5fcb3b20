"""Every runtime that harena ships passes one suite."""

from __future__ import annotations

import os

from harena.core.ports import Runtime
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.mechanisms import without
from harena.testing import FakeRuntime
from harena.testing.conformance import RuntimeConformance
from harena.testing.fake_exec import fake_mark, marked

FOR_THE_POOL = 60
"""fewer than there are tests, so that one lost descriptor per test is seen"""


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
    """The real one, with its defaults."""

    descriptors_at_first: int | None = None

    @classmethod
    def make_runtime(cls) -> Runtime:
        """Not yet started."""
        return LinuxRuntime()

    @classmethod
    async def check_leaks(cls, runtime: Runtime) -> None:
        """Descriptors do not grow from test to test, but for those of the sandboxes that the pool holds ready."""
        descriptors = len(os.listdir("/proc/self/fd"))
        if cls.descriptors_at_first is None:
            cls.descriptors_at_first = descriptors
        assert descriptors < cls.descriptors_at_first + FOR_THE_POOL


class TestLinuxRuntimeInPython(TestLinuxRuntime):
    """The real one on a machine that its machine code is not for."""

    descriptors_at_first: int | None = None

    @classmethod
    def make_runtime(cls) -> Runtime:
        """Not yet started."""
        return LinuxRuntime(mechanisms=without("machine_code"))
