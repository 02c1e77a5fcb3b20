"""In this process or over HTTP: the same operations, one suite."""

from __future__ import annotations

import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from calibration_suite import CalibrationConformance
from server_world import fake_node, world

from harena.core.clock import SystemClock
from harena.core.ports import Operations
from harena.testing.conformance_operations import OperationsConformance


class TestInProcess(CalibrationConformance, OperationsConformance):
    """A node, as the sdk has it when it is embedded."""

    @classmethod
    async def open_operations(cls, stack: AsyncExitStack) -> Operations:
        """A node over a fake runtime."""
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        return fake_node(home, SystemClock())


class TestOverHttp(CalibrationConformance, OperationsConformance):
    """The same node behind a server, and the sdk's client."""

    @classmethod
    async def open_operations(cls, stack: AsyncExitStack) -> Operations:
        """A client of a real server on a loopback port."""
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        return (await stack.enter_async_context(world(home))).client()
