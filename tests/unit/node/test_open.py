"""What opening a node refuses before anything is started."""

import pytest

from harena.core.errors import ValidationError
from harena.node import open_for_server


async def test_networks_that_are_none_are_refused_before_a_runtime_starts() -> None:
    """A server that was told nonsense does not run with less, or more, than its operator meant."""
    with pytest.raises(ValidationError, match=r"'example\.org'(.|\n)*'10\.1\.0\.0/8'"):
        await open_for_server(webhook_allow=["127.0.0.1", "example.org", "10.1.0.0/8"])
