from __future__ import annotations

import json
from datetime import timedelta

import pytest

from harena.core import errors
from harena.core.problems import PROBLEMS, STATUSES, from_problem, to_problem


def tree(root: type[errors.HarenaError]) -> set[type[errors.HarenaError]]:
    return {root}.union(*(tree(below) for below in root.__subclasses__() if below.__module__ == errors.__name__))


def test_the_table_is_closed_and_whole() -> None:
    """Every exception has a code of its own, and every code one exception."""
    assert {line.error for line in PROBLEMS} == tree(errors.HarenaError)
    assert len({line.code for line in PROBLEMS}) == len(PROBLEMS) == len({line.error for line in PROBLEMS})


@pytest.mark.parametrize("line", PROBLEMS, ids=lambda line: line.code)
def test_errors_travel_both_ways(line: object) -> None:
    """The class, the message and all that the exception carries."""
    assert line in PROBLEMS
    error = line.error("what happened", **{name: f"its {name}" for name in line.carries})  # type: ignore[attr-defined]
    error.metadata["step"] = "3"
    error.retry_delay = timedelta(seconds=2)
    back = from_problem(json.loads(json.dumps(to_problem(error))))
    assert type(back) is type(error)
    assert str(back) == "what happened"
    assert {**vars(back)} == {**vars(error)}


def test_exceptions_of_other_rooms_travel_as_what_they_are() -> None:
    """The nearest class of the table."""

    class ScenarioError(errors.ValidationError):
        pass

    assert to_problem(ScenarioError("x", reason="SCENARIO_FILE"))["code"] == "validation"


@pytest.mark.parametrize(
    ("reason", "status"),
    [("NOT_FOUND", 404), ("TOO_LARGE", 413), ("NO_SPACE", 507), ("NO_MEMORY", 507), ("EXISTS", 409)],
)
def test_files_have_statuses_by_reason(reason: str, status: int) -> None:
    """HTTP has a number for some of them."""
    assert to_problem(errors.SandboxFileError("x", reason=reason))["status"] == status
    assert status in STATUSES


@pytest.mark.parametrize("written", [{}, {"code": "os.system", "detail": "x"}, {"code": ["a"]}, {"detail": 5}])
def test_what_is_not_in_the_table_is_the_platforms_failure(written: dict[str, object]) -> None:
    """Nothing that was received chooses a class."""
    assert type(from_problem(written)) is errors.PlatformError
