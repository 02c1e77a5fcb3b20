"""Which commands may run warm, and which only a real start does right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harena.runtime.guest import warm, warm_end, warm_plan, warm_source


@pytest.fixture
def interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed `python3`, also called `python`, whose template has been prepared."""
    program = tmp_path / "usr" / "bin" / "python3.11"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    (program.parent / "python3").symlink_to("python3.11")
    (program.parent / "python").symlink_to("python3")
    found = warm.Baseline()
    found.executable = str(program.parent / "python3")
    found.executable_real = str(program.resolve())
    found.environment = {"PATH": str(program.parent), "LANG": "C.UTF-8"}
    monkeypatch.setattr(warm, "_baseline", found)
    monkeypatch.setattr(warm, "_warm_plan", warm_plan)
    monkeypatch.setattr(sys, "_base_executable", found.executable)
    return program.parent


@pytest.fixture
def environment(interpreter: Path) -> dict[str, str]:
    """What the template was started with."""
    return {"PATH": str(interpreter), "LANG": "C.UTF-8"}


@pytest.mark.parametrize(
    ("words", "kind", "target", "rest"),
    [
        (["x.py"], "file", "x.py", []),
        (["x.py", "-c", "a"], "file", "x.py", ["-c", "a"]),
        (["-c", "print(1)", "a"], "code", "print(1)", ["a"]),
        (["-m", "json.tool", "-h"], "module", "json.tool", ["-h"]),
        (["-u", "x.py"], "file", "x.py", []),
    ],
)
def test_forms_that_run_warm(
    words: list[str], kind: str, target: str, rest: list[str], environment: dict[str, str]
) -> None:
    """File, -c and -m, with the program's own arguments left alone."""
    plan = warm.plan(["python3", *words], environment, environment, "/")
    assert plan is not None
    assert (plan.kind, plan.target, plan.rest) == (kind, target, rest)
    assert plan.argv == ["python3", *words]
    assert plan.unbuffered == ("-u" in words)


@pytest.mark.parametrize(
    "words",
    [[], ["-"], [""], ["-c"], ["-m"], ["-O", "x.py"], ["-I", "x.py"], ["-i", "x.py"], ["-cprint(1)"], ["--", "x.py"],
     ["-W", "error", "x.py"], ["-X", "dev", "x.py"], ["-V"], ["-um", "json"], ["x.pyc"], ["-m", ""]],
)  # fmt: skip
def test_forms_left_to_a_real_start(words: list[str], environment: dict[str, str]) -> None:
    """Programs on standard input, every other flag, byte code."""
    assert warm.plan(["python3", *words], environment, environment, "/") is None


@pytest.mark.parametrize("name", ["python", "python3", "python3.11"])
def test_names_of_the_interpreter(name: str, interpreter: Path, environment: dict[str, str]) -> None:
    """Each name gives the sys.executable that a start under this name finds, by PATH and by path."""
    for program in (name, str(interpreter / name)):
        plan = warm.plan([program, "x.py"], environment, environment, "/")
        assert plan is not None
        assert plan.executable == str(interpreter / name)


@pytest.mark.parametrize("program", ["sh", "python2", "pythonw", "python3x", "ipython", "./python3", "bin/python3", ""])
def test_other_programs(program: str, environment: dict[str, str]) -> None:
    """Only this interpreter, found by PATH or named by its whole path."""
    assert warm.plan([program, "x.py"], environment, environment, "/") is None


def test_another_python_first_in_path(tmp_path: Path, environment: dict[str, str]) -> None:
    """A program's own `python3` in front of PATH is what it gets."""
    mine = tmp_path / "mine"
    mine.mkdir()
    wanted = {**environment, "PATH": f"{mine}:{environment['PATH']}"}
    assert warm.plan(["python3", "x.py"], wanted, environment, "/") is not None
    (mine / "python3").write_text("#!/bin/sh\n")
    assert warm.plan(["python3", "x.py"], wanted, environment, "/") is not None  # not executable: passed over
    (mine / "python3").chmod(0o755)
    assert warm.plan(["python3", "x.py"], wanted, environment, "/") is None


def test_a_link_inside_a_virtual_environment(tmp_path: Path, interpreter: Path, environment: dict[str, str]) -> None:
    """A link beside or below a pyvenv.cfg has other packages."""
    place = tmp_path / "venv" / "bin"
    place.mkdir(parents=True)
    (place / "python").symlink_to(interpreter / "python3")
    assert warm.plan([str(place / "python"), "x.py"], environment, environment, "/") is not None
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    assert warm.plan([str(place / "python"), "x.py"], environment, environment, "/") is None


@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "PYTHONHASHSEED", "LC_ALL", "LANG", "TZ", "HOME", "LD_PRELOAD", "MALLOC_ARENA_MAX"]
)
def test_variables_that_a_start_reads(name: str, environment: dict[str, str]) -> None:
    """Set, changed or missing: a real start."""
    assert warm.plan(["python3", "x.py"], {**environment, name: "other"}, environment, "/") is None
    assert warm.plan(["python3", "x.py"], environment, {**environment, name: "other"}, "/") is None


def test_variables_of_no_concern(environment: dict[str, str]) -> None:
    """A program's own variables do not matter, nor do those of libraries that are not warm."""
    assert warm.plan(["python3", "x.py"], {**environment, "MINE": "1", "OMP_NUM_THREADS": "4"}, environment, "/")


def test_variables_that_warm_modules_read(environment: dict[str, str]) -> None:
    """What an import looked at, and what numeric libraries look at unseen, must be as it was then."""
    found = warm._baseline
    assert found is not None
    found.shadowable = frozenset({"numpy"})
    found.observed = frozenset({"SOME_SWITCH"})
    for name in ("SOME_SWITCH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        assert warm.plan(["python3", "x.py"], {**environment, name: "1"}, environment, "/") is None
    assert warm.plan(["python3", "x.py"], {**environment, "OTHER": "1"}, environment, "/") is not None


def test_variables_that_the_start_added(environment: dict[str, str]) -> None:
    """What a start adds is added, unless the request has an opinion of its own."""
    found = warm._baseline
    assert found is not None
    found.environment["ADDED_BY_SITE"] = "yes"
    assert warm.plan(["python3", "x.py"], dict(environment), environment, "/") is not None
    assert found.added == {"ADDED_BY_SITE": "yes"}
    assert warm.plan(["python3", "x.py"], {**environment, "ADDED_BY_SITE": "no"}, environment, "/") is None


def test_packages_installed_since(tmp_path: Path, environment: dict[str, str]) -> None:
    """A changed or new directory of packages is for a real start to read."""
    found = warm._baseline
    assert found is not None
    packages, user = tmp_path / "packages", tmp_path / "user"
    packages.mkdir()
    found.stamps = tuple((str(place), warm_plan.stamp(str(place))) for place in (packages, user))
    assert warm.plan(["python3", "x.py"], environment, environment, "/") is not None
    user.mkdir()
    assert warm.plan(["python3", "x.py"], environment, environment, "/") is None


@pytest.mark.parametrize("name", ["numpy.py", "numpy", "numpy.cpython-311-x86_64-linux-gnu.so"])
def test_a_file_that_shadows_a_warm_module(name: str, tmp_path: Path, environment: dict[str, str]) -> None:
    """Beside the program, or in the working directory of -c and -m, it would be imported instead."""
    found = warm._baseline
    assert found is not None
    found.shadowable = frozenset({"numpy"})
    beside = tmp_path / "sub"
    beside.mkdir()
    forms = {"file": ["sub/x.py"], "code": ["-c", "1"], "module": ["-m", "x"]}
    for words in forms.values():
        assert warm.plan(["python3", *words], environment, environment, str(tmp_path)) is not None
    (beside / name).write_text("")
    assert warm.plan(["python3", *forms["file"]], environment, environment, str(tmp_path)) is None
    assert warm.plan(["python3", *forms["code"]], environment, environment, str(tmp_path)) is not None
    for words in (forms["code"], forms["module"]):
        assert warm.plan(["python3", *words], environment, environment, str(beside)) is None


def test_nothing_without_a_prepared_template(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that was not prepared runs nothing warm."""
    monkeypatch.setattr(warm, "_baseline", None)
    assert warm.plan(["python3", "x.py"], environment, environment, "/") is None


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        (b"print(1)\n", True),
        (b"", True),
        (b"a = 1\r\nb = 2\r\n", True),
        (b"a = 1\rb = 2\r\n", False),
        (b"a\0b", False),
        (b"# coding: latin-1\n", False),
        (b"#!/usr/bin/python3\n# -*- coding: cp1252 -*-\n", False),
        (b"# -*- coding: UTF-8 -*-\n", True),
        (b"1\n2\n# coding: latin-1\n", True),
        (b"print(1)\nPK\x05\x06" + b"\0" * 18, False),
    ],
)
def test_source_that_compile_reads_like_a_start(source: bytes, plain: bool) -> None:
    """Doubtful texts go to the interpreter's own reader."""
    assert warm_source.is_plain(source) is plain


@pytest.mark.parametrize(
    ("code", "status"),
    [(None, 0), (0, 0), (3, 3), (256, 0), (-1, 255), (2**40 + 7, 7), (2**70, 255), (-(2**70), 255), (True, 1)],
)
def test_exit_status(code: object, status: int) -> None:
    """As the C code turns it into a process's status."""
    assert warm_end._exit_status(SystemExit(code)) == status


def test_exit_with_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Anything but a number is printed, and the status is 1."""
    assert warm_end._exit_status(SystemExit("bye")) == 1
    assert capsys.readouterr().err == "bye\n"
