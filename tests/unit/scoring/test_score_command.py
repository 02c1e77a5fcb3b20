"""Which of a candidate's files a trusted command gets to see."""

from __future__ import annotations

from typing import Any

import pytest

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers.trusted_names import steers
from harena.scoring.scorers.trusted_suite import kept_files


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
        ".git/hooks/pre-commit",
        ".env",
        ".bashrc",
        ".local/lib/python3.11/site-packages/usercustomize.py",
        ".config/pip/pip.conf",
        "sitecustomize/__init__.py",
        "pkg/usercustomize/__init__.py",
        "conftest/__init__.py",
        "makefile",
        "GNUmakefile",
        "BSDmakefile",
        "sub/Makefile",
        "Justfile",
        "build/CTestCustom.cmake",
        ".justfile",
        "package.json",
        "random.cpython-311-x86_64-linux-gnu.so",
        "fast.abi3.so",
        "fast.pyd",
        "libs.zip",
        "libs.egg",
        "\uff4a\uff53\uff4f\uff4e.py",
        "json.data/x.txt",
        "org/python/core.py",
        "java/lang.py",
        "vms_lib.py",
        "_manylinux.py",
        "node_modules/left-pad/index.js",
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


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("numpy.py", False),
        ("numpy/__init__.py", False),
        ("numpy/data.csv", False),
        ("tests/numpy.py", False),
        ("tests/json/__init__.py", False),
        ("cases/__init__.py", False),
        ("cases.txt/x.py", False),
        ("tests/helper/__init__.py", False),
        ("tests.py", False),
        ("tests/test_mine.py", True),
        ("pkg/numpy.py", True),
        ("pkg/json.py", True),
        ("inner/types.py", True),
        ("data/numpy", True),
        ("Types.py", True),
        ("solution.py", True),
    ],
)
def test_no_name_of_a_module_that_is_found_elsewhere_is_the_candidates(path: str, kept: bool) -> None:
    """In the folders in which trusted programs look; below others a candidate names its modules as it likes."""
    files = {"cases.py": "", "tests/helper.py": "", "inner/__init__.py": "", "inner/a.py": "", "check.py": ""}
    trusted = contract(files=files)
    assert bool(kept_files(trusted, {path: "x"}, {"numpy"}, ["problem.py"])) is kept
    assert not kept_files(trusted, {"problem/__init__.py": "x"}, (), ["problem.py"])


def test_a_contract_may_allow_a_steering_file() -> None:
    """By pattern, and only that one."""
    allowing = contract(allow=["tests/conftest.py"])
    candidate = {"tests/conftest.py": "x", "conftest.py": "x"}
    assert kept_files(allowing, candidate) == {"tests/conftest.py": "x"}


def test_a_command_is_argv_or_a_line_of_shell() -> None:
    """A string goes to bash."""
    assert contract(command="make check").command == ("bash", "-c", "make check")
    assert contract(command=["make", "check"]).command == ("make", "check")


@pytest.mark.parametrize(
    "fields",
    [
        {"env": {"PYTHONPATH": "/lib:src"}},
        {"env": {"PYTHONPATH": "/workspace/./src/"}},
        {"command": "cd src && python check.py"},
        {"command": "PYTHONPATH=$PWD/src python check.py"},
        {"command": ["bash", "check.sh"], "files": {"check.sh": "read word\n(cd ./src; python -m x)\n"}},
    ],
)
def test_folders_that_a_contract_has_searched_are_searched(fields: dict[str, Any]) -> None:
    """By PYTHONPATH, or where its shell goes: modules with taken names are left out there, too."""
    files = {"src/json.py": "x", "src/numpy/__init__.py": "x", "src/solution.py": "x", "other/json.py": "x"}
    kept = kept_files(contract(**fields), files, {"numpy"})
    assert kept.keys() == {"src/solution.py", "other/json.py"}
