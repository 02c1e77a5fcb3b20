"""Everything but the engines' own files runs without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import harena.training

ROOM = Path(harena.training.__file__).parent
WITH_TORCH = {"worker_engine", "worker_rl", "worker_sft"}
"""which make an engine: they are imported in a worker process, and nowhere else"""


def test_no_torch() -> None:
    names = sorted({path.stem for path in ROOM.glob("*.py")} - {"__init__"} - WITH_TORCH)
    modules = [f"harena.training.{name}" for name in names]
    assert "harena.training.loop.rl" in modules
    program = f"import sys, {', '.join(modules)}\nprint(*sorted({{'torch', 'transformers'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
