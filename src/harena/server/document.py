"""The OpenAPI document, without a server: `python -m harena.server.document docs/reference/openapi.json` writes it."""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from harena.core.clock import SystemClock
from harena.core.ports import WholeNode
from harena.server.app import create_app
from harena.server.identity import OpenAccess
from harena.server.state import ServerState
from harena.store.access import AccessStore


@cache
def openapi() -> dict[str, Any]:
    """The document of this version: one object for all callers, none of whom changes it."""
    nobody = cast("Any", None)  # routes are described, and none is asked
    state = ServerState(
        cast("WholeNode", nobody),
        clock=SystemClock(),
        store=cast("AccessStore", nobody),
        access=OpenAccess(),
        open_to_loopback=True,
        version=version("harena"),
    )
    return create_app(state).openapi()


def text() -> str:
    """The document as text, with sorted keys, so that it changes only where the routes do."""
    return json.dumps(openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
