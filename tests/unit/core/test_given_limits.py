"""Limits of a workspace in the environment of a process that works for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harena.core.errors import ValidationError
from harena.core.settings import WORKSPACE_LIMITS
from harena.core.workspace import LIMITS, WorkspaceLimits, given_limits, written_limits


def _is_of_any_size(name: str) -> bool:
    return name.endswith("_bytes") and name != "sandbox_memory_bytes"


@pytest.mark.parametrize(
    "limits",
    [
        WorkspaceLimits(),
        WorkspaceLimits(runs=1, requests_per_second=0.5, sandbox_cpu=0.25, sandbox_memory_bytes=1 << 28),
        *(replace(WorkspaceLimits(), **{name: 2**20}) for name in LIMITS if _is_of_any_size(name)),
    ],
)
def test_what_is_written_is_read(limits: WorkspaceLimits) -> None:
    """Every limit arrives as it was."""
    assert given_limits({WORKSPACE_LIMITS.name: written_limits(limits)}) == limits


def test_what_is_not_named() -> None:
    """It has its default, but for the profile `machine`, which is whose process this is; without the setting there are
    no limits."""
    expected = WorkspaceLimits(runs=2, sandboxes=3, machine_profile=1)
    assert given_limits({WORKSPACE_LIMITS.name: " runs=2, sandboxes=3 "}) == expected
    assert given_limits({}) is None


@pytest.mark.parametrize("text", ["runs", "runs=x", "sandbox_pids=1", "size=3", "sandbox_memory_bytes=1"])
def test_what_is_no_limit(text: str) -> None:
    """The process does not begin with less, or more, than was meant."""
    with pytest.raises(ValidationError, match=WORKSPACE_LIMITS.name):
        given_limits({WORKSPACE_LIMITS.name: text})
