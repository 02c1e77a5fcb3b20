"""What a spawner says of a sandbox's memory where no cgroup counts it."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from harena.runtime.spawner import spawner


@pytest.mark.parametrize(("limit", "looks"), [(1 << 30, 1), (None, 3)])
def test_processes_are_looked_at_once(monkeypatch: pytest.MonkeyPatch, limit: int | None, looks: int) -> None:
    """However often somebody asks, unless nobody watches it for its limit."""
    looked: list[int] = []

    def below(pid: int) -> list[int]:
        looked.append(pid)
        return [pid]

    monkeypatch.setattr(spawner, "below_of", below)
    group: Any = SimpleNamespace(charged_bytes=lambda: None)
    sandbox = spawner._Sandbox(1, group, memory_bytes=limit, pid=os.getpid())
    assert min(spawner._charged_or_held(sandbox) for _ in range(3)) > 1 << 20
    assert len(looked) == looks
