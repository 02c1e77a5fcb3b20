"""A node of the test's own behind the sdk, and an sdk that starts afresh with every test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sdk_fake_node import FakeNode

from harena.sdk import portal, transport


class NodeControl:
    """The fake node, and the way to do something to it on the sdk's loop."""

    def __init__(self) -> None:
        self.opened: list[FakeNode] = []
        self.open_errors: list[BaseException] = []

    async def open(self) -> FakeNode:
        """The transport's factory."""
        if self.open_errors:
            raise self.open_errors.pop(0)
        self.opened.append(FakeNode())
        return self.opened[-1]

    def do(self, action: Callable[[FakeNode], Any]) -> Any:
        """Call `action(node)` on the sdk's loop and return what it returns."""

        async def act() -> Any:
            node = await portal.current_portal().operations()
            return action(node)

        return portal.current_portal().submit(act).result(10)


@pytest.fixture
def node() -> Iterator[NodeControl]:
    control = NodeControl()
    before = transport.set_factory(control.open)
    yield control
    portal.shutdown()
    transport.set_factory(before)
