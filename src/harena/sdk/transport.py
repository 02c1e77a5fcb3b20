"""The factory that opens `Operations`: `harena/__init__.py` sets it, so that the SDK knows neither node nor HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.core.ports import Operations

_factory: Callable[[], Awaitable[Operations]] | None = None


def set_factory(factory: Callable[[], Awaitable[Operations]] | None) -> Callable[[], Awaitable[Operations]] | None:
    """Say what opens the node that the sdk talks to; it is awaited on the sdk's own loop, on first use.

    Returns the factory that was set before. A node that is open already is not affected.
    """
    global _factory
    before, _factory = _factory, factory
    return before


async def open_operations() -> Operations:
    """A fresh connection to a node. Raises what the factory raises (HostUnsupportedError, ValidationError ...)."""
    if _factory is None:
        raise RuntimeError("the sdk has no transport: `import harena` sets one, as does transport.set_factory(...)")
    return await _factory()
