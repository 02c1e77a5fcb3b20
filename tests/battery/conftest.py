"""The tests of composed programs use what the integration tests have: worlds, layers, and the check for leaks."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "integration"))
