"""Which of a candidate's files a trusted command gets to see."""

from __future__ import annotations

from typing import Any

import pytest

from harena.scoring.contracts import CommandContract
from harena.scoring.trusted_suite import kept_files, steers


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "tests/conftest.py",
        "sitecustomize.py",
        "pkg/usercustomize.py",
        "pyproject.toml",
        "pytest.ini",
        "tox.ini",
        "setup.cfg",
        "evil.pth",
        "__pycache__/solution.cpython-311.pyc",
        "lib.so",
        "evil-1.0.dist-info/entry_points.txt",
        "os.py",
        "json/__init__.py",
        "pytest.py",
        "_pytest/reports.py",
        "unittest/case.py",
        "random.txt",
        ".git/config",
    ],
)
def test_files_that_steer_a_run_are_known(path: str) -> None:
    """By name: configuration, start-up hooks, compiled code, plugins, and what hides the standard library."""
    assert steers(path)


@pytest.mark.parametrize("path", ["solution.py", "pkg/json_reader.py", "notes/os.md", "tests/test_mine.py", "data.csv"])
def test_ordinary_files_do_not_steer(path: str) -> None:
    """A candidate may have a package, tests and notes."""
    assert not steers(path)


def contract(**fields: Any) -> CommandContract:
    return CommandContract.model_validate({"type": "command", "command": ["python", "check.py"], **fields})


def test_trusted_files_hide_the_candidates() -> None:
    """Same path, a file in place of a trusted folder, and files below a trusted file."""
    trusted = contract(files={"check.py": "", "lib/a.py": ""})
    candidate = {"check.py": "x", "lib": "x", "lib/b.py": "x", "check.py/c.py": "x", "solution.py": "x"}
    assert kept_files(trusted, candidate) == {"lib/b.py": "x", "solution.py": "x"}


def test_a_contract_may_allow_a_steering_file() -> None:
    """By pattern, and only that one."""
    allowing = contract(allow=["tests/conftest.py"])
    candidate = {"tests/conftest.py": "x", "conftest.py": "x"}
    assert kept_files(allowing, candidate) == {"tests/conftest.py": "x"}


def test_a_command_is_argv_or_a_line_of_shell() -> None:
    """A string goes to bash."""
    assert contract(command="make check").command == ("bash", "-c", "make check")
    assert contract(command=["make", "check"]).command == ("make", "check")
