"""Which of a candidate's files a trusted command gets to see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.contracts.parts import folders_of
from harena.scoring.scorers.program import overlaid
from harena.scoring.scorers.trusted_names import ANY_TOOL, NOBODY, Hiding, reader_of, steers
from harena.scoring.scorers.trusted_suite import kept_files
from harena.scoring.scorers.watched_files import folders_above


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


def test_files_that_lie_deep_are_put_together_as_others() -> None:
    """What is kept is what looking at each folder above each file gives."""
    random = Random(7)
    names = ["a", "b", "ab"]
    for _ in range(300):
        theirs, ours = (
            {"/".join(random.choices(names, k=random.randint(1, 4))): side for _ in range(4)} for side in ("x", "")
        )
        above = {path: {str(each) for each in PurePosixPath(path).parents} for path in (*theirs, *ours)}
        kept = {
            path: text
            for path, text in theirs.items()
            if not above[path] & ours.keys() and not any(path in above[one] for one in ours)
        }
        assert overlaid(theirs, ours) == {**kept, **ours}
    assert folders_of(["a/b/c", "a/b/d", "e"]) == {"a", "a/b"}
    assert folders_above(["/workspace/a/b/c"]) == ["/workspace", "/workspace/a", "/workspace/a/b"]
    assert len(folders_of((f"{number}/" + "d/" * 60 + "x" for number in range(1000)), 4000)) == 4001


class _Counted(frozenset[str]):
    """Paths that count how often somebody goes through all of them."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        type(self).times += 1
        return super().__iter__()


def test_trusted_files_are_gone_through_once_however_many_files_a_candidate_has() -> None:
    """What a candidate's file hides is asked for each of its files; a folder that is searched is one above it."""
    trusted = _Counted({"check.py", "lib/a.py", "lib/b/c.py", "pkg/__init__.py", "pkg/d.py", "deep/e/f.py"})
    hiding = Hiding(trusted, {"numpy"}, {"lib/"}, {"json"})
    before = _Counted.times
    expected = {
        "a.py": False, "check/x.txt": True, "numpy.py": True, "json.py": False, "lib/a.so": True, "lib/a/x": True,
        "lib/b/x.py": False, "lib/numpy.py": True, "lib/b/c.pyc": True, "pkg/d/x.py": False, "pkg/numpy.py": False,
        "deep/numpy.py": False, "deep/e/numpy.py": True, "deep/e/f": True, "libs/a.py": False, "pkg.py": True,
    }  # fmt: skip
    assert {path: hiding.hides(path) for path in expected} == expected
    assert _Counted.times == before <= 4


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"d/" * 64 + "x": ""}, "at most 64 parts"),
        ({f"{number}/" + "d/" * 60 + "x": "" for number in range(70)}, "more than the 4000 folders"),
    ],
)
def test_files_of_a_contract_lie_in_a_bounded_number_of_folders(files: dict[str, str], said: str) -> None:
    """Each folder is watched, and looked at for each run."""
    with pytest.raises(ValidationError, match=said):
        contract(files=files)
    assert contract(files={"d/" * 63 + "x": ""})


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


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (".env", "pytest unittest apart"),
        ("org.py", "pytest unittest apart"),
        ("setup.py", "pytest unittest apart"),
        ("package.json", "pytest unittest apart"),
        ("conftest.py", "unittest apart"),
        ("packaging/__init__.py", "unittest apart"),
        ("sitecustomize.py", "apart"),
        ("x.dist-info/entry_points.txt", "apart"),
        ("json.py", ""),
        ("numpy.py", ""),
    ],
)
def test_a_file_steers_what_reads_it(path: str, kept: str) -> None:
    """The runner of a suite is steered by few, and a suite that starts programs by all of them."""
    suites = {each: contract(command=None, files={"t.py": ""}, **{each: ["t.py"]}) for each in ("pytest", "unittest")}
    readers = {each: reader_of(suite, suite.files) for each, suite in suites.items()}
    suites["apart"], readers["apart"] = suites["pytest"], NOBODY
    found = [each for each in suites if kept_files(suites[each], {path: "x"}, {"numpy"}, reader=readers[each])]
    assert found == kept.split()
    for text in ("import subprocess", "os.system('make')", "asyncio.create_subprocess_exec", "pexpect.spawn(x)"):
        assert reader_of(suites["pytest"], {"t.py": text}) is ANY_TOOL
