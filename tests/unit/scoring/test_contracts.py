"""What a contract says, what it must not say, and what its digest depends on."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.scoring import load_scenarios
from harena.scoring.contracts.contract import TestsContract


def fingerprint(*checks: dict[str, Any], **fields: Any) -> str:
    """Of a contract with these checks."""
    return TestsContract.model_validate(
        {"type": "tests", "entry_point": "f", "checks": list(checks), **fields}
    ).fingerprint


def test_what_is_as_by_default_changes_no_fingerprint() -> None:
    """A contract that spells a default out says the same as one that leaves it out."""
    plain = fingerprint({"args": [1], "expected": 2})
    assert plain == fingerprint({"args": [1], "expected": 2, "weight": 1.0, "kwargs": {}, "hidden": False})


@pytest.mark.parametrize(
    "other",
    [
        {"args": [1], "expected": True},
        {"args": [1], "expected": 1.0},
        {"args": [True], "expected": 1},
        {"args": [1], "expected": None},
        {"args": [1], "raises": "ValueError"},
        {"args": [1], "expected": 1, "hidden": True},
        {"args": [1], "expected": 1, "weight": 2.0},
    ],
)
def test_what_is_said_otherwise_changes_the_fingerprint(other: dict[str, Any]) -> None:
    """Type by type."""
    assert fingerprint(other) != fingerprint({"args": [1], "expected": 1})
    assert fingerprint(other) == fingerprint(dict(other))


@pytest.mark.parametrize(
    ("scoring", "says"),
    [
        ({"unittest": ["test_it.py"]}, "'test_it.py' is not among the trusted `files`"),
        ({"unittest": ["tests"]}, "end in .py"),
        ({"unittest": ["a.py"], "pytest": ["a.py"]}, "exactly one of"),
        ({"command": "true", "isolate": "sandbox"}, "is for `pytest` and `unittest`"),
        ({"command": "true", "requires": ["a b"]}, "`requires` names modules"),
        ({"unittest": ["../a.py"]}, "relative path"),
    ],
)
def test_mistakes_in_a_command_over_suites_are_told(scoring: dict[str, Any], says: str) -> None:
    """Before anything runs."""
    with pytest.raises(ValidationError, match=says):
        load_scenarios([{"id": "one", "candidate": "x", "scoring": {"type": "command", **scoring}}])
