"""What a sandbox and a command cannot be is refused where the record is made, before anything is started."""

from __future__ import annotations

import os
from typing import Any

import pytest

from harena.core.errors import SandboxValidationError
from harena.core.models import ExecRequest
from harena.core.records.sandboxes import Limits

BAD_REQUESTS: dict[str, dict[str, Any]] = {
    "command is empty": {"argv": ()},
    "every word must be text": {"argv": ("a", 1)},
    "command: a word holds a NUL": {"argv": ("a\0b",)},
    "command: .* characters that no program can be given": {"argv": ("\ud800",)},
    "env: 'A=B' cannot be the name": {"env": {"A=B": "x"}},
    "env: '' cannot be the name": {"env": {"": "x"}},
    "env: 'A' .*holds NUL": {"env": {"A": "x\0"}},
    "env: names and values must be text": {"env": {"A": 1}},
    "env: .* characters that no program can be given": {"env": {"A": "\ud800"}},
    "cwd must be an absolute path": {"cwd": "/\0"},
    "cwd must be an absolute path .*, as '/workspace/data'": {"cwd": "data"},
    "timeout_seconds must be a positive number.*got 0": {"timeout_seconds": 0},
    "timeout_seconds must be a positive number.*got -1": {"timeout_seconds": -1},
    "timeout_seconds must be a positive number.*got nan": {"timeout_seconds": float("nan")},
    "timeout_seconds must be a positive number.*got inf": {"timeout_seconds": float("inf")},
    "cpu_seconds must be a positive number": {"cpu_seconds": 0},
    "output_bytes must be a whole number": {"output_bytes": -1},
    "width must be a whole number": {"terminal": (0, 24)},
    "stdin and terminal: .*stdin_stream": {"terminal": (80, 24), "stdin": b"typed"},
    "height must be a whole number": {"terminal": (80, 65536)},
    "warm must be True, False or None": {"warm": 1},
}


@pytest.mark.parametrize("message", BAD_REQUESTS)
def test_bad_commands(message: str) -> None:
    """The message names the field."""
    with pytest.raises(SandboxValidationError, match=message):
        ExecRequest(**{"argv": ("true",), **BAD_REQUESTS[message]})


def test_words_that_are_no_utf8() -> None:
    """Bytes of a file's name are given as Python writes them (surrogateescape)."""
    assert ExecRequest(argv=("cat", os.fsdecode(b"\xff")), env={"A": os.fsdecode(b"\xff")}, cwd="/tmp")


@pytest.mark.parametrize("bad", [{"pids": 1}, {"lifetime_seconds": -1.0}, {"memory_bytes": 5}], ids=str)
def test_bad_limits(bad: dict[str, Any]) -> None:
    """The message names the field, with its own name in front."""
    with pytest.raises(SandboxValidationError, match=f"limits: {next(iter(bad))}"):
        Limits(**bad)
