"""Everything but the engines' own files runs without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import harena.training

ROOM = Path(harena.training.__file__).parent
WITH_TORCH = {"worker.engine", "worker.export", "worker.on_cluster", "worker.play", "worker.rl", "worker.sft"}
"""which make an engine: they are imported in a worker process, and nowhere else"""


def test_no_torch() -> None:
    names = {".".join(path.relative_to(ROOM).with_suffix("").parts) for path in ROOM.rglob("*.py")}
    names = {name for name in names if not name.endswith("__init__") and not name.startswith("engines.")}
    modules = [f"harena.training.{name}" for name in sorted(names - WITH_TORCH)]
    assert "harena.training.loop.rl" in modules
    program = f"import sys, {', '.join(modules)}\nprint(*sorted({{'torch', 'transformers'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
