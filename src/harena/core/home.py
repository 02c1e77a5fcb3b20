"""Where harena keeps what outlives a process: layers, blueprints, results."""

from __future__ import annotations

import os
from pathlib import Path


def harena_home() -> Path:
    """`$HARENA_HOME`, or `~/.local/share/harena` where it is not set. The directory need not exist yet."""
    configured = os.environ.get("HARENA_HOME")
    return Path(configured).expanduser() if configured else Path.home() / ".local" / "share" / "harena"
