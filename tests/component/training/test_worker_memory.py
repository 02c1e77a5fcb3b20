"""A training worker takes no more memory than it may."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harena.core import settings

PROGRAM = """
import os
from harena.training.worker.main import limit_memory
limit_memory(os.environ)
try:
    held = bytearray(400 << 20)
except MemoryError:
    print("refused")
else:
    print("held", len(held))
"""


@pytest.mark.parametrize(
    ("written", "said"), [("300000000", "refused"), ("1000000000", f"held {400 << 20}"), ("many", "")]
)
def test_a_worker_keeps_its_memory_limit(written: str, said: str) -> None:
    """By a setting; a word that is no number ends it with a reason."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={settings.TRAINING_MEMORY_BYTES.name: written},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.stdout.strip() == said
    assert (settings.TRAINING_MEMORY_BYTES.name in ended.stderr) is (written == "many")
