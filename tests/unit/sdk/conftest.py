"""A node of the test's own behind the sdk, and an sdk that starts afresh with every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sdk_fake_node import NodeControl

from harena.sdk import portal, transport


@pytest.fixture
def node() -> Iterator[NodeControl]:
    control = NodeControl()
    before = transport.set_factory(control.open)
    yield control
    portal.shutdown()
    transport.set_factory(before)
